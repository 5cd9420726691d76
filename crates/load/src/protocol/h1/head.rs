//! The head of a response: its status line and its headers (RFC 9112, sections 4 to 6).
//!
//! Parsed in place, in one pass, without allocation. The parser is strict where two readers could disagree about the
//! end of a message. It is lenient where servers are known to be: a bare line feed ends a line. The connection decides
//! which responses have a body at all, because that depends on the request, too.

use httparse::{Header, Status};
use memchr::{memchr, memchr_iter, memchr2};

use crate::escape::shown;
use crate::fault::{HttpFault, HttpFaultKind};
use crate::plan::Limits;
use crate::protocol::coding::Coding;

#[derive(Clone, Copy, Debug)]
pub struct HeadLimits {
    /// Bytes, with the empty line at the end.
    pub bytes: u32,
    pub fields: u32,
}

impl From<&Limits> for HeadLimits {
    fn from(limits: &Limits) -> HeadLimits {
        HeadLimits { bytes: limits.head_bytes, fields: limits.head_fields }
    }
}

/// The parsed head of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The status code, from 100 to 999.
    pub status: u16,
    /// The version's digit after `HTTP/1.`.
    pub minor: u8,
    pub length: Option<u64>,
    /// Whether Transfer-Encoding is `chunked`.
    pub chunked: bool,
    /// Whether the connection stays open after this response, by version and Connection.
    pub keep: bool,
    pub coding: Coding,
    /// Bytes of the head with the empty line.
    pub bytes: usize,
}

