//! The fields of a line of text: bare, in quotes or in brackets, with the name before them where they have one.

use std::borrow::Cow;

use super::entry::Unreadable;
use super::moment;

/// The most fields of a line; what follows is not looked at.
pub const MOST: usize = 128;

/// How a field is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    Bracketed,
    Quoted,
    Bare,
}

/// A value, with the name that stands before it; empty where there is none.
#[derive(Clone, Copy, Debug)]
pub struct Field<'l> {
    /// As in `name=value`; of JSON the member's.
    pub name: &'l [u8],
    /// As it is logged, with its escapes.
    pub value: &'l [u8],
    pub form: Form,
}

impl Field<'_> {
    /// Whether it says that there is nothing.
    pub fn is_none(&self) -> bool {
        matches!(self.value, b"" | b"-" | b"null")
    }
}

/// What separates the fields of a file's lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delimiter {
    /// Spaces, as far as they are not in quotes or brackets.
    #[default]
    Space,
    /// This byte.
    Byte(u8),
}

impl Delimiter {
    /// The one of a file, by its first lines.
    pub fn learn<'l>(lines: impl Iterator<Item = &'l [u8]> + Clone) -> Delimiter {
        let all = lines.clone().count();
        // Lists and addresses have such bytes too: what separates fields leaves the time whole.
        let is_usual = |byte: u8| {
            let has_time = |line: &[u8]| {
                let mut fields = Vec::new();
                let split = Delimiter::Byte(byte).split(line, &mut fields);
                split.is_ok() && fields.iter().any(|field| moment::parse(field.value).is_ok())
            };
            let has = |line: &&[u8]| unquoted(line, byte).count() >= 4 && has_time(line);
            lines.clone().filter(has).count() * 2 > all
        };
        b"\t|;,".iter().copied().find(|byte| is_usual(*byte)).map_or(Delimiter::Space, Delimiter::Byte)
    }

    /// The fields of a line.
    ///
    /// # Errors
    /// A quote has no end.
    pub fn split<'l>(self, line: &'l [u8], fields: &mut Vec<Field<'l>>) -> Result<(), Unreadable> {
        fields.clear();
        match self {
            Delimiter::Space => spaced(line, fields),
            Delimiter::Byte(byte) => {
                let mut from = 0;
                for end in unquoted(line, byte).chain([line.len()]).take(MOST) {
                    fields.push(whole(line[from..end].trim_ascii()));
                    from = end + 1;
                }
                Ok(())
            }
        }
    }
}

/// Where a byte stands outside of quotes.
fn unquoted(line: &[u8], byte: u8) -> impl Iterator<Item = usize> {
    let mut is_inside = false;
    let mut last = 0;
    line.iter().enumerate().filter_map(move |(at, b)| {
        is_inside ^= *b == b'"' && last != b'\\';
        last = *b;
        (*b == byte && !is_inside).then_some(at)
    })
}

/// A field that a delimiter ends. `label:value` is that of LTSV.
fn whole(text: &[u8]) -> Field<'_> {
    let (name, value) = named(text, b'=').or_else(|| named(text, b':')).unwrap_or((b"", text));
    let (form, value) = match value {
        [b'"', inside @ .., b'"'] => (Form::Quoted, inside),
        [b'[', inside @ .., b']'] => (Form::Bracketed, inside),
        _ => (Form::Bare, value),
    };
    Field { name, value, form }
}

fn named(text: &[u8], mark: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(mark, &text[..text.len().min(48)])?;
    let is_url = text[at + 1..].starts_with(b"//");
    (is_name(&text[..at]) && !is_url).then(|| (&text[..at], &text[at + 1..]))
}

fn is_name(text: &[u8]) -> bool {
    text.first().is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'@'))
        && text.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'@'))
}

fn spaced<'l>(line: &'l [u8], fields: &mut Vec<Field<'l>>) -> Result<(), Unreadable> {
    let mut at = 0;
    while fields.len() < MOST {
        at += line[at..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let rest = &line[at..];
        match rest.first() {
            None => break,
            Some(b'"') => at += 1 + quoted(&rest[1..], b"", fields)?,
            Some(b'[') if memchr::memchr(b']', rest).is_some() => {
                let end = memchr::memchr(b']', rest).unwrap_or(rest.len());
                fields.push(Field { name: b"", value: &rest[1..end], form: Form::Bracketed });
                at += end + 1;
            }
            Some(_) => {
                let end = memchr::memchr2(b' ', b'"', rest).unwrap_or(rest.len());
                let (text, is_quote) = (&rest[..end], rest.get(end) == Some(&b'"'));
                at += end;
                match text.split_last() {
                    Some((b'=' | b':', name)) if is_quote && is_name(name) => {
                        at += 1 + quoted(&rest[end + 1..], name, fields)?;
                    }
                    _ => bare(line, at - end, at, fields),
                }
            }
        }
    }
    Ok(())
}

/// Adds what stands up to the closing quote; gives how long it is with that. A quote after a backslash is part of the text.
fn quoted<'l>(text: &'l [u8], name: &'l [u8], fields: &mut Vec<Field<'l>>) -> Result<usize, Unreadable> {
    let mut from = 0;
    loop {
        let found = memchr::memchr2(b'"', b'\\', text.get(from..).unwrap_or_default());
        let end = from + found.ok_or(Unreadable("a quote without an end"))?;
        if text[end] == b'"' {
            fields.push(Field { name, value: &text[..end], form: Form::Quoted });
            return Ok(end + 1);
        }
        from = end + 2;
    }
}

