//! The media types that every configuration is given, so that all servers name and encode the same ones.

use serde::Serialize;

/// A media type with its file extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Type {
    /// The type.
    pub name: &'static str,
    /// Its extensions.
    pub extensions: &'static [&'static str],
    /// Whether it is text, which is worth encoding.
    #[serde(skip)]
    pub compressible: bool,
}

const fn text(name: &'static str, extensions: &'static [&'static str]) -> Type {
    Type { name, extensions, compressible: true }
}

const fn dense(name: &'static str, extensions: &'static [&'static str]) -> Type {
    Type { name, extensions, compressible: false }
}

/// What the web is made of.
pub const TYPES: [Type; 29] = [
    text("text/html", &["html", "htm"]),
    text("text/css", &["css"]),
    text("text/plain", &["txt"]),
    text("text/csv", &["csv"]),
    text("text/markdown", &["md"]),
    text("text/javascript", &["js", "mjs"]),
    text("application/json", &["json", "map"]),
    text("application/manifest+json", &["webmanifest"]),
    text("application/xml", &["xml"]),
    text("application/wasm", &["wasm"]),
    text("image/svg+xml", &["svg"]),
    text("font/ttf", &["ttf"]),
    text("font/otf", &["otf"]),
    text("application/vnd.ms-fontobject", &["eot"]),
    dense("font/woff", &["woff"]),
    dense("font/woff2", &["woff2"]),
    dense("image/png", &["png"]),
    dense("image/jpeg", &["jpg", "jpeg"]),
    dense("image/gif", &["gif"]),
    dense("image/webp", &["webp"]),
    dense("image/avif", &["avif"]),
    dense("image/x-icon", &["ico"]),
    dense("video/mp4", &["mp4"]),
    dense("video/webm", &["webm"]),
    dense("audio/mpeg", &["mp3"]),
    dense("audio/ogg", &["ogg"]),
    dense("application/pdf", &["pdf"]),
    dense("application/zip", &["zip"]),
    dense("application/octet-stream", &["bin", "iso"]),
];

/// The content codings of pre-encoded variants with the extension that each adds to a file's name.
pub const VARIANTS: [(&str, &str); 5] =
    [("gzip", "gz"), ("br", "br"), ("zstd", "zst"), ("deflate", "zz"), ("compress", "Z")];

/// Content codings, the one that makes text smallest first.
pub const PREFERRED: [&str; 5] = ["br", "zstd", "gzip", "deflate", "compress"];

/// What a content coding adds to the name of a precompressed file.
pub fn ending(coding: &str) -> &'static str {
    VARIANTS.iter().find(|(name, _)| *name == coding).map_or("", |(_, ending)| ending)
}

/// The extensions of files of these types.
pub fn extensions(types: &[String]) -> Vec<&'static str> {
    let named = TYPES.iter().filter(|t| types.iter().any(|name| name == t.name));
    named.flat_map(|t| t.extensions.iter().copied()).collect()
}

/// The types that a filter should encode.
pub fn compressible() -> Vec<&'static str> {
    TYPES.iter().filter(|t| t.compressible).map(|t| t.name).collect()
}

/// Whether content of a type is worth encoding.
pub fn is_compressible(name: &str) -> bool {
    TYPES.iter().any(|t| t.compressible && t.name == name)
}

/// The extensions that a server should send itself as downloads: of every type, for an export is text as often as not.
pub fn downloads() -> Vec<&'static str> {
    TYPES.iter().flat_map(|t| t.extensions.iter().copied()).collect()
}

/// The type of a file with this extension.
pub fn of_extension(extension: &str) -> &'static str {
    let found = TYPES.iter().find(|t| t.extensions.contains(&extension));
    found.map_or("application/octet-stream", |t| t.name)
}
