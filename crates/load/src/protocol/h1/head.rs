//! The head of a response: its status line and its fields (RFC 9112, sections 4 to 6).
//!
//! Read in place, in one pass, without allocation. It is strict where two readers could differ about where a message ends,
//! and lenient where servers are known to be: a bare line feed ends a line. Which responses have a body at all is the
//! connection's to say: that depends on the request too.

use memchr::{memchr, memchr_iter};

use super::field::{self, Framing};
use crate::escape::shown;
use crate::fault::{Fault, FaultKind};
use crate::plan::Limits;
use crate::protocol::coding::Coding;

/// Bounds on a head.
#[derive(Clone, Copy, Debug)]
pub struct HeadLimits {
    /// Bytes, the empty line at the end included.
    pub bytes: u32,
    /// Fields.
    pub fields: u32,
}

impl From<&Limits> for HeadLimits {
    fn from(limits: &Limits) -> HeadLimits {
        HeadLimits { bytes: limits.head_bytes, fields: limits.head_fields }
    }
}

/// What the head of a response says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The status code, from 100 to 999.
    pub status: u16,
    /// The version's digit after `HTTP/1.`.
    pub minor: u8,
    /// Content-Length.
    pub length: Option<u64>,
    /// Transfer-Encoding is `chunked`.
    pub chunked: bool,
    /// The connection stays after this response, by version and Connection.
    pub keep: bool,
    /// Content-Encoding.
    pub coding: Coding,
    /// Bytes of the head with the empty line.
    pub bytes: usize,
}

/// Reads a head from `bytes`, which begin with the first byte of the response; none: it is not whole yet.
///
/// `scanned` is 0 for a new response, and remembers how far the head's end was looked for, so that a head that comes
/// in drips costs no more than its length. The answer for given bytes does not depend on how they were split: only a
/// whole head is judged, except that nothing is waited for after a wrong status line.
///
/// # Errors
/// `Garbage`, `BadHead`, `HeadTooLong` and `AmbiguousLength`.
#[inline]
pub fn parse(bytes: &[u8], scanned: &mut usize, limits: &HeadLimits) -> Result<Option<Head>, Fault> {
    let within = &bytes[..bytes.len().min(limits.bytes as usize)];
    status_line_begins(within)?;
    if *scanned > 0 && !ends(within, scanned) {
        return unfinished(within, limits);
    }
    match read(within, limits) {
        Ok(Some(head)) => Ok(Some(head)),
        unread if ends(within, scanned) => unread,
        _ => unfinished(within, limits),
    }
}

/// The name and the trimmed value of every field of a head that [`parse`] accepted, in their order.
pub fn fields(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let lines = head.split(|&byte| byte == b'\n').skip(1);
    lines.filter_map(|line| {
        let colon = memchr(b':', line)?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    })
}

/// What a status line begins with; `0` stands for any digit.
const STATUS_LINE: &[u8] = b"HTTP/1.0 000";

/// Whether the bytes can still become a status line of HTTP/1.
fn status_line_begins(bytes: &[u8]) -> Result<(), Fault> {
    let fits = |(&byte, &wanted): (&u8, &u8)| match wanted {
        b'0' => byte.is_ascii_digit(),
        _ => byte == wanted,
    };
    let good = STATUS_LINE.len().min(bytes.len());
    // A status has three digits, of which the first is not 0.
    if bytes.iter().zip(STATUS_LINE).all(fits)
        && bytes.get(9) != Some(&b'0')
        && matches!(bytes.get(good), None | Some(b' ' | b'\r' | b'\n'))
    {
        return Ok(());
    }
    Err(garbage(bytes))
}

#[cold]
fn garbage(bytes: &[u8]) -> Fault {
    Fault::new(FaultKind::Garbage, format!("no status line of HTTP/1, but `{}`", shown(bytes)))
}

