//! Messages about a response that differs from the preflight's.

use std::ops::RangeInclusive;

use super::decode::token;
use super::expectation::Expectation;
use crate::escape::shown as escaped;
use crate::fault::{Difference, HttpFault, HttpFaultKind};
use crate::protocol::coding::Coding;

/// The status differs from the preflight's.
#[cold]
pub(super) fn status(got: u16, expected: &Expectation) -> HttpFault {
    HttpFault::new(HttpFaultKind::Status, format!("status {got}; the preflight's was {}", expected.status))
}

/// A content coding that the preflight did not see.
#[cold]
pub(super) fn coding(got: Coding, expected: &Expectation) -> HttpFault {
    let accepted: Vec<&str> = expected.codings.iter().map(|c| token(*c)).collect();
    let message = format!("content coding {}; the preflight's was {}", token(got), accepted.join(" or "));
    HttpFault::new(HttpFaultKind::ContentCoding, message)
}

/// A media type that the preflight did not see.
#[cold]
pub(super) fn media_type(got: &[u8], expected: &[u8]) -> HttpFault {
    let name = |value: &[u8]| if value.is_empty() { "none".to_owned() } else { escaped(value) };
    let message = format!("Content-Type {}; the preflight's was {}", name(got), name(expected));
    HttpFault::new(HttpFaultKind::ContentType, message)
}

/// A length that is far from all lengths of the preflight.
#[cold]
pub(super) fn implausible(got: u64, plausible: &RangeInclusive<u64>) -> HttpFault {
    let (least, most) = (plausible.start(), plausible.end());
    let message =
        format!("a body of {got} bytes; after the preflight, {least} to {most} bytes are plausible");
    HttpFault::new(HttpFaultKind::Length, message)
}

/// A body that lacks a part that all bodies of the preflight have.
#[cold]
pub(super) fn part(at: usize, bytes: u64) -> HttpFault {
    let message = format!(
        "a body of {bytes} bytes after decoding lacks a part that every response of the preflight has, expected from byte {at} on"
    );
    HttpFault::new(HttpFaultKind::Mismatch, message)
}

/// A body that is too long to keep, and therefore differs from those that were kept.
#[cold]
pub(super) fn too_long(got: u64, limit: u64) -> HttpFault {
    let message = format!("a body of {got} bytes; the preflight's was below the limit of {limit} bytes");
    HttpFault::new(HttpFaultKind::Length, message)
}

/// The length differs from that of every response of the preflight.
#[cold]
pub(super) fn length(got: u64, expected: u64) -> HttpFault {
    let message = format!(
        "a body of {got} bytes; every body of the preflight had {expected}; \
         if bodies may differ, add `--vary-by body`"
    );
    HttpFault::new(HttpFaultKind::Length, message)
}

/// An uncompressed body that differs from the accepted one: it ends early, goes on, or has other content.
pub(super) fn body(difference: Difference, length: u64, expected: u64) -> HttpFault {
    let (kind, message) = if difference.offset == length.min(expected) {
        (HttpFaultKind::Length, format!("a body of {length} bytes; the preflight's had {expected}"))
    } else {
        (
            HttpFaultKind::Mismatch,
            format!("the body differs from the preflight's from byte {} on", difference.offset),
        )
    };
    HttpFault { kind, message, difference: Some(difference) }
}

/// Bytes of each body that are shown.
pub(super) const SHOWN: usize = 16;
/// Bodies are compared in blocks before bytes.
const BLOCK: usize = 512;

/// The number of first bytes that both share.
pub(super) fn common(a: &[u8], b: &[u8]) -> usize {
    let blocks = a.chunks(BLOCK).zip(b.chunks(BLOCK)).take_while(|(x, y)| x == y).count();
    let at = (blocks * BLOCK).min(a.len()).min(b.len());
    at + a[at..].iter().zip(&b[at..]).take_while(|(x, y)| x == y).count()
}

/// The difference at `offset`: `expected` is the whole accepted body, `got` the received bytes from there on.
pub(super) fn difference(offset: usize, expected: &[u8], got: &[u8]) -> Difference {
    let expected = expected.get(offset..).unwrap_or_default();
    Difference { offset: offset as u64, expected: hex(shown(expected)), got: hex(shown(got)) }
}

fn shown(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(SHOWN)]
}

/// Lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_beginning_is_exact_around_blocks() {
        let long: Vec<u8> = (0..3 * BLOCK).map(|i| (i * 7) as u8).collect();
        for at in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK - 1] {
            let mut other = long.clone();
            other[at] ^= 1;
            assert_eq!(common(&long, &other), at);
            assert_eq!(common(&long, &long[..at]), at);
            assert_eq!(common(&other[..at], &long), at);
        }
        assert_eq!(common(&long, &long), long.len());
    }

    #[test]
    fn sixteen_bytes_are_shown_and_none_behind_the_end() {
        let body: Vec<u8> = (0..20).collect();
        let shown = difference(3, &body, &[255; 20]);
        assert_eq!((shown.offset, shown.expected.as_str()), (3, "030405060708090a0b0c0d0e0f101112"));
        assert_eq!(shown.got, "ff".repeat(16));
        assert_eq!(
            difference(18, &body, b""),
            Difference { offset: 18, expected: "1213".into(), got: String::new() }
        );
        assert_eq!(difference(20, &body, b"a").expected, "");
    }
}
