//! The path of a request, as a server looks for it: without the query string, decoded, without empty and dot segments.

use std::borrow::Cow;

use percent_encoding::percent_decode;

use super::entry::Unreadable;
use weigh_model::text::clean;

/// The longest path that is kept, in bytes; a longer one is cut.
pub const LONGEST: usize = 1 << 10;
/// Bytes of a path before it is decoded; what follows is not looked at.
const RAW: usize = 4 * LONGEST;

/// What scripts are called; a path without an extension is one as well.
const SCRIPTS: [&str; 12] =
    ["php", "phtml", "php5", "php7", "php8", "cgi", "pl", "py", "asp", "aspx", "jsp", "do"];

/// A path and the query string behind it.
pub type Split<'t> = (Cow<'t, str>, Option<&'t [u8]>);

/// Path and query string of a request's target; none where that has no path, as `*` and what proxies are asked.
pub fn split(target: &[u8]) -> Result<Option<Split<'_>>, Unreadable> {
    let Some(target) = local(target) else { return Ok(None) };
    let end = memchr::memchr2(b'?', b'#', target).unwrap_or(target.len());
    let query = target.get(end).filter(|mark| **mark == b'?').map(|_| &target[end + 1..]);
    Ok(Some((normal(&target[..end])?, query.filter(|query| !query.is_empty()))))
}

/// Whether an application answers, as far as the name tells.
pub fn is_script(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    // PHP may have its own path behind it: `/index.php/shop`.
    name.rsplit_once('.')
        .is_none_or(|(_, extension)| SCRIPTS.iter().any(|s| extension.eq_ignore_ascii_case(s)))
        || path.contains(".php/")
}

/// The host of a target that names one, as requests to proxies do.
pub fn host(target: &[u8]) -> Option<&[u8]> {
    let rest = without_scheme(target)?;
    let end = rest.iter().position(|b| matches!(b, b'/' | b'?' | b'#')).unwrap_or(rest.len());
    rest[..end].rsplit(|b| *b == b'@').next()
}

fn without_scheme(target: &[u8]) -> Option<&[u8]> {
    ["http://", "https://"].iter().find_map(|scheme| {
        let begin = target.get(..scheme.len())?;
        begin.eq_ignore_ascii_case(scheme.as_bytes()).then(|| &target[scheme.len()..])
    })
}

/// What follows the host, where there is one.
fn local(target: &[u8]) -> Option<&[u8]> {
    if target.first() == Some(&b'/') {
        return Some(target);
    }
    let rest = without_scheme(target)?;
    let end = rest.iter().position(|b| matches!(b, b'/' | b'?' | b'#'));
    Some(end.map_or(b"/", |at| if rest[at] == b'/' { &rest[at..] } else { b"/" }))
}

/// Most paths are as they should be, and are not copied.
fn normal(path: &[u8]) -> Result<Cow<'_, str>, Unreadable> {
    let mut last = 0;
    let is_plain = path.len() <= LONGEST
        && path.iter().all(|b| {
            let is_segment_odd = last == b'/' && matches!(b, b'/' | b'.');
            last = *b;
            matches!(b, 0x21..=0x7e) && *b != b'%' && !is_segment_odd
        });
    match std::str::from_utf8(path) {
        Ok(path) if is_plain => Ok(Cow::Borrowed(path)),
        _ => decoded(path).map(|text| Cow::Owned(segments(&text))),
    }
}

/// Decoded where that is text that can be shown, else as it was sent.
fn decoded(path: &[u8]) -> Result<String, Unreadable> {
    let is_shown = |text: &String| clean(text) == **text;
    let sent = cut(std::str::from_utf8(path).map_err(|_| Unreadable("a path that is not UTF-8"))?, RAW);
    let decoded = String::from_utf8(percent_decode(sent.as_bytes()).collect()).ok().filter(is_shown);
    decoded
        .or_else(|| Some(sent.to_owned()).filter(is_shown))
        .ok_or(Unreadable("control characters in the path"))
}

/// Without empty and dot segments (RFC 3986, 5.2.4), and no longer than a path may be.
fn segments(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(kept.pop()),
            _ => kept.push(segment),
        }
    }
    let is_folder = ["/", "/.", "/.."].iter().any(|end| path.ends_with(end)) && !kept.is_empty();
    let normal = format!("/{}{}", kept.join("/"), if is_folder { "/" } else { "" });
    cut(&normal, LONGEST).to_owned()
}

fn cut(text: &str, longest: usize) -> &str {
    let end = (0..=longest.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(target: &str) -> Option<String> {
        split(target.as_bytes()).unwrap().map(|(path, _)| path.into_owned())
    }

    #[test]
    fn paths_are_what_a_server_looks_for() {
        for (target, expected) in [
            ("/", "/"),
            ("/a/b.css", "/a/b.css"),
            ("/a?x=1#y", "/a"),
            ("/a#y?x=1", "/a"),
            ("//a///b//", "/a/b/"),
            ("/a/./b/../c", "/a/c"),
            ("/../../etc/passwd", "/etc/passwd"),
            ("/a/..", "/"),
            ("/.well-known/x", "/.well-known/x"),
            ("/gr%C3%B6%C3%9Fe%20x.txt", "/größe x.txt"),
            ("/größe", "/größe"),
            ("/%E4", "/%E4"),
            ("/a%00b%1b", "/a%00b%1b"),
            ("/100%", "/100%"),
            ("http://user:secret@example.org:80/a?b", "/a"),
            ("HTTPS://example.org", "/"),
            ("http://example.org?q", "/"),
        ] {
            assert_eq!(path(target).as_deref(), Some(expected), "{target}");
        }
        assert_eq!(host(b"http://user:x@Shop.example:80/a@b?c"), Some(&b"Shop.example:80"[..]));
        assert_eq!((host(b"/http://a/"), host(b"http://")), (None, Some(&b""[..])));
        for none in ["*", "example.org:443", "", "ftp://x/y", "?"] {
            assert_eq!(path(none), None, "{none}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_make_no_path() {
        assert!(split(b"/\xff").is_err() && split(b"/a\x1b[2J").is_err());
        assert_eq!(path(&format!("/{}", "é".repeat(5_000))).unwrap().len(), LONGEST - 1);
        assert_eq!(path(&format!("/{}", "%41".repeat(20_000))).unwrap().len(), LONGEST);
    }

    #[test]
    fn query_strings_are_apart() {
        let query = |target: &'static str| split(target.as_bytes()).unwrap().unwrap().1;
        assert_eq!(query("/a?b?c"), Some(&b"b?c"[..]));
        assert_eq!((query("/a?"), query("/a"), query("/a#b?c")), (None, None, None));
    }

    #[test]
    fn scripts_are_told_by_their_names() {
        for script in ["/", "/shop/shoes", "/index.php", "/index.php/a.b", "/a.PHP"] {
            assert!(is_script(script), "{script}");
        }
        for file in ["/a.css", "/b/c.min.js", "/a.html", "/v1.2/x.woff2"] {
            assert!(!is_script(file), "{file}");
        }
    }

    proptest! {
        #[test]
        fn a_path_is_short_shown_and_the_same_again(target in "/([a-z./%?é\u{1b}]|%[0-9A-F]{2}){0,40}") {
            if let Ok(Some((path, _))) = split(target.as_bytes()) {
                prop_assert!(path.starts_with('/') && path.len() <= LONGEST);
                prop_assert_eq!(clean(&path), path.to_string());
                prop_assert!(!path.contains("//"));
            }
        }
    }
}