/// Whether an empty line is in the bytes; looks no further back than it has to, and remembers how far it came.
fn ends(bytes: &[u8], scanned: &mut usize) -> bool {
    for found in memchr_iter(b'\n', &bytes[*scanned..]) {
        let before = &bytes[..*scanned + found];
        if before.ends_with(b"\n") || before.ends_with(b"\n\r") {
            return true;
        }
    }
    *scanned = bytes.len();
    false
}

/// A head without an end: one that may still come, or one that is too long already.
fn unfinished(bytes: &[u8], limits: &HeadLimits) -> Result<Option<Head>, Fault> {
    if bytes.len() < limits.bytes as usize {
        return Ok(None);
    }
    let message = format!("no end of the head within {} bytes", limits.bytes);
    Err(Fault::new(FaultKind::HeadTooLong, message))
}

/// Reads line after line; none when the bytes end before the empty line.
fn read(bytes: &[u8], limits: &HeadLimits) -> Result<Option<Head>, Fault> {
    let Some(&[.., minor, _, hundreds, tens, ones]) = bytes.first_chunk::<12>() else { return Ok(None) };
    let digit = |byte: u8| u16::from(byte - b'0');
    let Some((_, mut at)) = line_end(bytes, 0, STATUS_LINE.len())? else { return Ok(None) };
    let mut framing = Framing::default();
    let mut left = limits.fields;
    loop {
        let Some(length) = bytes[at..].iter().position(|&byte| !field::in_name(byte)) else {
            return Ok(None);
        };
        let colon = at + length;
        if bytes[colon] != b':' || length == 0 {
            if length > 0 || !matches!(bytes[at], b'\r' | b'\n') {
                return Err(bad(bytes, at, "a line that is no field"));
            }
            let Some((_, end)) = line_end(bytes, at, at)? else { return Ok(None) };
            let status = digit(hundreds) * 100 + digit(tens) * 10 + digit(ones);
            return framing.head(status, minor - b'0', end).map(Some);
        }
        let Some((end, next)) = line_end(bytes, at, colon + 1)? else { return Ok(None) };
        if left == 0 {
            return Err(Fault::new(FaultKind::HeadTooLong, format!("more than {} fields", limits.fields)));
        }
        left -= 1;
        framing.take(&bytes[at..colon], &bytes[colon + 1..end])?;
        at = next;
    }
}

/// Where the text of a line ends, and where the next line begins; looks from `from` on. None when the bytes end first.
#[inline]
fn line_end(bytes: &[u8], line: usize, from: usize) -> Result<Option<(usize, usize)>, Fault> {
    let mut at = from;
    loop {
        let Some(found) = control(&bytes[at..]) else { return Ok(None) };
        at += found;
        match (bytes[at], bytes.get(at + 1)) {
            (b'\n', _) => return Ok(Some((at, at + 1))),
            (b'\r', Some(b'\n')) => return Ok(Some((at, at + 2))),
            (b'\r', None) => return Ok(None),
            (b'\r', _) => return Err(bad(bytes, line, "a carriage return within a line")),
            (0, _) => return Err(bad(bytes, line, "a NUL")),
            _ => at += 1,
        }
    }
}

/// The first byte up to the carriage return in the order of ASCII. Lines are too short for a call of `memchr` to pay:
/// eight bytes are looked at as one number instead.
#[inline]
fn control(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xff;
    const PAST: u64 = b'\r' as u64 + 1;
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The high bit of the lowest byte less than PAST; a borrow can only set bits above it.
        let less = word.wrapping_sub(ONES * PAST) & !word & (ONES << 7);
        if less != 0 {
            return Some(index * 8 + less.trailing_zeros() as usize / 8);
        }
    }
    let found = rest.iter().position(|&byte| u64::from(byte) < PAST)?;
    Some(words.len() * 8 + found)
}

#[cold]
fn bad(bytes: &[u8], line: usize, what: &str) -> Fault {
    let rest = &bytes[line..];
    let text = &rest[..memchr(b'\n', rest).unwrap_or(rest.len())];
    Fault::new(FaultKind::BadHead, format!("{what}: `{}`", shown(text.trim_ascii_end())))
}

#[cfg(test)]
mod tests;
