//! Light requests while slow clients download.

use serde::{Deserialize, Serialize};
use weigh_stats::hist::Packed;

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
    /// Light requests over time, by when they were answered. Empty if a slow client completed its download, because
    /// its time cannot be told from theirs, and in records of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub light: Vec<LightMoment>,
    /// The most memory that PHP's processes had during the block: PSS, bytes.
    pub php_pss: Option<u64>,
}

/// Light requests that were answered within a short time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LightMoment {
    /// Seconds from the start of the block to the start of this time.
    pub at: f64,
    /// Its length in seconds.
    pub seconds: f64,
    /// Light requests that were answered in it.
    pub answered: u64,
    /// Their median response time in seconds; null if none was answered.
    pub p50: Option<f64>,
    /// Their longest response time in seconds; null if none was answered.
    pub longest: Option<f64>,
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
