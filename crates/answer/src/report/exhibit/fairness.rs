//! The effect of slow clients on other requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::caveat::Caveat;
use weigh_model::cell::Cell;
use weigh_model::record::fairness::{LightMoment, Moment};

/// One per cell with slow clients, in the plan's order.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SlowClients(pub Vec<FairnessResult>);

/// One method of sending to this number of slow clients, over all its blocks.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FairnessResult {
    /// Its factors.
    pub cell: Cell,
    /// Blocks.
    pub rounds: u32,
    /// Bytes of the content that slow clients download.
    pub content_bytes: u64,
    /// Light requests that were scheduled.
    pub due: u64,
    /// Light requests that were answered in their block.
    pub answered: u64,
    /// Light requests that were answered within 0.1 s after their scheduled time.
    pub prompt: u64,
    /// Light requests that failed.
    pub failed: u64,
    /// Scheduled send → last byte; null if none was answered.
    pub light: Option<LightTimes>,
    /// If some were not answered: seconds of the longest block with its drain; they took longer than this.
    #[serde(default)]
    pub beyond: Option<f64>,
    /// Busy workers of the pool, median over time; null if its status could not be read.
    pub busy: Option<f64>,
    /// The most connections that waited for a worker.
    pub queue_max: Option<u32>,
    /// Bytes written to temporary files in a block, maximum over blocks.
    pub written_bytes: Option<u64>,
    /// The most memory of PHP's processes: PSS, bytes.
    pub php_pss: Option<u64>,
    /// Bytes per second that each slow client received; null without slow clients.
    pub slow_rate: Option<f64>,
    /// The effect on workers and light requests.
    pub outcome: SlowClientEffect,
    /// The last block over time.
    pub busy_over_time: Vec<Moment>,
    /// Light requests of the last block over time; empty if they were not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub light_over_time: Vec<LightMoment>,
    /// Caveats.
    pub caveats: Vec<Caveat>,
}

/// Times of the light requests of all blocks in one histogram, in seconds. Requests without a response count as slower
/// than all others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LightTimes {
    /// The number of answered requests.
    pub count: u64,
    /// The smallest time.
    pub min: f64,
    /// The mean of the answered requests.
    pub mean: f64,
    /// The standard deviation of the answered requests.
    pub sd: f64,
    /// The median; null if less than half were answered.
    pub p50: Option<f64>,
    /// The 99th percentile; null if fewer were answered.
    pub p99: Option<f64>,
    /// The largest time of the answered requests.
    pub max: f64,
    /// Percentiles: percent and seconds, as far as that share was answered.
    pub percentiles: Vec<(u32, f64)>,
}

/// The effect on workers and light requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Outcome", rename_all = "kebab-case")]
pub enum SlowClientEffect {
    /// There were no slow clients: the time of light requests alone.
    Alone,
    /// Slow clients keep no worker busy.
    Free,
    /// Slow clients keep workers busy, and the rest is enough for most light requests to be answered promptly.
    Kept,
    /// Less than half of the light requests were answered promptly.
    Starved,
}