/// Adds a bare field. Lists such as `0.1, 0.2` and dates with a space are one; `request time=0.1` has a name of more than one word.
fn bare<'l>(line: &'l [u8], begin: usize, end: usize, fields: &mut Vec<Field<'l>>) {
    let text = &line[begin..end];
    let start = |part: &[u8]| part.as_ptr() as usize - line.as_ptr() as usize;
    if let Some(last) = fields.last_mut().filter(|last| last.form == Form::Bare) {
        let is_list = last.value.ends_with(b",") || last.value.ends_with(b" :") || text == b":";
        let is_date = match last.value {
            [_, _, b'/', _, _, _, b'/', ..] => matches!(text, [b'+' | b'-', _, _, _, _]),
            [_, _, _, _, b'-', _, _, b'-', _, _] => matches!(text, [_, _, b':', _, _, b':', ..]),
            _ => false,
        };
        if is_list || is_date {
            last.value = &line[start(last.value)..end];
            return;
        }
    }
    let (mut name, value) = named(text, b'=').unwrap_or((b"", text));
    if name == b"time" {
        let is_word = |field: &&Field<'_>| {
            field.form == Form::Bare
                && field.name.is_empty()
                && field.value.iter().all(u8::is_ascii_lowercase)
        };
        if let Some(first) = fields.iter().rev().take(2).take_while(is_word).last() {
            name = &line[start(first.value)..start(name) + name.len()];
        }
    }
    fields.push(Field { name, value, form: Form::Bare });
}

/// Resolves what servers escape: `\xhh`, `\uhhhh`, `\"`, `\\`, `\n` and the like.
pub fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let length = match rest {
            [b'x', ..] if hex(rest, 2).is_some() => {
                out.extend(hex(rest, 2).map(|byte| byte as u8));
                3
            }
            [b'u', ..] if hex(rest, 4).is_some() => {
                let high = hex(rest, 4).unwrap_or_default();
                let low =
                    rest.get(5..).filter(|next| next.starts_with(b"\\u")).and_then(|next| hex(&next[1..], 4));
                let pair = low.and_then(|low| char::decode_utf16([high as u16, low as u16]).next()?.ok());
                let pair = pair.filter(|c| *c as u32 > 0xffff);
                let c = pair.or(char::from_u32(high)).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                if pair.is_some() { 11 } else { 5 }
            }
            [short, ..] => {
                out.push(match short {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    other => *other,
                });
                1
            }
            [] => {
                out.push(b'\\');
                0
            }
        };
        rest = &rest[length..];
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// The number that this many digits after the first byte are.
fn hex(text: &[u8], digits: usize) -> Option<u32> {
    let digits = text.get(1..=digits)?;
    digits.iter().try_fold(0, |sum, b| Some(sum << 4 | char::from(*b).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(delimiter: Delimiter, line: &str) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        delimiter.split(line.as_bytes(), &mut fields).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        fields.iter().map(|field| (text(field.name), text(field.value))).collect()
    }

    #[test]
    fn escapes_of_servers_are_resolved() {
        assert_eq!(*unescaped(br#"/a\x22b\"c\\d\ne\xzzf\"#), *b"/a\"b\"c\\d\nexzzf\\");
        assert_eq!(*unescaped(br"\u002fa\u00e9\ud83d\ude00\ud83dx\u12"), *"/aé😀\u{fffd}xu12".as_bytes());
    }

    #[test]
    fn fields_are_told_by_quotes_brackets_and_names() {
        let found = split(
            Delimiter::Space,
            r#"::1 [1 2] "a \"b\"""c"rt=0.1 uct="0.000, 0.1" 10.0.0.1:80, 10.0.0.2:80 0.1 : 0.2 upstream response time=3 []"#,
        );
        let values: Vec<&str> = found.iter().map(|(_, value)| value.as_str()).collect();
        let wanted = [
            "::1",
            "1 2",
            r#"a \"b\""#,
            "c",
            "0.1",
            "0.000, 0.1",
            "10.0.0.1:80, 10.0.0.2:80",
            "0.1 : 0.2",
            "upstream",
            "response",
            "3",
            "",
        ];
        assert_eq!(values, wanted);
        assert_eq!((&*found[4].0, &*found[5].0, &*found[10].0), ("rt", "uct", "upstream response time"));
        assert!(Delimiter::Space.split(b"a \"b", &mut Vec::new()).is_err());
    }

    #[test]
    fn other_delimiters_are_learned() {
        let ltsv = "time:02/Jan/2026:03:04:05 +0000\thost:::1\treq:GET / HTTP/1.1\tstatus:200\tsize:5";
        assert_eq!(Delimiter::learn([ltsv.as_bytes()].into_iter()), Delimiter::Byte(b'\t'));
        assert_eq!(split(Delimiter::Byte(b'\t'), ltsv)[2], ("req".into(), "GET / HTTP/1.1".into()));
        let piped = "::1 | [02/Jan/2026:03:04:05 +0000] | \"GET /a|b HTTP/1.1\" | 200 | 5";
        assert_eq!(Delimiter::learn([piped.as_bytes()].into_iter()), Delimiter::Byte(b'|'));
        assert_eq!(split(Delimiter::Byte(b'|'), piped)[2].1, "GET /a|b HTTP/1.1");
        assert_eq!(Delimiter::learn([&b"a b c d e f"[..]].into_iter()), Delimiter::Space);
    }
}
