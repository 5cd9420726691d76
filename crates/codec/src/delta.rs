//! Content that is encoded against a dictionary which both sides have: the content codings `dcb` and `dcz` of RFC 9842.
//!
//! A body is a magic number, the SHA-256 of the dictionary, and a Brotli stream or a Zstandard frame that refers to the dictionary's bytes.

use sha2::{Digest as _, Sha256};

use crate::codecs::{brotli, zstd};
use crate::{Error, independent};

/// The SHA-256 of a dictionary.
pub type Digest = [u8; 32];

/// The smallest limit that RFC 9842 sets to the window of `dcz`, and the largest, in bytes.
const SMALLEST_LIMIT: u64 = 8 << 20;
const LARGEST_LIMIT: u64 = 128 << 20;
/// The smallest window of a Zstandard frame, base-2 logarithm.
const SMALLEST_WINDOW: u32 = 10;

/// A content coding of RFC 9842.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Coding {
    Dcb,
    Dcz,
}

impl Coding {
    pub const ALL: [Coding; 2] = [Coding::Dcb, Coding::Dcz];

    /// Its name in `Accept-Encoding` and `Content-Encoding`, which files with it end in, too.
    pub fn name(self) -> &'static str {
        match self {
            Coding::Dcb => "dcb",
            Coding::Dcz => "dcz",
        }
    }

    /// The coding of that name, if it is one of these.
    pub fn from_name(name: &str) -> Option<Coding> {
        Coding::ALL.into_iter().find(|coding| coding.name() == name)
    }

    /// What a body begins with; for `dcz` the head of a skippable frame, which holds the digest.
    fn magic(self) -> &'static [u8] {
        match self {
            Coding::Dcb => b"\xffDCB",
            Coding::Dcz => b"\x5e\x2a\x4d\x18\x20\0\0\0",
        }
    }

    /// The length of all that precedes the stream.
    pub fn head(self) -> usize {
        self.magic().len() + size_of::<Digest>()
    }

    /// The highest level of its library that is of use here.
    pub fn best_level(self) -> i32 {
        match self {
            Coding::Dcb => 11,
            Coding::Dcz => 19,
        }
    }

    fn refused(self, message: String) -> Error {
        Error::Decode { codec: self.name(), message }
    }
}

/// The digest by which a client names a dictionary that it has.
pub fn digest(dictionary: &[u8]) -> Digest {
    Sha256::digest(dictionary).into()
}

/// The digest of the dictionary that a body refers to; none if it does not begin as its coding does.
pub fn digest_in(coding: Coding, body: &[u8]) -> Option<Digest> {
    let rest = body.strip_prefix(coding.magic())?;
    rest.get(..size_of::<Digest>())?.try_into().ok()
}

/// The largest window that a client takes with `dcz` and a dictionary of this length, bytes (RFC 9842, section 5).
pub fn window_limit(dictionary: usize) -> u64 {
    let quarter_more = (dictionary as u64).saturating_add(dictionary as u64 / 4);
    quarter_more.clamp(SMALLEST_LIMIT, LARGEST_LIMIT)
}

/// Encodes content against a dictionary, at a level of the coding's library.
/// Below level 5 Brotli does not look into the dictionary.
///
/// # Errors
/// [`Error::Encode`] with the library's text.
pub fn encode(coding: Coding, dictionary: &[u8], content: &[u8], level: i32) -> Result<Vec<u8>, Error> {
    let mut stream = Vec::new();
    match coding {
        Coding::Dcb => brotli::encode_after(dictionary, level, content, &mut stream)?,
        Coding::Dcz => {
            let window = window(dictionary.len(), content.len());
            zstd::encode_after(dictionary, (level, window), content, &mut stream)?;
        }
    }
    Ok([coding.magic(), &digest(dictionary), &stream].concat())
}

/// The window of a `dcz` frame, base-2 logarithm: from every byte of the content to the begin of the dictionary, within the limit.
fn window(dictionary: usize, content: usize) -> u32 {
    let whole = (dictionary as u64).saturating_add(content as u64).max(1).next_power_of_two().ilog2();
    whole.clamp(SMALLEST_WINDOW, window_limit(dictionary).ilog2())
}

/// Decodes a body into exactly what it holds, at most `expected` bytes.
///
/// # Errors
/// [`Error::Decode`] for another dictionary, for damaged or truncated input or bytes after its end, and [`Error::TooLarge`].
pub fn decode(coding: Coding, dictionary: &[u8], body: &[u8], expected: usize) -> Result<Vec<u8>, Error> {
    let stream = stream(coding, dictionary, body)?;
    let mut out = Vec::new();
    match coding {
        Coding::Dcb => brotli::decode_after(dictionary, stream, expected, &mut out)?,
        Coding::Dcz => {
            // The library counts in powers of two.
            let window = window_limit(dictionary.len()).next_power_of_two().ilog2();
            zstd::decode_after(dictionary, window, stream, expected, &mut out)?;
        }
    }
    Ok(out)
}

/// As [`decode`], with a decoder that shares no code with the encoder; also names it.
///
/// # Errors
/// As [`decode`]; the codec named in them is the decoder.
pub fn decode_independently(
    coding: Coding,
    dictionary: &[u8],
    body: &[u8],
    expected: usize,
) -> Result<(Vec<u8>, &'static str), Error> {
    let stream = stream(coding, dictionary, body)?;
    match coding {
        Coding::Dcb => independent::decode_brotli_after(dictionary, stream, expected),
        Coding::Dcz => {
            independent::decode_zstd_after(window_limit(dictionary.len()), dictionary, stream, expected)
        }
    }
}

/// The stream after the head, which has to name this dictionary.
fn stream<'b>(coding: Coding, dictionary: &[u8], body: &'b [u8]) -> Result<&'b [u8], Error> {
    let Some(named) = digest_in(coding, body) else {
        return Err(coding.refused(format!("it does not begin as {} does", coding.name())));
    };
    if named != digest(dictionary) {
        return Err(coding.refused("it was encoded against another dictionary".into()));
    }
    Ok(&body[coding.head()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_reaches_the_dictionary_within_the_limit() {
        let mib = 1 << 20;
        assert_eq!(window_limit(0), 8 << 20);
        assert_eq!(window_limit(10 * mib), (10 << 20) * 5 / 4);
        assert_eq!(window_limit(500 * mib), 128 << 20);
        assert_eq!(window(0, 0), 10);
        assert_eq!(window(250_000, 250_000), 19);
        assert_eq!(window(mib, 100 * mib), 23, "more than 8 MB is too much for a small dictionary");
        assert_eq!(window(100 * mib, 100 * mib), 26, "1.25 × 100 MB is less than 128 MB");
        assert_eq!(window(200 * mib, 200 * mib), 27);
    }

    #[test]
    fn a_body_begins_as_the_standard_says() {
        for (coding, begin) in [(Coding::Dcb, "ff444342"), (Coding::Dcz, "5e2a4d1820000000")] {
            let body = encode(coding, b"dictionary", b"content", 5).unwrap();
            let hex: String = body[..coding.head()].iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(hex.len(), begin.len() + 64);
            assert!(hex.starts_with(begin), "{hex}");
            assert_eq!(digest_in(coding, &body), Some(digest(b"dictionary")));
            assert_eq!(Coding::from_name(coding.name()), Some(coding));
        }
        // Of the empty dictionary, as every tool prints it.
        assert_eq!(digest(b"")[..4], [0xe3, 0xb0, 0xc4, 0x42]);
    }
}
