//! Lines of text: common and combined, with a virtual host before them or more fields after them.
//!
//! What stands before the time is not looked at. After it come the request, the status and the bytes, and then fields in any number: the first quoted one is
//! the referer, the second the user agent. A number with three decimals is the response time in seconds, as nginx writes `$request_time`.

use std::borrow::Cow;

use super::codings;
use super::entry::{self, Entry, Unreadable};
use super::moment::Moments;

/// How far the end of a time may be from its beginning.
const TIME: usize = 40;
/// The place of the user agent among quoted fields.
const AGENT: usize = 1;

/// What the first lines of a file tell about all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The place of the `Accept-Encoding` among quoted fields; it is behind the user agent.
    accept: Option<usize>,
}

impl Shape {
    /// Looks at the first bytes of a file. Only what clients send tells an `Accept-Encoding` from other fields.
    pub fn of(begin: &[u8]) -> Shape {
        let mut found = [0u32; 16];
        for line in begin.split(|b| *b == b'\n') {
            let Some((_, rest)) = time(line) else { continue };
            let Some((_, rest)) = quoted(rest) else { continue };
            let texts = Fields(rest).filter_map(|field| match field {
                Field::Quoted(text) => Some(text),
                Field::Bare(_) => None,
            });
            for (text, count) in texts.zip(&mut found).skip(AGENT + 1) {
                *count += u32::from(codings::is_list(text));
            }
        }
        let most = found.iter().copied().max().filter(|most| *most > 0);
        Shape { accept: most.and_then(|most| found.iter().position(|count| *count == most)) }
    }
}

/// Reads a line.
pub fn parse<'l>(line: &'l [u8], shape: Shape, moments: &mut Moments) -> Result<Entry<'l>, Unreadable> {
    let (time, rest) = begin(line, moments)?;
    let (request, rest) = quoted(rest).ok_or(Unreadable("a quote without an end"))?;
    let mut fields = Fields(rest);
    let mut bare = || match fields.next() {
        Some(Field::Bare(text)) => text,
        _ => b"",
    };
    let (status, bytes) = (entry::status(bare())?, entry::bytes(bare())?);
    let (mut agent, mut accept, mut micros, mut place) = (None, None, None, 0);
    for field in fields {
        match field {
            Field::Bare(text) => micros = micros.or_else(|| request_time(text)),
            Field::Quoted(text) => {
                if place == AGENT {
                    agent = Some(Cow::Borrowed(text));
                } else if Some(place) == shape.accept {
                    accept = Some(Cow::Borrowed(text));
                }
                place += 1;
            }
        }
    }
    let asked = entry::asked(request).map(|(method, target)| (method, unescaped(target)));
    Ok(Entry { time, asked, status, bytes, agent, accept, micros })
}

/// The time, and what follows the quote that opens the request.
fn begin<'l>(line: &'l [u8], moments: &mut Moments) -> Result<(i64, &'l [u8]), Unreadable> {
    let mut rest = line;
    let mut wrong = Unreadable("no access log line of a known format");
    // A user name may have brackets too, but no quotes.
    while let Some((text, after)) = time(rest) {
        match moments.parse(text) {
            Ok(time) => return Ok((time, after)),
            Err(why) => (wrong, rest) = (why, after),
        }
    }
    Err(wrong)
}

/// The next text in brackets that a quote follows, perhaps with one field between, and what follows that quote.
fn time(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'[', &line[from..]) {
        from += at + 1;
        let inside = &line[from..line.len().min(from + TIME)];
        let Some(end) = memchr::memchr(b']', inside) else { continue };
        let Some(after) = line[from + end + 1..].strip_prefix(b" ") else { continue };
        if let Some(request) = after.strip_prefix(b"\"") {
            return Some((&inside[..end], request));
        }
        let next = memchr::memchr2(b' ', b'"', after).and_then(|at| after[at..].strip_prefix(b" \""));
        if let Some(request) = next {
            return Some((&inside[..end], request));
        }
    }
    None
}

/// Text up to the closing quote, and what follows it. A quote after a backslash is part of the text.
fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', text.get(from..)?)?;
        if text[at] == b'"' {
            return Some((&text[..at], &text[at + 1..]));
        }
        from = at + 2;
    }
}

