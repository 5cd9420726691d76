//! Codecs of cached values, and how clients of stores frame them. A codec is told only where the bytes decode whole: to the stated length
//! where there is one, with nothing left over, and without a mark of the codec only where what comes out is of a known form.

use weigh_codec::{Format, Params, codecs, independent};

use super::LONGEST;
use super::lz;

/// The most that DEFLATE, LZ4, LZF and FastLZ make of a byte.
const MOST_OF_A_BYTE: usize = 1040;
/// The longest value whose codec's level is looked for, in bytes.
const LONGEST_TRIED: usize = 128 << 10;
/// The bit of php-memcached's flags for compressed values, and those of its codecs.
const MEMCACHED: (u32, [(u32, Codec); 3]) =
    (1 << 4, [(1 << 5, Codec::Zlib), (1 << 6, Codec::FastLz), (1 << 7, Codec::Zstd)]);
/// The codecs that Magento's cache names before a value.
const NAMED: [(&[u8], Codec); 6] = [
    (b"gz", Codec::Zlib),
    (b"zc", Codec::Zlib),
    (b"zs", Codec::Zstd),
    (b"l4", Codec::Lz4),
    (b"lz", Codec::Lzf),
    (b"sn", Codec::Snappy),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Codec {
    /// DEFLATE as `gzcompress()` writes it.
    Zlib,
    /// DEFLATE as `gzencode()` writes it.
    Gzip,
    /// DEFLATE as `gzdeflate()` writes it: without a mark.
    Deflate,
    /// bzip2.
    Bzip2,
    Zstd,
    /// A frame of LZ4.
    Lz4Frame,
    /// A block of LZ4.
    Lz4,
    Lzf,
    FastLz,
    Snappy,
    Brotli,
    /// No codec: bytes as text.
    Base64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coding {
    pub codec: Codec,
    /// The client whose frame it has; none: any client may have written it.
    pub client: Option<&'static str>,
}

/// Bytes that may be those of a codec.
pub struct Candidate<'a> {
    /// What would have compressed them.
    pub coding: Coding,
    data: &'a [u8],
    /// The length that they state.
    length: Option<usize>,
    /// Whether decoding alone shows that it is the codec: by its mark with a checksum, or by the store's flags.
    pub is_marked: bool,
}

impl Codec {
    fn name(self) -> &'static str {
        match self {
            Codec::Zlib => "zlib",
            Codec::Gzip => "gzip",
            Codec::Deflate => "deflate",
            Codec::Bzip2 => "bzip2",
            Codec::Zstd => "zstd",
            Codec::Lz4Frame | Codec::Lz4 => "LZ4",
            Codec::Lzf => "LZF",
            Codec::FastLz => "FastLZ",
            Codec::Snappy => "Snappy",
            Codec::Brotli => "brotli",
            Codec::Base64 => "base64",
        }
    }

    fn format(self) -> Option<Format> {
        Some(match self {
            Codec::Zlib => Format::Zlib,
            Codec::Gzip => Format::Gzip,
            Codec::Deflate => Format::Deflate,
            Codec::Bzip2 => Format::Bzip2,
            Codec::Zstd => Format::Zstd,
            Codec::Lz4Frame => Format::Lz4Frame,
            Codec::Lz4 => Format::Lz4Block,
            Codec::Snappy => Format::Snappy,
            Codec::Brotli => Format::Brotli,
            Codec::Lzf | Codec::FastLz | Codec::Base64 => return None,
        })
    }
}

impl Coding {
    /// `zlib 6 by php-memcached`. `setting` is the codec with its level as studies name it, if that is known.
    pub fn about(self, setting: Option<&str>) -> String {
        let level = setting.and_then(|setting| setting.split_once(':')).map(|(_, level)| format!(" {level}"));
        let client = self.client.map(|client| format!(" by {client}"));
        [self.codec.name(), level.as_deref().unwrap_or(""), client.as_deref().unwrap_or("")].concat()
    }
}

