//! What is said of a response that is not as the preflight's.

use super::decode::token;
use super::expectation::Expectation;
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
