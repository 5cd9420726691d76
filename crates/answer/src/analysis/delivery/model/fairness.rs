//! What slow clients do to everybody else, as reports are given it.

use serde::{Deserialize, Serialize};

use super::Times;
use weigh_model::caveat::Caveat;
use weigh_model::cell::Cell;
use weigh_model::record::fairness::Moment;

/// One way of sending to so many slow clients, over all its blocks.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FairnessResult {
    /// Its factors.
    pub cell: Cell,
    /// Blocks.
    pub rounds: u32,
    /// Bytes of the content that slow clients take.
    pub content_bytes: u64,
    /// Light requests that were due.
    pub due: u64,
    /// Those that were answered in their block.
    pub answered: u64,
    /// Those that were answered within 0.1 s of the moment at which they were due.
    pub prompt: u64,
    /// Those that failed.
    pub failed: u64,
    /// Scheduled send → last byte of those that were answered; null when none was.
    pub light: Option<Times>,
    /// Workers of the pool that carried out a request, median over time; null where its status could not be read.
    pub busy: Option<f64>,
    /// Most connections that waited for a worker.
    pub queue_max: Option<u32>,
    /// Bytes written to temporary files in a block, most of all blocks.
    pub written_bytes: Option<u64>,
    /// Most memory of PHP's processes: PSS, bytes.
    pub php_pss: Option<u64>,
    /// Bytes a second that each slow client got; null without one.
    pub slow_rate: Option<f64>,
    /// What became of the workers and the light requests.
    pub outcome: Outcome,
    /// The last block over time.
    pub busy_over_time: Vec<Moment>,
    /// What to keep in mind.
    pub caveats: Vec<Caveat>,
}

/// What became of workers and light requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// There were no slow clients: what light requests take by themselves.
    Alone,
    /// Slow clients keep no worker.
    Free,
    /// Slow clients keep workers, and there are enough for most light requests to be answered promptly.
    Kept,
    /// Less than half of the light requests were answered promptly.
    Starved,
}
