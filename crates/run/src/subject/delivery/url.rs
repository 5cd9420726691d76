//! The path that a cell is asked for at.

use std::fmt::Write;

use weigh_model::cell::{Cell, Delivery, Subject};
use weigh_model::way::{By, WayKind};

/// PHP's way of a page that only the server does something to.
const NONE: &str = "none";

/// The path of a page that costs PHP little.
pub const LIGHT: &str = "/light.php";

/// Path and query of a content's file of this name; `token` authorises downloads.
pub fn path(cell: &Cell, delivery: &Delivery, name: &str, token: &str) -> String {
    match delivery.by {
        By::Server if cell.subject == Subject::PAGE => script(&cell.subject, name, NONE, &[]),
        By::Server if delivery.kind == WayKind::Transparent => format!("/offload/{}", encoded(name)),
        By::Server => format!("/{}", encoded(name)),
        By::Php => {
            let level = cell.setting.level.map(|level| ("level".to_owned(), level.to_string()));
            let is_phps = |option: &&String| {
                delivery.site.as_ref().is_none_or(|site| !site.options.contains_key(option.as_str()))
            };
            let options = cell.setting.options.iter().filter(|(name, _)| is_phps(name));
            let options = options.map(|(name, value)| (name.clone(), value.clone()));
            let authority =
                (delivery.kind == WayKind::Offload).then(|| ("token".to_owned(), token.to_owned()));
            let ballast = delivery.slow.iter().filter(|slow| slow.script_memory > 0);
            let ballast = ballast.map(|slow| ("ballast".to_owned(), slow.script_memory.to_string()));
            let fields: Vec<_> = level.into_iter().chain(options).chain(authority).chain(ballast).collect();
            script(&cell.subject, name, &cell.setting.codec, &fields)
        }
    }
}

/// The URL path of a file, from its path below the document root.
pub fn file(path: &str) -> String {
    path.split('/').map(encoded).collect::<Vec<_>>().join("/")
}

/// The URL of a page that the user's configuration decides about; `path` is where its script is reached.
pub fn page(path: &str, content: &str) -> String {
    let script = script(&Subject::PAGE, content, NONE, &[]);
    script.split_once('?').map_or_else(|| path.to_owned(), |(_, query)| format!("{path}?{query}"))
}

fn script(subject: &Subject, content: &str, way: &str, fields: &[(String, String)]) -> String {
    let mut path = format!("/{}.php?content={}&way={}", subject.name(), encoded(content), encoded(way));
    for (name, value) in fields {
        // Writing into a string does not fail.
        let _ = write!(path, "&{}={}", encoded(name), encoded(value));
    }
    path
}

/// Percent-encoded but for what is unreserved (RFC 3986, section 2.3).
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests;
