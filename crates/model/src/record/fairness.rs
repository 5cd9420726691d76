//! Light requests while slow clients download.

use serde::{Deserialize, Serialize};
use weigh_load::hist::Packed;

/// A block with slow clients, measured with light requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Fairness {
    /// Whether the network had small buffers; false: loopback, whose large buffers hide some of the effect.
    pub narrow: bool,
    /// Light requests that were scheduled in the block.
    pub due: u64,
    /// Light requests that were answered before it ended.
    pub answered: u64,
    /// Light requests that failed: refused, reset, or a wrong response.
    pub failed: u64,
    /// Scheduled send → last byte of the answered light requests.
    pub response: Packed,
    /// Downloads that slow clients completed.
    pub slow_completed: u64,
    /// Bytes that slow clients received.
    pub slow_bytes: u64,
    /// The pool over time; empty if its status could not be read.
    pub busy: Vec<Moment>,
    /// The most memory that PHP's processes had during the block: PSS, bytes.
    pub php_pss: Option<u64>,
}

/// The workers of a pool at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Moment {
    /// Seconds since the first status reading, which is before the preflight.
    pub at: f64,
    /// Busy workers.
    pub busy: u32,
    /// Connections that waited for a worker.
    pub queue: u32,
}