impl<'a> Candidate<'a> {
    /// All that bytes may be. `flags` are those of Memcached, where they come from there.
    pub fn of(bytes: &'a [u8], flags: Option<u32>) -> Vec<Candidate<'a>> {
        let mut all = php_memcached(bytes, flags).unwrap_or_default();
        let named = bytes.strip_prefix(b":").unwrap_or(bytes);
        if let Some((name, data)) = named.split_at_checked(2)
            && let Some(data) = data.strip_prefix(b":")
            && let Some((_, codec)) = NAMED.iter().find(|(known, _)| *known == name)
        {
            let data = data.strip_prefix(b"\x1f\x8b").unwrap_or(data);
            let own = if *codec == Codec::Lz4 { stated(data, 0) } else { Some((data, None)) };
            let coding = Coding { codec: *codec, client: Some("Magento") };
            all.extend(own.map(|(data, length)| Candidate { coding, data, length, is_marked: true }));
        }
        if let Some((Some(codec), data)) = sealed(bytes) {
            let coding = Coding { codec, client: Some("Weighbridge's library") };
            all.push(Candidate { coding, data, length: None, is_marked: true });
        }
        let bare = |codec, is_marked| {
            let coding = Coding { codec, client: None };
            Candidate { coding, data: bytes, length: None, is_marked }
        };
        all.extend(marked(bytes).map(|codec| bare(codec, true)));
        // phpredis: a sum over the four bytes of the length, the length, a block.
        if let Some((data, length)) = stated(bytes, 1)
            && bytes[0] == crc8(&bytes[1..5])
        {
            let coding = Coding { codec: Codec::Lz4, client: Some("phpredis") };
            all.push(Candidate { coding, data, length, is_marked: true });
        }
        if let Some((data, length)) = stated(bytes, 0) {
            let coding = Coding { codec: Codec::Lz4, client: None };
            all.push(Candidate { coding, data, length, is_marked: false });
        }
        all.extend([bare(Codec::Lzf, false), bare(Codec::Deflate, false)]);
        all
    }

    /// What the bytes decode to, whole; none if they do not.
    pub fn decode(&self) -> Option<Vec<u8>> {
        let most = self.length.unwrap_or_else(|| match self.coding.codec {
            Codec::Zstd | Codec::Bzip2 | Codec::Brotli => LONGEST,
            _ => LONGEST.min(self.data.len().saturating_mul(MOST_OF_A_BYTE)),
        });
        let out = match self.coding.codec {
            Codec::FastLz => lz::fastlz(self.data, most)?,
            Codec::Lzf => lz::lzf(self.data, most)?,
            codec => independent::decode(codec.format()?, self.data, most, None).ok()?.0,
        };
        (!out.is_empty() && self.length.is_none_or(|length| out.len() == length)).then_some(out)
    }

    /// The codec with its level as studies name it: the one that makes as many bytes of the same content. None if there is none, or no
    /// study has it.
    pub fn setting(&self) -> Option<String> {
        let content = self.decode().filter(|content| content.len() <= LONGEST_TRIED)?;
        let levels = |first: i32, all: std::ops::RangeInclusive<i32>| std::iter::once(first).chain(all);
        let deflate = |container: &str, name: &str| {
            let tried = levels(6, 1..=9).flat_map(|level| [(level, "9"), (level, "8")]);
            tried.into_iter().find_map(|(level, memory)| {
                let options = [("container", container), ("memlevel", memory)];
                self.is_same("zlib", Some(level), &options, &content).then(|| format!("{name}:{level}"))
            })
        };
        match self.coding.codec {
            Codec::Zlib => deflate("zlib", "gzcompress"),
            Codec::Gzip => deflate("gzip", "gzencode"),
            Codec::Deflate => deflate("raw", "gzdeflate"),
            // The fourth byte is the level's digit.
            Codec::Bzip2 => Some(format!("bzip2:{}", char::from(*self.data.get(3)?))),
            Codec::Zstd => levels(3, 1..=19)
                .find(|level| self.is_same("zstd", Some(*level), &[], &content))
                .map(|level| format!("zstd:{level}")),
            Codec::Brotli => levels(5, 0..=11)
                .find(|level| self.is_same("brotli", Some(*level), &[], &content))
                .map(|level| format!("br:{level}")),
            Codec::Lz4 if self.is_same("lz4", None, &[], &content) => Some("lz4".into()),
            Codec::Lz4 => levels(9, 3..=12)
                .find(|level| self.is_same("lz4hc", Some(*level), &[], &content))
                .map(|level| format!("lz4hc:{level}")),
            _ => None,
        }
    }

    /// Whether a native codec makes as many bytes.
    fn is_same(&self, name: &str, level: Option<i32>, options: &[(&str, &str)], content: &[u8]) -> bool {
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let wish = Params { level, options, ..Params::default() };
        let coder = codecs::find(name).and_then(|codec| codec.coder(&wish).ok());
        let mut out = Vec::new();
        let encoded = coder.and_then(|mut coder| coder.encode(content, &mut out).ok());
        encoded.is_some() && out.len() == self.data.len()
    }
}

/// What the library of this project sealed: a mark for the codec, a checksum of what follows, that; without a codec where it does not pay.
pub fn sealed(bytes: &[u8]) -> Option<(Option<Codec>, &[u8])> {
    let (head, data) = bytes.split_first_chunk::<5>()?;
    let codec = match head[0] {
        0x06 => None,
        0x07 => Some(Codec::Gzip),
        0x0e => Some(Codec::Zlib),
        0x0f => Some(Codec::Brotli),
        0x16 => Some(Codec::Zstd),
        _ => return None,
    };
    let sum = crc32fast::hash(data) ^ (u32::from(head[0]) * 0x0101_0101);
    (head[1..] == sum.to_be_bytes()).then_some((codec, data))
}

/// The codec whose mark bytes begin with.
fn marked(bytes: &[u8]) -> Option<Codec> {
    match bytes {
        [0x1f, 0x8b, 8, ..] => Some(Codec::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Codec::Zstd),
        [0x04, 0x22, 0x4d, 0x18, ..] => Some(Codec::Lz4Frame),
        [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', b'&', b'S', b'Y', ..] => Some(Codec::Bzip2),
        // Any window, and a sum over both bytes, of which every level has its own; no preset dictionary.
        [method @ (0x08 | 0x18 | 0x28 | 0x38 | 0x48 | 0x58 | 0x68 | 0x78), flags, ..]
            if (u32::from(*method) << 8 | u32::from(*flags)) % 31 == 0 && flags & 0x20 == 0 =>
        {
            Some(Codec::Zlib)
        }
        _ => None,
    }
}

/// The bytes behind a length of four bytes, the lowest first, which stands at `at`.
fn stated(bytes: &[u8], at: usize) -> Option<(&[u8], Option<usize>)> {
    let (length, data) = bytes.get(at..)?.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    ((1..=LONGEST).contains(&length) && !data.is_empty()).then_some((data, Some(length)))
}

/// A value of php-memcached: its length before it, the codec in the item's flags. Without flags, each codec may be meant.
fn php_memcached(bytes: &[u8], flags: Option<u32>) -> Option<Vec<Candidate<'_>>> {
    let (data, length) = stated(bytes, 0)?;
    let is_flagged = is_flagged(flags);
    let meant = MEMCACHED.1.into_iter().filter(|(bit, codec)| match is_flagged {
        true => flags.is_some_and(|flags| flags & bit != 0),
        false => *codec == Codec::FastLz || marked(data) == Some(*codec),
    });
    let candidate = |(_, codec)| Candidate {
        coding: Coding { codec, client: Some("php-memcached") },
        data,
        length,
        is_marked: is_flagged || codec != Codec::FastLz,
    };
    Some(meant.map(candidate).collect())
}

/// Whether Memcached's flags say that a value is compressed.
pub fn is_flagged(flags: Option<u32>) -> bool {
    flags.is_some_and(|flags| flags & MEMCACHED.0 != 0)
}

/// The sum that phpredis writes before a length.
fn crc8(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0xff, |sum, byte| {
        (0..8).fold(sum ^ byte, |sum, _| if sum & 0x80 == 0 { sum << 1 } else { sum << 1 ^ 0x31 })
    })
}
