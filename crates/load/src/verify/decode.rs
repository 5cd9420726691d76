//! Decodes the content coding of a body, with limited memory and in pure Rust.

use std::borrow::Cow;

use sha2::{Digest, Sha256};
use weigh_codec::{Error, Format, delta, independent};

use crate::escape::shown;
use crate::fault::{HttpFault, HttpFaultKind};
use crate::protocol::coding::Coding;

/// The least output buffer of the first attempt.
const ROOM: usize = 64 << 10;
/// Web content often compresses by about this factor.
const USUAL_RATIO: usize = 4;
/// The highest ratio of DEFLATE: 258 bytes in two bits.
const DEFLATE_RATIO: usize = 1032;
/// A decoder whose output buffer was full gets a buffer this many times as large: never much more than it finally
/// needs.
const GROWTH: usize = 2;

pub(super) fn token(coding: Coding) -> &'static str {
    match coding {
        Coding::Identity => "identity",
        Coding::Gzip => "gzip",
        Coding::Deflate => "deflate",
        Coding::Brotli => "br",
        Coding::Zstd => "zstd",
        Coding::DictionaryBrotli => "dcb",
        Coding::DictionaryZstd => "dcz",
        Coding::Other => "an unknown content coding",
    }
}

#[derive(Clone, Copy)]
enum Form<'d> {
    Format(Format),
    Delta(delta::Coding, &'d [u8]),
}

/// The forms of a body in that coding; none without a decoder, or without the dictionary. `deflate` means zlib (RFC 9110, section 8.4.1.2), but was long sent without
/// its wrapper: browsers accept both.
fn forms(coding: Coding, dictionary: Option<&[u8]>) -> Vec<Form<'_>> {
    let plain = |formats: &[Format]| formats.iter().map(|format| Form::Format(*format)).collect();
    let delta = |coding| dictionary.map(|bytes| Form::Delta(coding, bytes)).into_iter().collect();
    match coding {
        Coding::Identity => plain(&[Format::Identity]),
        Coding::Gzip => plain(&[Format::Gzip]),
        Coding::Deflate => plain(&[Format::Zlib, Format::Deflate]),
        Coding::Brotli => plain(&[Format::Brotli]),
        Coding::Zstd => plain(&[Format::Zstd]),
        Coding::DictionaryBrotli => delta(delta::Coding::Dcb),
        Coding::DictionaryZstd => delta(delta::Coding::Dcz),
        Coding::Other => Vec::new(),
    }
}

/// The decoded body; `dictionary` is the one that the client offered. `likely` is its probable length in bytes (0: unknown), `limit` the largest allowed length. It is
/// that of a response which has one: an empty body is none of any coding.
///
/// Decoders fill their output buffer with zeros. The buffer therefore starts near the likely length and grows up to the
/// limit: a high limit costs memory only if a body is long.
///
/// # Errors
/// `ContentCoding` for an unknown coding, `Bomb` above the limit, `Corrupt` for anything that cannot be decoded, which
/// includes bytes after the end: clients stop there and would lose them.
pub(super) fn decode<'w>(
    coding: Coding,
    dictionary: Option<&[u8]>,
    wire: &'w [u8],
    likely: u64,
    limit: u64,
) -> Result<Cow<'w, [u8]>, HttpFault> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let forms = forms(coding, dictionary);
    if forms.is_empty() {
        let why = match coding {
            Coding::Other => "the content coding is not supported",
            _ => "the response is a delta, and the request offered no dictionary",
        };
        return Err(HttpFault::new(HttpFaultKind::ContentCoding, why));
    }
    if coding == Coding::Identity && wire.len() <= limit {
        return Ok(Cow::Borrowed(wire));
    }
    if wire.is_empty() {
        let message = format!("an empty body is not valid {}: clients refuse it", token(coding));
        return Err(HttpFault::new(HttpFaultKind::Corrupt, message));
    }
    let likely = match likely {
        0 => guess(coding, wire),
        told => usize::try_from(told).unwrap_or(usize::MAX),
    };
    let mut failures = Vec::new();
    for form in forms {
        match read(form, wire, likely.max(ROOM).min(limit), limit) {
            Ok(bytes) => return Ok(Cow::Owned(bytes)),
            Err(Error::TooLarge { .. }) => {
                let message = format!("{} that decodes to more than {limit} bytes", token(coding));
                return Err(HttpFault::new(HttpFaultKind::Bomb, message));
            }
            Err(error) => failures.push(error),
        }
    }
    // Of the two forms of deflate, the one that the first bytes indicate determines the message.
    let failure = if zlib_header(wire) { failures.first() } else { failures.last() };
    let message = match failure {
        Some(Error::Decode { message, .. }) => shown(message.as_bytes()),
        other => other.map(ToString::to_string).unwrap_or_default(),
    };
    let message =
        format!("not valid {}: {message}; the body starts with `{}`", token(coding), shown(first(wire)));
    Err(HttpFault::new(HttpFaultKind::Corrupt, message))
}

/// The largest output of a body. A gzip member ends with its length (RFC 1952, section 2.3.1); it may be false, but not
/// by much.
fn guess(coding: Coding, wire: &[u8]) -> usize {
    match (coding, wire.last_chunk::<4>()) {
        (Coding::Gzip, Some(length)) => {
            (u32::from_le_bytes(*length) as usize).min(wire.len().saturating_mul(DEFLATE_RATIO))
        }
        _ => wire.len().saturating_mul(USUAL_RATIO),
    }
}

/// Decodes with growing output buffers.
fn read(form: Form<'_>, wire: &[u8], mut room: usize, limit: usize) -> Result<Vec<u8>, Error> {
    loop {
        let decoded = match form {
            Form::Format(format) => independent::decode(format, wire, room, None).map(|(bytes, _)| bytes),
            Form::Delta(coding, dictionary) => {
                delta::decode_independently(coding, dictionary, wire, room).map(|(bytes, _)| bytes)
            }
        };
        match decoded {
            Ok(bytes) => return Ok(bytes),
            Err(Error::TooLarge { .. }) if room < limit => room = room.saturating_mul(GROWTH).min(limit),
            Err(error) => return Err(error),
        }
    }
}

/// RFC 1950, section 2.2: the method is 8, and the two bytes are a multiple of 31.
fn zlib_header(wire: &[u8]) -> bool {
    matches!(wire, [a, b, ..] if a & 0x0f == 8 && u16::from_be_bytes([*a, *b]) % 31 == 0)
}

/// The first bytes of a body, enough to recognise it.
pub(super) fn first(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(16)]
}

pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests;
