//! What containers and system logs put around a server's line: Docker's JSON, the prefixes of CRI, syslog, journald and Compose.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::fields::{Field, unescaped};
use super::json;

/// Members that hold a line as it was written: of Docker and Fluent Bit, Filebeat and Logstash, journald, Google Cloud.
const HOLDERS: [&[u8]; 4] = [b"log", b"message", b"MESSAGE", b"textPayload"];

/// Prefixes: of syslog (RFC 3164 and 5424) and `journalctl -o short…`, of CRI, of Compose, and of `docker logs -t`.
static PREFIX: LazyLock<Regex> = LazyLock::new(|| {
    let time = r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*|\d{10}\.\d+|[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+|\[ *\d+\.\d+\])";
    let all = format!(
        r"^(?:(?:<\d{{1,3}}>)?{time} \S+ [^\s:\[\]]{{1,64}}(?:\[\d+\])?: +|<\d{{1,3}}>1 \S+ \S+ \S+ \S+ \S+ (?:-|(?:\[[^\]]*\])+) (?:\xEF\xBB\xBF)?|\d{{4}}-\d\d-\d\dT\S+ (?:stdout|stderr) [FP] |[\w.-]+ +\| |\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{9}}Z )"
    );
    regex::bytes::RegexBuilder::new(&all).unicode(false).build().expect("a test reads it")
});

/// Whether the lines of a file have something around them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wrapper {
    has_prefix: bool,
}

impl Wrapper {
    /// Looks at the first lines of a file.
    pub fn learn<'l>(lines: impl Iterator<Item = &'l [u8]>) -> Wrapper {
        let (mut all, mut prefixed) = (0, 0);
        for line in lines {
            all += 1;
            prefixed += usize::from(PREFIX.is_match(line));
        }
        Wrapper { has_prefix: prefixed * 2 > all }
    }

    pub fn unwrap<'l>(self, line: &'l [u8]) -> Cow<'l, [u8]> {
        let prefix = if self.has_prefix { PREFIX.find(line) } else { None };
        let line = prefix.map_or(line, |prefix| &line[prefix.end()..]).trim_ascii_start();
        match held(line) {
            // What is held may be held again.
            Some(Cow::Borrowed(inner)) => held(inner).unwrap_or(Cow::Borrowed(inner)),
            Some(Cow::Owned(inner)) => {
                held(&inner).map(|deep| Cow::Owned(deep.into_owned())).unwrap_or(Cow::Owned(inner))
            }
            None => Cow::Borrowed(line),
        }
    }
}

/// The line that an object holds, if it is not a line of a server itself.
fn held(line: &[u8]) -> Option<Cow<'_, [u8]>> {
    if line.first() != Some(&b'{') || !HOLDERS.iter().any(|name| memchr::memmem::find(line, name).is_some()) {
        return None;
    }
    let mut fields: Vec<Field<'_>> = Vec::new();
    json::split(line, &mut fields).ok()?;
    let held = fields.iter().find(|field| HOLDERS.contains(&field.name))?;
    let is_line = memchr::memchr3(b' ', b'\t', b'{', held.value).is_some();
    let is_other = fields.iter().any(|field| matches!(field.name, b"status" | b"request"));
    (is_line && !is_other).then(|| match unescaped(held.value) {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_ascii()),
        owned => Cow::Owned(owned.trim_ascii().to_vec()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_out_of_what_is_around_them() {
        let line = r#"192.0.2.1 - - [02/Jan/2026:03:04:05 +0000] "GET /a HTTP/1.1" 200 5 "-" "A/1""#;
        let escaped = line.replace('"', "\\\"");
        for wrapped in [
            line.to_owned(),
            format!("{{\"log\":\"{escaped}\\n\",\"stream\":\"stdout\",\"time\":\"2026-01-02T03:04:05.1Z\"}}"),
            format!("{{\"MESSAGE\":\"{escaped}\",\"_HOSTNAME\":\"web\",\"PRIORITY\":\"6\"}}"),
            format!("2026-01-02T03:04:05.123456789Z stdout F {line}"),
            format!("2026-01-02T03:04:05.123456789Z {line}"),
            format!("Jan  2 03:04:05 web nginx: {line}"),
            format!("<190>Jan  2 03:04:05 web nginx[12]: {line}"),
            format!("<190>1 2026-01-02T03:04:05Z web.example nginx 12 - - {line}"),
            format!("<190>1 2026-01-02T03:04:05Z web nginx 12 x [a b=\"c\"][d] {line}"),
            format!("2026-01-02T03:04:05+0000 web nginx[12]: {line}"),
            format!("Fri 2026-01-02 03:04:05 UTC web nginx[12]: {line}"),
            format!("1767323045.123456 web nginx[12]: {line}"),
            format!("[   12.345678] web nginx[12]: {line}"),
            format!("web-1  | {line}"),
        ] {
            let wrapper = Wrapper::learn([wrapped.as_bytes()].into_iter());
            assert_eq!(String::from_utf8_lossy(&wrapper.unwrap(wrapped.as_bytes())), line, "{wrapped}");
        }
    }

    #[test]
    fn what_a_server_wrote_itself_stays() {
        let json = r#"{"ts":1,"message":"a b","request":"GET / HTTP/1.1","status":200}"#;
        for line in [json, "{\"log\":\"x\"}", "a b c", "{\"log\":"] {
            assert_eq!(&*Wrapper::default().unwrap(line.as_bytes()), line.as_bytes());
        }
    }
}
