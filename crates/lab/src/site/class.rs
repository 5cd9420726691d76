//! What a file of a document root is: an asset, a download, or nothing that a visitor asks for. The table of media types is the one
//! that servers are configured with.

use crate::rig::server::types;
use weigh_model::site::Kind;

/// What a file that visitors ask for is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class {
    /// The kind.
    pub kind: Kind,
    /// The media type.
    pub format: &'static str,
}

/// The type of files that have none in the table.
const UNKNOWN: &str = "application/octet-stream";
/// Video and sound from this size on are saved, not played in a page.
const MEDIA: u64 = 1_000_000;

/// Extensions of files that PHP runs or reads.
const PHP: [&str; 6] = ["php", "phtml", "phar", "inc", "php5", "php7"];
/// Extensions of files that other files are made from, or that only people and tools on the server read.
const SOURCES: [&str; 44] = [
    "mo", "po", "pot", "twig", "tpl", "blade", "latte", "mustache", "less", "scss", "sass", "styl", "ts",
    "tsx", "jsx", "vue", "coffee", "map", "md", "markdown", "rst", "yml", "yaml", "neon", "ini", "conf",
    "cnf", "sql", "sh", "py", "rb", "pl", "lock", "dist", "example", "log", "bak", "swp", "orig", "old",
    "tmp", "pem", "key", "module",
];
/// Extensions of files that visitors save, beside those that the table has as archives and documents.
const SAVED: [&str; 27] = [
    "gz", "tgz", "bz2", "tbz2", "xz", "zst", "tar", "7z", "rar", "exe", "msi", "dmg", "deb", "rpm", "apk",
    "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "epub", "img", "jar",
];
/// Types of the table that visitors save.
const SAVED_TYPES: [&str; 4] = ["application/pdf", "application/zip", UNKNOWN, "text/csv"];

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

/// What a file is. `is_asked`: visitors are known to ask for it.
///
/// # Errors
/// What such files are, where nobody asks for them.
pub fn of(path: &str, bytes: u64, is_asked: bool) -> Result<Class, &'static str> {
    let extension = extension(path);
    let extension = extension.as_str();
    if PHP.contains(&extension) {
        return Err("PHP source files");
    }
    let known = types::TYPES.iter().find(|t| t.extensions.contains(&extension)).map(|t| t.name);
    if !is_asked {
        if path.split('/').any(|folder| folder == "node_modules") {
            return Err("files of node_modules");
        }
        if SOURCES.contains(&extension) {
            return Err("source files that no visitor asks for");
        }
        if known.is_none() && !SAVED.contains(&extension) {
            return Err("files of unknown types");
        }
    }
    let format = known.unwrap_or(UNKNOWN);
    let is_media = format.starts_with("video/") || format.starts_with("audio/");
    let is_saved = known.is_none() || SAVED_TYPES.contains(&format) || is_media && bytes >= MEDIA;
    Ok(Class { kind: if is_saved { Kind::Download } else { Kind::Asset }, format })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_what_visitors_do_with_them() {
        let class = |path| of(path, 5000, false).map(|class| (class.kind, class.format));
        assert_eq!(class("js/app.JS"), Ok((Kind::Asset, "text/javascript")));
        assert_eq!(class("fonts/a.woff2"), Ok((Kind::Asset, "font/woff2")));
        assert_eq!(class("files/manual.pdf"), Ok((Kind::Download, "application/pdf")));
        assert_eq!(class("files/a.tar.gz"), Ok((Kind::Download, UNKNOWN)));
        assert_eq!(class("index.php"), Err("PHP source files"));
        assert_eq!(class("languages/de.mo"), Err("source files that no visitor asks for"));
        assert_eq!(class("node_modules/x/dist/x.js"), Err("files of node_modules"));
        assert_eq!(class("LICENSE"), Err("files of unknown types"));
        assert_eq!(of("film.mp4", MEDIA, false).unwrap().kind, Kind::Download);
        assert_eq!(of("film.mp4", MEDIA - 1, false).unwrap().kind, Kind::Asset);
    }

    #[test]
    fn what_visitors_ask_for_counts_whatever_it_is_but_php_never() {
        let class = |path| of(path, 5000, true).map(|class| (class.kind, class.format));
        assert_eq!(class("js/app.js.map"), Ok((Kind::Asset, "application/json")));
        assert_eq!(class("node_modules/x/dist/x.js"), Ok((Kind::Asset, "text/javascript")));
        assert_eq!(class("theme.less"), Ok((Kind::Download, UNKNOWN)));
        assert_eq!(class("wp-login.php"), Err("PHP source files"));
    }

    #[test]
    fn pages_are_what_php_makes() {
        assert!(is_page("index.php") && is_page("") && is_page("blog/") && is_page("blog/post-1"));
        assert!(!is_page("app.js") && !is_page("blog/index.html"));
    }
}