enum Field<'l> {
    Quoted(&'l [u8]),
    Bare(&'l [u8]),
}

/// Fields with spaces between. `name="text"` is a quoted one.
struct Fields<'l>(&'l [u8]);

impl<'l> Iterator for Fields<'l> {
    type Item = Field<'l>;

    fn next(&mut self) -> Option<Field<'l>> {
        let rest = self.0.trim_ascii_start();
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr2(b' ', b'"', rest).unwrap_or(rest.len());
        if rest.get(end) != Some(&b'"') {
            self.0 = &rest[end..];
            return Some(Field::Bare(&rest[..end]));
        }
        // One that does not end is all that is left.
        let (text, rest) = quoted(&rest[end + 1..]).unwrap_or((&rest[end + 1..], b""));
        self.0 = rest;
        Some(Field::Quoted(text))
    }
}

/// `0.123` or `rt=0.123`.
fn request_time(text: &[u8]) -> Option<u64> {
    let number = memchr::memchr(b'=', text).map_or(text, |at| &text[at + 1..]);
    let point = number.len().checked_sub(4).filter(|at| *at > 0)?;
    let is_digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    if number[point] != b'.' || !is_digits(&number[..point]) || !is_digits(&number[point + 1..]) {
        return None;
    }
    entry::micros(std::str::from_utf8(number).ok()?.parse().ok()?)
}

/// Resolves what servers escape: `\xhh`, `\"`, `\\`, `\n` and the like.
fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let hex = |b: u8| (b as char).to_digit(16).map(|digit| digit as u8);
        let (byte, length) = match &rest[at + 1..] {
            [b'x', high, low, ..] if hex(*high).and(hex(*low)).is_some() => {
                (hex(*high).unwrap_or(0) << 4 | hex(*low).unwrap_or(0), 4)
            }
            [b'n', ..] => (b'\n', 2),
            [b't', ..] => (b'\t', 2),
            [b'r', ..] => (b'\r', 2),
            [other, ..] => (*other, 2),
            [] => (b'\\', 1),
        };
        out.push(byte);
        rest = &rest[at + length..];
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::log::entry::Method;

    fn parsed(line: &str) -> Result<Entry<'_>, Unreadable> {
        parse(line.as_bytes(), Shape::of(line.as_bytes()), &mut Moments::default())
    }

    #[test]
    fn escapes_of_servers_are_resolved() {
        assert_eq!(*unescaped(br#"/a\x22b\"c\\d\ne\xzzf\"#), *b"/a\"b\"c\\d\nexzzf\\");
        let line = r#"::1 - - [02/Jan/2026:03:04:05 +0000] "GET /a\"b\x20c HTTP/1.1" 200 5 "-" "A \"B\" C""#;
        let entry = parsed(line).unwrap();
        assert_eq!(entry.asked.unwrap(), (Method::Get, Cow::Borrowed(&b"/a\"b c"[..])));
        assert_eq!(entry.agent.unwrap(), Cow::Borrowed(&br#"A \"B\" C"#[..]));
    }

    #[test]
    fn a_user_name_with_a_time_in_it_is_not_the_time() {
        let line =
            r#"::1 - x [01/Jan/1999:00:00:00 +0000] y [02/Jan/2026:03:04:05 +0000] "GET /a HTTP/1.1" 200 5"#;
        assert_eq!(parsed(line).unwrap().time, 1_767_323_045);
    }

    #[test]
    fn response_times_have_three_decimals() {
        let micros = |text: &str| request_time(text.as_bytes());
        assert_eq!(micros("0.123"), Some(123_000));
        assert_eq!(micros("rt=12.001"), Some(12_001_000));
        for other in ["", ".123", "0.12", "123", "-0.123", "1.2.345", "+1.234", "1e9.123", "99999999999.000"]
        {
            assert_eq!(micros(other), None, "{other}");
        }
    }

    #[test]
    fn the_codings_are_where_most_lines_have_them() {
        let tail = |fields: &str| format!("- - - [t] \"GET / HTTP/1.1\" 200 5 \"-\" \"gzip\" {fields}\n");
        let begin = tail(r#""10.0.0.1" "-""#) + &tail(r#""gzip" "gzip, br""#) + &tail(r#""-" "br;q=1.0""#);
        assert_eq!(Shape::of(begin.as_bytes()).accept, Some(3));
        assert_eq!(Shape::of(tail(r#""-""#).as_bytes()).accept, None);
    }
}
