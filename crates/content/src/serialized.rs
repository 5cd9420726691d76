//! Bytes that `serialize()` of PHP wrote: told from others by their grammar, without PHP.
//!
//! Only what a worker reads back counts as a value: scalars, arrays and `stdClass`. References and other classes do not.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Serialized {
    /// One value, from the first byte to the last.
    Value,
    /// A value with objects of this class, or with references.
    Foreign(String),
    Other,
}

pub fn detect_serialized(bytes: &[u8]) -> Serialized {
    match first(bytes) {
        Some((value, [])) => value,
        _ => Serialized::Other,
    }
}

/// The value that bytes begin with, and what follows it.
pub fn first(bytes: &[u8]) -> Option<(Serialized, &[u8])> {
    let mut reader = Reader { rest: bytes, foreign: None };
    reader.value()?;
    Some((reader.foreign.map_or(Serialized::Value, Serialized::Foreign), reader.rest))
}

struct Reader<'a> {
    rest: &'a [u8],
    foreign: Option<String>,
}

impl<'a> Reader<'a> {
    /// One value with all that is in it; values still to come stand in a list, so that depth costs no stack.
    fn value(&mut self) -> Option<()> {
        let mut open: Vec<usize> = Vec::new();
        loop {
            if let Some(parts) = self.begin()? {
                open.push(parts);
            }
            loop {
                match open.last_mut() {
                    None => return Some(()),
                    Some(0) => {
                        self.take(b"}")?;
                        open.pop();
                    }
                    Some(parts) => {
                        *parts -= 1;
                        break;
                    }
                }
            }
        }
    }

    /// A scalar, or the begin of an array or object: then how many keys and values follow.
    fn begin(&mut self) -> Option<Option<usize>> {
        let (kind, rest) = self.rest.split_first()?;
        self.rest = rest;
        match kind {
            b'N' => self.take(b";")?,
            b'b' | b'i' | b'd' => self.scalar()?,
            b's' => {
                self.string()?;
                self.take(b";")?;
            }
            b'a' => return self.parts().map(Some),
            b'O' => {
                let class = self.string()?;
                if class != b"stdClass" {
                    self.foreign.get_or_insert(format!("objects of {}", String::from_utf8_lossy(class)));
                }
                return self.parts().map(Some);
            }
            // An object that writes itself, as bytes of a stated length.
            b'C' => {
                let class = self.string()?;
                let length = self.number()?;
                self.take(b":{")?;
                self.rest = self.rest.get(length..)?;
                self.take(b"}")?;
                self.foreign.get_or_insert(format!("objects of {}", String::from_utf8_lossy(class)));
            }
            b'E' => {
                self.string()?;
                self.take(b";")?;
                self.foreign.get_or_insert("enum cases".into());
            }
            b'r' | b'R' => {
                self.scalar()?;
                self.foreign.get_or_insert("references".into());
            }
            _ => return None,
        }
        Some(None)
    }

    fn take(&mut self, text: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    /// `:12;`, `:0.5;`, `:INF;`
    fn scalar(&mut self) -> Option<()> {
        self.take(b":")?;
        let end = self.rest.iter().take(40).position(|byte| *byte == b';').filter(|end| *end > 0)?;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        self.rest[..end].iter().all(is_part).then_some(())?;
        self.rest = &self.rest[end + 1..];
        Some(())
    }

    /// `:5:"hello"`
    fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(b":\"")?;
        let text = self.rest.get(..length)?;
        self.rest = &self.rest[length..];
        self.rest = self.rest.strip_prefix(b"\"")?;
        Some(text)
    }

    /// `:2:{`
    fn parts(&mut self) -> Option<usize> {
        let count = self.number()?;
        self.take(b":{")?;
        count.checked_mul(2)
    }

    /// `:12`
    fn number(&mut self) -> Option<usize> {
        self.take(b":")?;
        let digits = self.rest.iter().take(20).take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&self.rest[..digits]).ok()?.parse().ok()?;
        self.rest = &self.rest[digits..];
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_from_other_bytes() {
        for value in [
            "N;",
            "b:1;",
            "i:-3;",
            "d:0.5;",
            "d:-INF;",
            "s:5:\"he\";l\";",
            "a:0:{}",
            "a:2:{i:0;s:1:\"a\";s:1:\"k\";a:1:{i:0;N;}}",
            "O:8:\"stdClass\":1:{s:1:\"p\";i:1;}",
        ] {
            assert_eq!(detect_serialized(value.as_bytes()), Serialized::Value, "{value}");
        }
        for other in [
            "",
            "N",
            "s:9:\"short\";",
            "a:1:{i:0;}",
            "a:0:{}x",
            "a:0:{",
            "<html>",
            "i:;",
            "a:99999999999999999999:{}",
        ] {
            assert_eq!(detect_serialized(other.as_bytes()), Serialized::Other, "{other}");
        }
        let foreign = |text: &str| detect_serialized(text.as_bytes());
        assert_eq!(foreign("O:3:\"Foo\":0:{}"), Serialized::Foreign("objects of Foo".into()));
        assert_eq!(foreign("a:2:{i:0;i:1;i:1;R:2;}"), Serialized::Foreign("references".into()));
        assert_eq!(foreign("C:3:\"Foo\":4:{i:1;}"), Serialized::Foreign("objects of Foo".into()));
        assert_eq!(foreign("C:3:\"Foo\":5:{i:1;}"), Serialized::Other);
        assert_eq!(foreign("a:1:{i:0;E:3:\"E:A\";}"), Serialized::Foreign("enum cases".into()));
        let deep = format!("{}N;{}", "a:1:{i:0;".repeat(100_000), "}".repeat(100_000));
        assert_eq!(foreign(&deep), Serialized::Value);
    }
}
