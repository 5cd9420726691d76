//! What a response must be, and whether it is.
//!
//! A preflight tells what the server sends for each request ([`Examiner`]); that becomes an [`Expectation`] a request: one body
//! or a few, a body with parts that vary, or what can be asked of bodies that have nothing in common. While
//! the load runs, each thread's [`Verifier`] compares every body, as it arrives, with the bodies that are accepted on the
//! wire. What equals none of them is not wrong yet, for a server may cut or flush its blocks otherwise: it is kept, and
//! one [`Decoder`] thread off the timing path decodes it, takes it up among the accepted ones, or finds the fault.
//!
//! This room reads no socket and counts nothing: the engine feeds it and records its verdicts. Everything it keeps of a
//! server's bytes is bounded.

mod changes;
mod checker;
mod decode;
mod decoder;
mod examine;
mod expectation;
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
pub use verifier::{Outcome, Proof, Verifier};

#[cfg(test)]
mod tests;
