//! The head of the last response over a connection. Most are the same byte for byte as long as the Date is, and one that is
//! need not be read again: what a head says depends on nothing but its bytes.

use super::head::Head;

/// A longer head is not worth its memory.
const LONGEST: usize = 1 << 10;

/// A head with its bytes, if there was one.
#[derive(Debug, Default)]
pub(super) struct Known {
    bytes: Vec<u8>,
    head: Option<Head>,
}

impl Known {
    /// What the head says with which `bytes` begin, when it is this one.
    #[inline]
    pub fn begins(&self, bytes: &[u8]) -> Option<Head> {
        self.head.filter(|_| bytes.starts_with(&self.bytes))
    }

    /// Bytes of the last head; 0 as long as there is none.
    #[inline]
    pub fn length(&self) -> usize {
        self.head.map_or(0, |head| head.bytes)
    }

    /// Keeps the final head that `raw` is. With informational ones before it, it is longer than the head alone, and not kept.
    pub fn keep(&mut self, raw: &[u8], head: Head) {
        self.head = None;
        if raw.len() == head.bytes && raw.len() <= LONGEST {
            self.bytes.clear();
            self.bytes.extend_from_slice(raw);
            self.head = Some(head);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::head::{HeadLimits, parse};
    use super::*;

    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";

    fn read(bytes: &[u8]) -> Head {
        parse(bytes, &mut 0, &HeadLimits { bytes: 1 << 16, fields: 100 }).unwrap().unwrap()
    }

    #[test]
    fn the_same_head_says_the_same_and_any_other_is_read_anew() {
        let mut known = Known::default();
        assert_eq!(known.begins(HEAD), None);
        known.keep(HEAD, read(HEAD));
        assert_eq!(known.begins(&[HEAD, b"abc"].concat()), Some(read(HEAD)));
        assert_eq!(known.begins(&HEAD[..HEAD.len() - 1]), None);
        let other = HEAD.to_ascii_uppercase();
        assert_eq!(known.begins(&other), None);
    }

    #[test]
    fn a_head_after_an_informational_one_and_a_long_one_are_not_kept() {
        let early = b"HTTP/1.1 103 Early Hints\r\n\r\n";
        let mut known = Known::default();
        known.keep(HEAD, read(HEAD));
        known.keep(&[early.as_slice(), HEAD].concat(), read(HEAD));
        assert_eq!(known.begins(HEAD), None);
        let long = [b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &[b'a'; LONGEST], b"\r\n\r\n"].concat();
        known.keep(&long, read(&long));
        assert_eq!(known.begins(&long), None);
    }
}
