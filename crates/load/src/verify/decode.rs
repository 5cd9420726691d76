//! Takes the content coding off a body, in bounded memory and in Rust alone.

use std::borrow::Cow;

use sha2::{Digest, Sha256};
use weigh_codec::{Error, Format, independent};

use crate::escape::shown;
use crate::fault::{Fault, FaultKind};
use crate::protocol::coding::Coding;

/// The least room given to a decoder that is tried for the first time.
const ROOM: usize = 64 << 10;
/// Web content is often packed more or less this tightly.
const USUAL_RATIO: usize = 4;
/// DEFLATE packs no tighter: 258 bytes in two bits.
const DEFLATE_RATIO: usize = 1032;
/// A decoder that ran out of room gets so many times more: never much more than is needed in the end.
const GROWTH: usize = 2;

/// The token of Content-Encoding.
pub(super) fn token(coding: Coding) -> &'static str {
    match coding {
        Coding::Identity => "identity",
        Coding::Gzip => "gzip",
        Coding::Deflate => "deflate",
        Coding::Brotli => "br",
        Coding::Zstd => "zstd",
        Coding::Other => "an unknown content coding",
    }
}

/// The formats that a body of that coding may be in. `deflate` means zlib (RFC 9110, section 8.4.1.2), and was long sent
/// without its wrapper: browsers read both.
fn formats(coding: Coding) -> &'static [Format] {
    match coding {
        Coding::Identity => &[Format::Identity],
        Coding::Gzip => &[Format::Gzip],
        Coding::Deflate => &[Format::Zlib, Format::Deflate],
        Coding::Brotli => &[Format::Brotli],
        Coding::Zstd => &[Format::Zstd],
        Coding::Other => &[],
    }
}

/// The body behind its coding. `likely` is what it probably decodes to in bytes (0: unknown), `limit` the most that it may.
/// An empty body decodes to nothing in every coding: servers label responses without content.
///
/// Decoders fill the room they are given with zeros, so that it starts near what is needed and grows up to the limit: a
/// large limit costs memory only where a body does.
///
/// # Errors
/// `ContentCoding` for a coding that is unknown, `Bomb` beyond the limit, `Corrupt` for anything that does not decode, which
/// includes bytes after its end: clients stop there, and would lose them.
pub(super) fn decode(coding: Coding, wire: &[u8], likely: u64, limit: u64) -> Result<Cow<'_, [u8]>, Fault> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let formats = formats(coding);
    if formats.is_empty() {
        return Err(Fault::new(FaultKind::ContentCoding, "a content coding that cannot be taken off"));
    }
    if wire.is_empty() || (coding == Coding::Identity && wire.len() <= limit) {
        return Ok(Cow::Borrowed(wire));
    }
    let likely = match likely {
        0 => guess(coding, wire),
        told => usize::try_from(told).unwrap_or(usize::MAX),
    };
    let mut failures = Vec::new();
    for format in formats {
        match read(*format, wire, likely.max(ROOM).min(limit), limit) {
            Ok(bytes) => return Ok(Cow::Owned(bytes)),
            Err(Error::TooLarge { .. }) => {
                let message = format!("{} that decodes to more than {limit} bytes", token(coding));
                return Err(Fault::new(FaultKind::Bomb, message));
            }
            Err(error) => failures.push(error),
        }
    }
    // Of the two readings of deflate, the one that its first bytes announce has the word.
    let failure = if zlib_header(wire) { failures.first() } else { failures.last() };
    let message = match failure {
        Some(Error::Decode { message, .. }) => shown(message.as_bytes()),
        other => other.map(ToString::to_string).unwrap_or_default(),
    };
    let message = format!("no {}: {message}; it begins with `{}`", token(coding), shown(first(wire)));
    Err(Fault::new(FaultKind::Corrupt, message))
}

/// What a body may decode to. A gzip member ends with its length (RFC 1952, section 2.3.1), which may be a lie, but no great
/// one.
fn guess(coding: Coding, wire: &[u8]) -> usize {
    match (coding, wire.last_chunk::<4>()) {
        (Coding::Gzip, Some(length)) => {
            (u32::from_le_bytes(*length) as usize).min(wire.len().saturating_mul(DEFLATE_RATIO))
        }
        _ => wire.len().saturating_mul(USUAL_RATIO),
    }
}

/// Decodes in growing room.
fn read(format: Format, wire: &[u8], mut room: usize, limit: usize) -> Result<Vec<u8>, Error> {
    loop {
        match independent::decode(format, wire, room, None) {
            Ok((bytes, _)) => return Ok(bytes),
            Err(Error::TooLarge { .. }) if room < limit => room = room.saturating_mul(GROWTH).min(limit),
            Err(error) => return Err(error),
        }
    }
}

/// RFC 1950, section 2.2: the method is 8, and the two bytes are a multiple of 31.
fn zlib_header(wire: &[u8]) -> bool {
    matches!(wire, [a, b, ..] if a & 0x0f == 8 && u16::from_be_bytes([*a, *b]) % 31 == 0)
}

/// Enough of a body to see what it is.
pub(super) fn first(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(16)]
}

/// The SHA-256 of bytes.
pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// What may be asked for under the content coding `zstd`: 8 MB (RFC 9659, section 3). Browsers refuse more.
const MOST: u64 = 8 << 20;

/// The window of a frame that is too large for the content coding, in bytes.
pub(super) fn excess(wire: &[u8]) -> Option<u64> {
    window(wire).filter(|bytes| *bytes > MOST)
}

/// The window that the frame's header tells of (RFC 8878, section 3.1.1.1); none when there is no such header.
fn window(wire: &[u8]) -> Option<u64> {
    let [0x28, 0xb5, 0x2f, 0xfd, descriptor, rest @ ..] = wire else { return None };
    let is_single_segment = descriptor & 0x20 != 0;
    if !is_single_segment {
        let (exponent, mantissa) = (rest.first()? >> 3, rest.first()? & 7);
        let base = 1u64 << (10 + exponent);
        return Some(base + base / 8 * u64::from(mantissa));
    }
    // The window is the content: after the dictionary's id comes its size.
    let id = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let size = [1, 2, 4, 8][usize::from(descriptor >> 6)];
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(rest.get(id..id + size)?);
    // A size of two bytes is told less 256.
    Some(u64::from_le_bytes(bytes) + if size == 2 { 256 } else { 0 })
}

#[cfg(test)]
mod tests;
