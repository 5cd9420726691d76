//! Checks whether a response is what it must be.
//!
//! A preflight shows what the server sends for each request ([`Examiner`]). That becomes an [`Expectation`] per
//! request: one body or a few, a body with parts that vary, or what can be checked of bodies that have nothing in
//! common. During the load, each thread's [`Verifier`] compares every body, as it arrives, with the accepted bodies as
//! transferred. A body that equals none of them may still be correct, because a server may cut or flush its blocks
//! differently: it is kept. One [`Decoder`] thread, outside the timed path, decodes it and either adds it to the
//! accepted bodies or finds the failure.
//!
//! This module reads no socket and counts nothing: the engine feeds it and records its verdicts. The memory for a
//! server's bytes is limited.

mod changes;
mod checker;
mod decode;
mod decoder;
mod examine;
mod expectation;
mod finding;
mod inner;
mod template;
mod variants;
mod verifier;
mod wrong;

pub use crate::compare::unequal;
pub use checker::{Checker, Evidence, Verdict};
pub use decoder::Decoder;
pub(crate) use examine::KEPT;
pub use examine::{Body, Captured, Examiner};
pub use expectation::{Expectation, Expectations};
pub use inner::{is_text, is_text_type, still_compressed};
pub use verifier::{JudgedResponse, Proof, Verifier};

#[cfg(test)]
mod tests;
