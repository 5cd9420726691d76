// One colour per family of formats, the same as in the pictures (`crates/answer/src/chart/palette.rs`); the style sheet has their values.

const FAMILIES: [string, string[]][] = [
  ["deflate", ["gz", "zlib", "deflate", "isal", "isa-l", "zopfli", "symfony"]],
  ["zstd", ["zstd"]],
  ["br", ["br"]],
  ["fast", ["lz4", "snappy", "lzw", "lzf"]],
  ["dense", ["xz", "lzma", "bz"]],
  ["plain", ["identity", "none"]],
];

/** The colour of a codec by its name. */
export function colour(codec: string): string {
  const family = FAMILIES.find(([, parts]) => parts.some((part) => codec.includes(part)));
  return `var(--family-${family?.[0] ?? "other"})`;
}
