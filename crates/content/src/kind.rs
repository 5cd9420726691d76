//! Kinds of content: from the first bytes where they are telling, else from the extension.

use std::path::Path;

/// First bytes that tell a kind for certain.
const MAGIC: [(&[u8], &str); 12] = [
    (b"\xff\xd8\xff", "image"),
    (b"\x89PNG\r\n\x1a\n", "image"),
    (b"GIF8", "image"),
    (b"wOFF", "font"),
    (b"wOF2", "font"),
    (b"\0asm", "wasm"),
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "archive"),
    (b"\x1f\x8b", "archive"),
    (b"\x28\xb5\x2f\xfd", "archive"),
    (b"BZh", "archive"),
    (b"\xfd7zXZ\0", "archive"),
];

/// Extensions in lower case.
const EXTENSIONS: [(&str, &[&str]); 14] = [
    ("html", &["html", "htm", "xhtml"]),
    ("css", &["css"]),
    ("js", &["js", "mjs", "cjs"]),
    ("json", &["json", "geojson", "webmanifest", "ndjson"]),
    ("xml", &["xml", "rss", "atom"]),
    ("svg", &["svg"]),
    ("map", &["map"]),
    ("font", &["woff", "woff2", "ttf", "otf", "eot"]),
    ("image", &["jpg", "jpeg", "png", "gif", "webp", "avif", "ico"]),
    ("wasm", &["wasm"]),
    ("archive", &["zip", "gz", "tgz", "bz2", "xz", "zst", "br"]),
    ("php", &["php"]),
    ("text", &["txt", "md", "csv", "tsv", "log", "yml", "yaml", "toml", "sql"]),
    ("pdf", &["pdf"]),
];

/// The kind of a file with this name and these first bytes: one word, `binary` or `text` when nothing tells more.
pub fn detect_kind(path: &Path, head: &[u8]) -> &'static str {
    if let Some((_, kind)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return kind;
    }
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        return "image";
    }
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    if let Some((kind, _)) = EXTENSIONS.iter().find(|(_, list)| list.contains(&extension.as_str())) {
        return kind;
    }
    let start = head.trim_ascii_start();
    let begins = |tag: &str| start.get(..tag.len()).is_some_and(|s| s.eq_ignore_ascii_case(tag.as_bytes()));
    let tags =
        [("<!doctype html", "html"), ("<html", "html"), ("<svg", "svg"), ("<?xml", "xml"), ("<?php", "php")];
    if let Some((_, kind)) = tags.iter().find(|(tag, _)| begins(tag)) {
        return kind;
    }
    if weigh_load::verify::is_text(head) { "text" } else { "binary" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn magic_beats_the_extension_and_the_extension_beats_a_guess() {
        assert_eq!(detect_kind(Path::new("a.html"), b"\x89PNG\r\n\x1a\nxx"), "image");
        assert_eq!(detect_kind(Path::new("a.JS"), b"let a"), "js");
        assert_eq!(detect_kind(Path::new("a"), b"  <!DOCTYPE HTML><p>"), "html");
        assert_eq!(detect_kind(Path::new("a"), b"RIFF\0\0\0\0WEBPVP8 "), "image");
        assert_eq!(detect_kind(Path::new("a"), b"plain \xc3"), "text");
        assert_eq!(detect_kind(Path::new("a"), b"\xff\xfe plain"), "binary");
        assert_eq!(detect_kind(Path::new("a"), b"x\0y"), "binary");
        assert_eq!(detect_kind(Path::new("a"), b""), "text");
    }
}
