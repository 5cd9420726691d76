//! What a file of a document root is: an asset, a download, or nothing that a visitor asks for.

use std::borrow::Cow;

use crate::types::MediaTypes;
use weigh_load::verify::is_text_type;
use weigh_model::site::Kind;

/// What a file that visitors ask for is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class {
    pub kind: Kind,
    pub format: Cow<'static, str>,
}

/// Video and sound from this size on are saved, not played in a page.
const MEDIA: u64 = 1_000_000;

/// Extensions of files that PHP runs or reads.
const PHP: [&str; 6] = ["php", "phtml", "phar", "inc", "php5", "php7"];
/// Extensions of files that other files are made from, or that only people and tools on the server read.
const SOURCES: [&str; 45] = [
    "mo", "po", "pot", "twig", "tpl", "blade", "latte", "mustache", "less", "scss", "sass", "styl", "ts",
    "tsx", "jsx", "vue", "coffee", "map", "md", "markdown", "rst", "yml", "yaml", "neon", "ini", "conf",
    "cnf", "sql", "sh", "py", "rb", "pl", "lock", "dist", "example", "log", "bak", "swp", "orig", "old",
    "tmp", "pem", "key", "module", "toml",
];
/// Types of text that visitors save.
const SAVED_TEXT: [&str; 4] = ["text/csv", "text/calendar", "text/vcard", "text/x-vcard"];

/// The extension of a path in lower case; empty if it has none.
pub fn extension(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default()
}

/// Whether PHP makes what a path names: a script, a folder, or a name without an extension.
pub fn is_page(path: &str) -> bool {
    let extension = extension(path);
    extension.is_empty() || PHP.contains(&extension.as_str())
}

/// What a file is. `is_asked`: visitors are known to ask for it. `is_text` looks into a file whose extension no list has.
///
/// # Errors
/// What such files are, where nobody asks for them.
pub fn classify_file(
    path: &str,
    bytes: u64,
    is_asked: bool,
    types: &MediaTypes,
    is_text: &dyn Fn() -> bool,
) -> Result<Class, &'static str> {
    let extension = extension(path);
    let extension = extension.as_str();
    if PHP.contains(&extension) {
        return Err("PHP source files");
    }
    let known = types.find(extension);
    if !is_asked {
        if path.split('/').any(|folder| folder == "node_modules") {
            return Err("files of node_modules");
        }
        // `text/x-c`, `text/x-java-source`
        let is_source = |name: &str| name.starts_with("text/x-") && !SAVED_TEXT.contains(&name);
        if SOURCES.contains(&extension) || known.as_deref().is_some_and(is_source) {
            return Err("source files that no visitor asks for");
        }
    }
    let format = match known {
        Some(known) => known,
        None => match (is_asked, is_text()) {
            (true, true) => "text/plain".into(),
            (true, false) => "application/octet-stream".into(),
            (false, true) => return Err("text files of unknown extensions that nobody is known to ask for"),
            (false, false) => {
                return Err("binary files of unknown extensions that nobody is known to ask for");
            }
        },
    };
    Ok(Class { kind: kind(&format, bytes), format })
}

/// What visitors do with files of a type.
fn kind(format: &str, bytes: u64) -> Kind {
    let is_part = match format.split('/').next().unwrap_or_default() {
        "image" | "font" | "model" => true,
        "text" => !SAVED_TEXT.contains(&format),
        "audio" | "video" => bytes < MEDIA,
        _ => is_text_type(format) || format == "application/wasm" || format.contains("font"),
    };
    if is_part { Kind::Asset } else { Kind::Download }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(path: &str, is_asked: bool) -> Result<(Kind, String), &'static str> {
        let found = classify_file(path, 5000, is_asked, &MediaTypes::default(), &|| !path.ends_with(".bin2"));
        found.map(|class| (class.kind, class.format.into_owned()))
    }

    #[test]
    fn files_are_told_by_what_visitors_do_with_them() {
        for (path, kind, format) in [
            ("js/app.JS", Kind::Asset, "text/javascript"),
            ("fonts/a.woff2", Kind::Asset, "font/woff2"),
            ("fonts/a.eot", Kind::Asset, "application/vnd.ms-fontobject"),
            ("maps/a.geojson", Kind::Asset, "application/geo+json"),
            ("models/a.glb", Kind::Asset, "model/gltf-binary"),
            ("feed.rss", Kind::Asset, "application/rss+xml"),
            ("files/manual.pdf", Kind::Download, "application/pdf"),
            ("files/a.tar.gz", Kind::Download, "application/gzip"),
            ("files/prices.csv", Kind::Download, "text/csv"),
            ("files/a.xls", Kind::Download, "application/vnd.ms-excel"),
        ] {
            assert_eq!(class(path, false), Ok((kind, format.to_owned())), "{path}");
        }
        assert_eq!(class("index.php", false), Err("PHP source files"));
        for path in ["languages/de.mo", "lib/a.c", "js/app.js.map"] {
            assert_eq!(class(path, false), Err("source files that no visitor asks for"), "{path}");
        }
        assert_eq!(class("node_modules/x/dist/x.js", false), Err("files of node_modules"));
        let film =
            |bytes| classify_file("film.mp4", bytes, false, &MediaTypes::default(), &|| false).unwrap().kind;
        assert_eq!((film(MEDIA), film(MEDIA - 1)), (Kind::Download, Kind::Asset));
    }

    #[test]
    fn what_visitors_ask_for_counts_whatever_it_is_but_php_never() {
        for (path, kind, format) in [
            ("js/app.js.map", Kind::Asset, "application/json"),
            ("node_modules/x/dist/x.js", Kind::Asset, "text/javascript"),
            ("map.topojson", Kind::Asset, "text/plain"),
            ("data.bin2", Kind::Download, "application/octet-stream"),
        ] {
            assert_eq!(class(path, true), Ok((kind, format.to_owned())), "{path}");
        }
        assert_eq!(class("wp-login.php", true), Err("PHP source files"));
        assert!(class("LICENSE", false).unwrap_err().starts_with("text files of unknown"));
        assert!(class("data.bin2", false).unwrap_err().starts_with("binary files of unknown"));
    }

    #[test]
    fn pages_are_what_php_makes() {
        assert!(is_page("index.php") && is_page("") && is_page("blog/") && is_page("blog/post-1"));
        assert!(!is_page("app.js") && !is_page("blog/index.html"));
    }
}
