//! The path that a cell is asked for at.

use std::fmt::Write;

use weigh_model::cell::{Cell, Delivery, Subject};
use weigh_model::payload::Payload;
use weigh_model::way::{By, WayKind};

use super::files::file_name;

/// PHP's way of a page that only the server does something to.
const NONE: &str = "none";

/// The path of a page that costs PHP little.
pub const LIGHT: &str = "/light.php";

/// Path and query; `token` authorises downloads.
pub fn path(cell: &Cell, delivery: &Delivery, payload: &Payload, token: &str) -> String {
    let name = file_name(payload);
    match (delivery.by, cell.subject) {
        (By::Server, Subject::Page) => script(cell.subject, &name, NONE, &[]),
        (By::Server, _) if delivery.kind == WayKind::Transparent => format!("/offload/{}", encoded(&name)),
        (By::Server, _) => format!("/{}", encoded(&name)),
        (By::Php, subject) => {
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
            script(subject, &name, &cell.setting.codec, &fields)
        }
    }
}

fn script(subject: Subject, content: &str, way: &str, fields: &[(String, String)]) -> String {
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
mod tests {
    use super::*;
    use weigh_model::cell::Transport;
    use weigh_model::payload::Origin;
    use weigh_model::setting::Setting;

    fn asked(subject: Subject, by: By, kind: WayKind, setting: Setting, site: Option<Setting>) -> String {
        let origin = Origin::Synthetic { imitates: "text".into() };
        let payload = Payload {
            name: "a+b".into(),
            kind: "html".into(),
            blob: "blob".into(),
            sha256: "0".repeat(64),
            bytes: 9,
            items: vec![9],
            value: None,
            origin,
        };
        let delivery = Delivery {
            server: "nginx".into(),
            transport: Transport::Http,
            by,
            kind,
            negotiation: false,
            accept: String::new(),
            connections: 1,
            link: None,
            slow: None,
            site,
        };
        let cell = Cell {
            id: "cell".into(),
            subject,
            payload: "a+b".into(),
            runtime: "-".into(),
            serializer: None,
            setting,
            keep: false,
            expected_seconds: 0.1,
            delivery: Some(delivery.clone()),
            client: None,
        };
        path(&cell, &delivery, &payload, "secret")
    }

    #[test]
    fn scripts_are_told_what_is_phps() {
        let mut setting = Setting::at("zstd", 3);
        setting.options.insert("pieces".into(), "8".into());
        setting.options.insert("buffering".into(), "off".into());
        let mut site = Setting::bare("plain");
        site.options.insert("buffering".into(), "off".into());
        let path = asked(Subject::Page, By::Php, WayKind::OnTheFly, setting, Some(site));
        assert_eq!(path, "/page.php?content=a_b.html&way=zstd&level=3&pieces=8");
        let offload = Setting::bare("x-accel-redirect");
        let path = asked(Subject::Download, By::Php, WayKind::Offload, offload.clone(), Some(offload));
        assert_eq!(path, "/download.php?content=a_b.html&way=x-accel-redirect&token=secret");
    }

    #[test]
    fn a_server_is_asked_for_files_and_for_pages_that_php_leaves_alone() {
        let gzip = || Setting::at("gzip", 6);
        let page = asked(Subject::Page, By::Server, WayKind::OnTheFly, gzip(), Some(gzip()));
        assert_eq!(page, "/page.php?content=a_b.html&way=none");
        assert_eq!(asked(Subject::Asset, By::Server, WayKind::OnTheFly, gzip(), Some(gzip())), "/a_b.html");
        let path =
            asked(Subject::Download, By::Server, WayKind::Transparent, Setting::bare("transparent"), None);
        assert_eq!(path, "/offload/a_b.html");
        assert_eq!(encoded("a b/ü"), "a%20b%2F%C3%BC");
    }
}
