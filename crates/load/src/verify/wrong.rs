//! What is said of a response that is not as the preflight's.

use std::ops::RangeInclusive;

use super::decode::token;
use super::expectation::Expectation;
use crate::escape::shown as escaped;
use crate::fault::{Difference, Fault, FaultKind};
use crate::protocol::coding::Coding;

/// A status that is not the preflight's.
#[cold]
pub(super) fn status(got: u16, expected: &Expectation) -> Fault {
    Fault::new(FaultKind::Status, format!("status {got}, where the preflight's is {}", expected.status))
}

/// A content coding that the preflight did not see.
#[cold]
pub(super) fn coding(got: Coding, expected: &Expectation) -> Fault {
    let accepted: Vec<&str> = expected.codings.iter().map(|c| token(*c)).collect();
    let message = format!("{}, where the preflight's is {}", token(got), accepted.join(" or "));
    Fault::new(FaultKind::ContentCoding, message)
}

/// A media type that the preflight did not see.
#[cold]
pub(super) fn media_type(got: &[u8], expected: &[u8]) -> Fault {
    let name = |value: &[u8]| if value.is_empty() { "none".to_owned() } else { escaped(value) };
    let message = format!("Content-Type {}, where the preflight's is {}", name(got), name(expected));
    Fault::new(FaultKind::ContentType, message)
}

/// A length that is far from all that the preflight saw.
#[cold]
pub(super) fn implausible(got: u64, plausible: &RangeInclusive<u64>) -> Fault {
    let (least, most) = (plausible.start(), plausible.end());
    let message = format!("a body of {got} bytes, where {least} to {most} are plausible by the preflight");
    Fault::new(FaultKind::Length, message)
}

/// A body that lacks what all of the preflight's have.
#[cold]
pub(super) fn part(at: usize, bytes: u64) -> Fault {
    let message = format!(
        "a body of {bytes} bytes after decoding lacks a part that every response of the preflight has from byte {at} on"
    );
    Fault::new(FaultKind::Mismatch, message)
}

/// A body that is too long to be kept, and therefore none of those that were.
#[cold]
pub(super) fn too_long(got: u64, limit: u64) -> Fault {
    let message = format!("a body of {got} bytes, where the preflight's has less than the limit of {limit}");
    Fault::new(FaultKind::Length, message)
}

/// Another length than that of every response of the preflight.
#[cold]
pub(super) fn length(got: u64, expected: u64) -> Fault {
    let message = format!(
        "a body of {got} bytes, where all of the preflight's have {expected}; \
         if bodies may differ, say so with `--vary-by body`"
    );
    Fault::new(FaultKind::Length, message)
}

/// A body without coding that is not the accepted one: it ends early, goes on, or says something else.
pub(super) fn body(difference: Difference, length: u64, expected: u64) -> Fault {
    let (kind, message) = if difference.offset == length.min(expected) {
        (FaultKind::Length, format!("a body of {length} bytes, where the preflight's has {expected}"))
    } else {
        (
            FaultKind::Mismatch,
            format!("another body than the preflight's, from byte {} on", difference.offset),
        )
    };
    Fault { kind, message, difference: Some(difference) }
}

/// Bytes that are shown of either body.
pub(super) const SHOWN: usize = 16;
/// Bodies are compared in blocks before they are in bytes.
const BLOCK: usize = 512;

/// How many bytes both begin with.
pub(super) fn common(a: &[u8], b: &[u8]) -> usize {
    let blocks = a.chunks(BLOCK).zip(b.chunks(BLOCK)).take_while(|(x, y)| x == y).count();
    let at = (blocks * BLOCK).min(a.len()).min(b.len());
    at + a[at..].iter().zip(&b[at..]).take_while(|(x, y)| x == y).count()
}

/// The difference at `offset`: `expected` is the whole accepted body, `got` what came from there on.
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
