//! The members of a line of JSON. Servers write it by hand, so that a number may be `-` or nothing at all: it is read all the same.

use super::entry::Unreadable;
use super::fields::{Field, Form};

/// How deep objects may be.
const DEEPEST: usize = 8;
const DAMAGED: Unreadable = Unreadable("JSON of another kind, or damaged");

/// The name of the field that stands for an object with all headers of a request: what is not among them was not sent.
pub const HEADERS: &[u8] = b"headers";
/// Objects that tell of the answer in the words of the request.
const ANSWERED: [&[u8]; 2] = [b"resp_headers", b"response_headers"];

/// The members of an object and of those in it, each with its own name; of a list, the first.
///
/// # Errors
/// It is not JSON.
pub fn split<'l>(line: &'l [u8], fields: &mut Vec<Field<'l>>) -> Result<(), Unreadable> {
    fields.clear();
    let mut scan = Scan { text: line, at: 0, fields };
    scan.skip();
    scan.value(b"", 0, false)?;
    scan.skip();
    if scan.at == line.len() { Ok(()) } else { Err(DAMAGED) }
}

struct Scan<'l, 'f> {
    text: &'l [u8],
    at: usize,
    fields: &'f mut Vec<Field<'l>>,
}

impl<'l> Scan<'l, '_> {
    fn skip(&mut self) {
        self.at += self.text[self.at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Goes past a byte if it is next.
    fn take(&mut self, byte: u8) -> bool {
        self.skip();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn string(&mut self) -> Result<&'l [u8], Unreadable> {
        let begin = self.at + 1;
        self.at = begin;
        loop {
            let found = memchr::memchr2(b'"', b'\\', self.text.get(self.at..).unwrap_or_default());
            self.at += found.ok_or(DAMAGED)?;
            if self.text[self.at] == b'"' {
                self.at += 1;
                return Ok(&self.text[begin..self.at - 1]);
            }
            self.at += 2;
        }
    }

    fn value(&mut self, name: &'l [u8], depth: usize, is_left_out: bool) -> Result<(), Unreadable> {
        let (value, form) = match self.peek() {
            Some(b'{' | b'[') if depth == DEEPEST => return Err(DAMAGED),
            Some(b'{') => {
                let headers = (name == HEADERS).then_some(Field { name, value: b"", form: Form::Bare });
                self.fields.extend(headers.filter(|_| !is_left_out));
                return self.object(depth + 1, is_left_out || ANSWERED.contains(&name));
            }
            Some(b'[') => return self.list(name, depth + 1, is_left_out),
            Some(b'"') => (self.string()?, Form::Quoted),
            _ => {
                let rest = &self.text[self.at..];
                let end = rest.iter().position(|b| matches!(b, b',' | b'}' | b']' | b'"')).ok_or(DAMAGED)?;
                self.at += end;
                (rest[..end].trim_ascii(), Form::Bare)
            }
        };
        if !is_left_out && !name.is_empty() {
            self.fields.push(Field { name, value, form });
        }
        Ok(())
    }

    fn object(&mut self, depth: usize, is_left_out: bool) -> Result<(), Unreadable> {
        self.at += 1;
        while !self.take(b'}') {
            self.skip();
            let name = if self.peek() == Some(b'"') { self.string()? } else { return Err(DAMAGED) };
            if !self.take(b':') {
                return Err(DAMAGED);
            }
            self.skip();
            self.value(name, depth, is_left_out)?;
            self.skip();
            if !self.take(b',') && self.peek() != Some(b'}') {
                return Err(DAMAGED);
            }
        }
        Ok(())
    }

    fn list(&mut self, name: &'l [u8], depth: usize, is_left_out: bool) -> Result<(), Unreadable> {
        self.at += 1;
        let mut is_first = true;
        while !self.take(b']') {
            self.skip();
            self.value(name, depth, is_left_out || !is_first)?;
            is_first = false;
            self.skip();
            if !self.take(b',') && self.peek() != Some(b']') {
                return Err(DAMAGED);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_text(line: &str) -> Result<Vec<(String, String)>, Unreadable> {
        let mut fields = Vec::new();
        split(line.as_bytes(), &mut fields)?;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Ok(fields.iter().map(|field| (text(field.name), text(field.value))).collect())
    }

    #[test]
    fn members_are_read_as_servers_write_them() {
        let found = split_text(
            r#" {"a":"x\"y","b":-,"c":, "d":{"headers":{"E":["1","2"]}},"resp_headers":{"E":["3"]},"f":[],"g":0.5,} "#,
        );
        let wanted = [("a", r#"x\"y"#), ("b", "-"), ("c", ""), ("headers", ""), ("E", "1"), ("g", "0.5")]
            .map(|(a, b)| (a.into(), b.into()));
        assert_eq!(found.unwrap(), wanted);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        let deep = "{\"a\":".repeat(9) + "1" + &"}".repeat(9);
        for line in ["", "{", "{\"a\"}", "{\"a\":1", "{\"a\":\"", "{\"a\":1}x", "{a:1}", "{\"a\":[1}", &deep]
        {
            assert!(split_text(line).is_err(), "{line}");
        }
    }
}
