//! Media types: those that the configurations of the lab's own servers are given, so that all of them name and encode the same ones, and the
//! type of any other file by its extension. Whether a file is worth encoding is not told by its type: [`crate::saving`] measures it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Serialize;

/// A media type with its file extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Type {
    pub name: &'static str,
    pub extensions: &'static [&'static str],
    /// Whether the servers' filters encode it.
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
pub const TYPES: [Type; 37] = [
    text("text/html", &["html", "htm"]),
    text("text/css", &["css"]),
    text("text/plain", &["txt"]),
    text("text/csv", &["csv"]),
    text("text/markdown", &["md"]),
    text("text/javascript", &["js", "mjs"]),
    text("application/json", &["json", "map"]),
    text("application/manifest+json", &["webmanifest"]),
    text("application/xml", &["xml"]),
    text("application/rss+xml", &["rss"]),
    text("application/atom+xml", &["atom"]),
    text("application/ld+json", &["jsonld"]),
    text("application/geo+json", &["geojson"]),
    text("model/gltf+json", &["gltf"]),
    text("model/gltf-binary", &["glb"]),
    text("text/vtt", &["vtt"]),
    text("image/bmp", &["bmp"]),
    text("application/wasm", &["wasm"]),
    text("image/svg+xml", &["svg"]),
    text("image/x-icon", &["ico"]),
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

/// The extensions of files of these types, whatever servers call them.
pub fn extensions(types: &[String]) -> Vec<&'static str> {
    let named = TYPES.iter().filter(|t| types.iter().any(|name| is_same(name, t.name)));
    named.flat_map(|t| t.extensions.iter().copied()).collect()
}

/// The types that a filter should encode.
pub fn compressible() -> Vec<&'static str> {
    TYPES.iter().filter(|t| t.compressible).map(|t| t.name).collect()
}

/// Whether the lab's servers encode content of a type.
pub fn is_compressible(name: &str) -> bool {
    TYPES.iter().any(|t| t.compressible && is_same(t.name, name))
}

/// The extensions that a server should send itself as downloads: of every type, for an export is text as often as not.
pub fn downloads() -> Vec<&'static str> {
    TYPES.iter().flat_map(|t| t.extensions.iter().copied()).collect()
}

/// The type that the lab's servers send a file with this extension as.
pub fn of_extension(extension: &str) -> &'static str {
    let found = TYPES.iter().find(|t| t.extensions.contains(&extension));
    found.map_or("application/octet-stream", |t| t.name)
}

/// Names of the same type, as servers' lists have them: today's, and former ones.
const SAME: [&[&str]; 7] = [
    &["text/javascript", "application/javascript", "application/x-javascript", "text/x-javascript"],
    &["application/xml", "text/xml"],
    &["image/x-icon", "image/vnd.microsoft.icon"],
    &["font/ttf", "application/x-font-ttf", "application/font-sfnt", "font/sfnt"],
    &["font/otf", "application/x-font-otf", "application/x-font-opentype", "application/vnd.ms-opentype"],
    &["font/woff", "application/font-woff", "application/x-font-woff"],
    &["text/markdown", "text/x-markdown"],
];

/// Names that servers' lists have besides, which nothing is called by today.
pub const FORMER: [&str; 3] =
    ["application/xml+rss", "application/xhtml+xml", "application/x-web-app-manifest+json"];

/// These types by all their names, each once: which one a server sends is up to its own list.
pub fn with_names(types: &[String]) -> Vec<String> {
    let names = |name: &String| match SAME.iter().find(|names| names.contains(&name.as_str())) {
        Some(names) => std::iter::once(name.clone()).chain(names.iter().map(|n| (*n).to_owned())).collect(),
        None => vec![name.clone()],
    };
    let mut all: Vec<String> = Vec::new();
    for name in types.iter().flat_map(names) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// Whether two names are of the same type.
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || SAME.iter().any(|names| names.contains(&one) && names.contains(&other))
}

/// Media types by extension in lower case, from a list as `/etc/mime.types` is.
pub fn listed(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().split_whitespace());
    lines.flat_map(|mut words| {
        let of = words.next().unwrap_or_default();
        words.map(move |extension| (extension, of))
    })
}

/// How files of a site are called: as its server's own list has it, else as the lab's servers and then npm's mime-types do.
#[derive(Clone, Debug, Default)]
pub struct MediaTypes(pub BTreeMap<String, String>);

impl MediaTypes {
    /// The type of files with this extension, which is in lower case; none: no list has it.
    pub fn find(&self, extension: &str) -> Option<Cow<'static, str>> {
        static TABLE: LazyLock<HashMap<&str, &str>> =
            LazyLock::new(|| listed(include_str!("types/mime.types")).collect());
        let own = self.0.get(extension).map(|name| name.to_ascii_lowercase().into());
        let lab = || TYPES.iter().find(|t| t.extensions.contains(&extension)).map(|t| t.name.into());
        own.or_else(lab).or_else(|| TABLE.get(extension).map(|name| Cow::Borrowed(*name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_web_s_types_are_known_by_their_extensions() {
        let types = MediaTypes::default();
        for (extensions, name) in [
            (&["js", "mjs"][..], "text/javascript"),
            (&["map", "json"], "application/json"),
            (&["svg", "svgz"], "image/svg+xml"),
            (&["webmanifest"], "application/manifest+json"),
            (&["geojson"], "application/geo+json"),
            (&["gltf"], "model/gltf+json"),
            (&["glb"], "model/gltf-binary"),
            (&["wasm"], "application/wasm"),
            (&["webp"], "image/webp"),
            (&["avif"], "image/avif"),
            (&["jxl"], "image/jxl"),
            (&["woff2"], "font/woff2"),
            (&["ttc"], "font/collection"),
            (&["otf"], "font/otf"),
            (&["vtt"], "text/vtt"),
            (&["rss"], "application/rss+xml"),
            (&["jsonld"], "application/ld+json"),
            (&["ics"], "text/calendar"),
            (&["bmp"], "image/bmp"),
            (&["yaml", "yml"], "text/yaml"),
            (&["xhtml"], "application/xhtml+xml"),
            (&["docx"], "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ] {
            extensions.iter().for_each(|e| assert_eq!(types.find(e).as_deref(), Some(name), "{e}"));
        }
        assert_eq!(types.find("nonsense"), None);
    }

    #[test]
    fn a_servers_own_list_goes_first_and_former_names_are_the_same_types() {
        let text = "# a list\napplication/javascript\tjs mjs # old\n\ntext/html\n";
        assert_eq!(
            listed(text).collect::<Vec<_>>(),
            [("js", "application/javascript"), ("mjs", "application/javascript")]
        );
        let own = listed(text).map(|(extension, of)| (extension.to_owned(), of.to_owned())).collect();
        assert_eq!(MediaTypes(own).find("js").as_deref(), Some("application/javascript"));
        assert!(
            is_same("text/javascript", "application/javascript") && !is_same("text/css", "text/javascript")
        );
        assert_eq!(extensions(&["application/x-javascript".into()]), ["js", "mjs"]);
    }
}
