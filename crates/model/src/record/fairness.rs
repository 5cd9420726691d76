//! What became of light requests while slow clients took a content.

use serde::{Deserialize, Serialize};
use weigh_load::hist::Packed;

/// A block with slow clients, seen by those who are not slow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Fairness {
    /// It went over a network whose buffers are small; false: over the machine's loopback, whose buffers hide some of the effect.
    pub narrow: bool,
    /// Light requests that were due in the block.
    pub due: u64,
    /// Those that were answered before it ended.
    pub answered: u64,
    /// Those that failed: refused, reset, answered wrongly.
    pub failed: u64,
    /// Scheduled send → last byte of those that were answered.
    pub response: Packed,
    /// Downloads that slow clients had in full.
    pub slow_completed: u64,
    /// Bytes that they got.
    pub slow_bytes: u64,
    /// The pool over time; empty where its status could not be read.
    pub busy: Vec<Moment>,
    /// Most memory that PHP's processes had during the block: PSS, bytes.
    pub php_pss: Option<u64>,
}

/// The workers of a pool at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Moment {
    /// Seconds since the watch began, which is before the preflight.
    pub at: f64,
    /// Workers that carried out a request.
    pub busy: u32,
    /// Connections that waited for a worker.
    pub queue: u32,
}