/// Parses a head from `bytes`, which start with the first byte of the response; none: it is not complete yet.
///
/// `scanned` is 0 for a new response. It stores how far the end of the head was searched, so that a head in small parts
/// costs no more than its length. The result does not depend on how the bytes were split: only a complete head is
/// judged, but a wrong status line is rejected at once.
///
/// # Errors
/// `Garbage`, `BadHead`, `HeadTooLong` and `AmbiguousLength`.
#[inline]
pub fn parse(bytes: &[u8], scanned: &mut usize, limits: &HeadLimits) -> Result<Option<Head>, HttpFault> {
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

/// The name and the trimmed value of every header of a head that [`parse`] accepted, in order.
pub fn fields(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let lines = head.split(|&byte| byte == b'\n').skip(1);
    lines.filter_map(|line| {
        let colon = memchr(b':', line)?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    })
}

/// The start of a status line; `0` stands for any digit.
const STATUS_LINE: &[u8] = b"HTTP/1.0 000";

/// Whether the bytes can still become a status line of HTTP/1.
fn status_line_begins(bytes: &[u8]) -> Result<(), HttpFault> {
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
fn garbage(bytes: &[u8]) -> HttpFault {
    HttpFault::new(HttpFaultKind::Garbage, format!("not an HTTP/1 status line: `{}`", shown(bytes)))
}

/// Whether an empty line is in the bytes; searches no further back than necessary, and stores how far it searched.
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

/// The result for a head without an end: incomplete, or too long.
fn unfinished(bytes: &[u8], limits: &HeadLimits) -> Result<Option<Head>, HttpFault> {
    if bytes.len() < limits.bytes as usize {
        return Ok(None);
    }
    let message = format!("no end of the head within {} bytes", limits.bytes);
    Err(HttpFault::new(HttpFaultKind::HeadTooLong, message))
}

/// Headers that are parsed without an allocation; few heads have more.
const USUAL_FIELDS: usize = 32;

/// Parses the status line and the headers after it; none if the bytes end before the empty line.
fn read(bytes: &[u8], limits: &HeadLimits) -> Result<Option<Head>, HttpFault> {
    let Some(&[.., minor, _, hundreds, tens, ones]) = bytes.first_chunk::<12>() else { return Ok(None) };
    let Some(feed) = memchr(b'\n', bytes) else { return Ok(None) };
    let (line, rest) = bytes.split_at(feed + 1);
    let text = line[..feed].strip_suffix(b"\r").unwrap_or(&line[..feed]);
    if memchr2(b'\r', 0, text).is_some() {
        return Err(bad("a carriage return or NUL within a line", text));
    }
    let digit = |byte: u8| u16::from(byte - b'0');
    let status = digit(hundreds) * 100 + digit(tens) * 10 + digit(ones);
    let of = |fields: Result<Status<(usize, &[Header<'_>])>, httparse::Error>| match fields {
        Ok(Status::Partial) => Ok(None),
        Ok(Status::Complete((length, fields))) if fields.len() <= limits.fields as usize => {
            let mut framing = Framing::default();
            for field in fields {
                framing.take(field.name.as_bytes(), field.value)?;
            }
            framing.head(status, minor - b'0', line.len() + length).map(Some)
        }
        Ok(_) | Err(httparse::Error::TooManyHeaders) => {
            Err(HttpFault::new(HttpFaultKind::HeadTooLong, format!("more than {} headers", limits.fields)))
        }
        Err(error) => Err(bad_field(rest, error)),
    };
    match httparse::parse_headers(rest, &mut [httparse::EMPTY_HEADER; USUAL_FIELDS]) {
        Err(httparse::Error::TooManyHeaders) => {
            of(httparse::parse_headers(rest, &mut vec![httparse::EMPTY_HEADER; limits.fields as usize]))
        }
        fields => of(fields),
    }
}

/// The failure of the first line that is not a header.
#[cold]
fn bad_field(fields: &[u8], error: httparse::Error) -> HttpFault {
    let is_bad = |line: &&[u8]| {
        let alone = [line, b"\n\n".as_slice()].concat();
        httparse::parse_headers(&alone, &mut [httparse::EMPTY_HEADER; 1]).is_err()
    };
    let line = fields.split(|&byte| byte == b'\n').find(is_bad).unwrap_or(fields);
    let what = match error {
        httparse::Error::HeaderName => "a line that is not a header",
        _ => "a header with a control character",
    };
    bad(what, line)
}

#[cold]
fn bad(what: &str, line: &[u8]) -> HttpFault {
    HttpFault::new(HttpFaultKind::BadHead, format!("{what}: `{}`", shown(line.trim_ascii_end())))
}

/// The combined headers so far.
#[derive(Debug, Default)]
pub(in crate::protocol) struct Framing {
    length: Option<u64>,
    transfer: bool,
    chunked: bool,
    close: bool,
    keep_alive: bool,
    coding: Option<Coding>,
}

impl Framing {
    #[inline]
    pub(in crate::protocol) fn take(&mut self, name: &[u8], value: &[u8]) -> Result<(), HttpFault> {
        // The length alone distinguishes most headers, at no cost.
        match name.len() {
            10 if name.eq_ignore_ascii_case(b"connection") => self.connection(value),
            14 if name.eq_ignore_ascii_case(b"content-length") => return self.content_length(value),
            16 if name.eq_ignore_ascii_case(b"content-encoding") => self.content_encoding(value.trim_ascii()),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => return self.transfer_encoding(value),
            _ => {}
        }
        Ok(())
    }

    /// The head with these headers.
    pub(in crate::protocol) fn head(&self, status: u16, minor: u8, bytes: usize) -> Result<Head, HttpFault> {
        if let (Some(length), true) = (self.length, self.transfer) {
            let message = format!("Content-Length {length} together with Transfer-Encoding");
            return Err(HttpFault::new(HttpFaultKind::AmbiguousLength, message));
        }
        // HTTP/1.0 has no chunks: a server that sends them anyway is not trusted with a second response.
        let stays = if minor == 0 { self.keep_alive && !self.transfer } else { true };
        Ok(Head {
            status,
            minor,
            length: self.length,
            chunked: self.chunked,
            keep: stays && !self.close,
            coding: self.coding.unwrap_or_default(),
            bytes,
        })
    }

    fn connection(&mut self, value: &[u8]) {
        for option in list(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn content_length(&mut self, value: &[u8]) -> Result<(), HttpFault> {
        for member in list(value) {
            let Some(length) = decimal(member) else {
                let message = format!("an invalid Content-Length: `{}`", shown(value.trim_ascii()));
                return Err(HttpFault::new(HttpFaultKind::BadHead, message));
            };
            let before = *self.length.get_or_insert(length);
            if before != length {
                let message = format!("two different values of Content-Length: {before} and {length}");
                return Err(HttpFault::new(HttpFaultKind::AmbiguousLength, message));
            }
        }
        Ok(())
    }

    fn content_encoding(&mut self, value: &[u8]) {
        self.coding = match (self.coding, value) {
            (before, b"") => before,
            (None, _) => Some(Coding::of(value)),
            (Some(_), _) => Some(Coding::Other),
        };
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> Result<(), HttpFault> {
        self.transfer = true;
        for coding in list(value) {
            // The server may only send transfer codings that the request accepts, and requests accept none besides
            // chunked.
            let known = match coding {
                _ if self.chunked => false,
                _ if coding.eq_ignore_ascii_case(b"chunked") => {
                    self.chunked = true;
                    true
                }
                _ => coding.eq_ignore_ascii_case(b"identity"),
            };
            if !known {
                let message = format!("an unsupported Transfer-Encoding: `{}`", shown(value.trim_ascii()));
                return Err(HttpFault::new(HttpFaultKind::BadHead, message));
            }
        }
        Ok(())
    }
}

/// The members of a comma-separated list, trimmed.
fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

/// A number of decimal digits; none for anything else, or if it needs more than 64 bits.
fn decimal(text: &[u8]) -> Option<u64> {
    let digit = |&byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    let (first, rest) = text.split_first()?;
    rest.iter().try_fold(digit(first)?, |number, byte| number.checked_mul(10)?.checked_add(digit(byte)?))
}

#[cfg(test)]
mod tests;
