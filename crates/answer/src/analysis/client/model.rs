//! What the analysis of clients hands to reports: everything is derived, nothing is measured here.

mod comparison;
mod prediction;

use serde::{Deserialize, Serialize};

pub use comparison::{Comparison, Kind, is_settled};
pub use prediction::{Advice, BreakEvenAt, LinkResult, Operation, Prediction};

use crate::analysis::model::{FaultRow, Finding, Quantity, RunFacts};
use weigh_model::caveat::Caveat;
use weigh_model::cell::Cell;
use weigh_model::payload::Payload;
use weigh_model::plan::{Exclusion, Runtime, Store};
use weigh_model::protocol::client::{Reads, Writes};
use weigh_model::record::StopReason;
use weigh_model::study::StudyText;

/// The results of one run of a study of clients.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClientAnalysis {
    /// The question and how to read the answer.
    pub study: StudyText,
    /// Facts of the run, for the heading.
    pub run: RunFacts,
    /// What was stored.
    pub payloads: Vec<Payload>,
    /// The PHP runtimes.
    pub runtimes: Vec<Runtime>,
    /// The stores.
    pub stores: Vec<Store>,
    /// The links between workers and stores that were used.
    #[serde(default)]
    pub links: Vec<LinkResult>,
    /// Every planned cell that has at least one visit, in the plan's order.
    pub cells: Vec<ClientResult>,
    /// Cells that do the same work with the same payload over the same link, in the plan's order.
    pub works: Vec<Work>,
    /// Cells beside each other that differ in one thing.
    pub comparisons: Vec<Comparison>,
    /// What the model says of a write and of a read beside what was measured; empty where no worker encodes and no link is between.
    pub predictions: Vec<Prediction>,
    /// The best setting by the model and by measurement.
    pub advice: Vec<Advice>,
    /// At which bandwidth two settings would cost the same, and which is quicker on the link that was there.
    pub break_even: Vec<BreakEvenAt>,
    /// The answer, in sentences written from the data.
    pub findings: Vec<Finding>,
    /// Cells that were planned and not measured: why.
    pub faults: Vec<FaultRow>,
    /// Cells that were planned and for which the budget did not suffice.
    pub unmeasured: Vec<String>,
    /// Cells that were never planned: why.
    pub exclusions: Vec<Exclusion>,
    /// Caveats of the whole run; those of a cell stand with the cell.
    pub caveats: Vec<Caveat>,
}

/// Cells that do the same work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Work {
    /// The payload's name.
    pub payload: String,
    /// Reads and writes, keys, workers and rate: `9:1/one*4`.
    pub work: String,
    /// The link's name; null for the machine's own loopback or a unix socket.
    pub link: Option<String>,
    /// Transactions of each worker in one block.
    pub transactions: u64,
    /// Ids of its cells, in the plan's order.
    pub cells: Vec<String>,
}

/// The published summary lines, over all rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Summary {
    /// Writes.
    pub writes: Writes,
    /// Reads, those that found nothing among them.
    pub reads: Reads,
    /// Writes and reads, failed ones among them.
    pub transactions: u64,
    /// Transactions a second of a worker: all transactions ÷ the sum of the workers' seconds; median over rounds.
    pub per_process: Option<Quantity>,
    /// Transactions a second of all workers: all transactions ÷ the longest worker's seconds; median over rounds.
    pub combined: Option<Quantity>,
}

impl Summary {
    /// Share of writes that succeeded, 0 to 1; 1 without a write.
    pub fn writes_made(&self) -> f64 {
        made(self.writes.count, self.writes.failed)
    }

    /// Share of reads that succeeded, 0 to 1; 1 without a read. A read that finds nothing is no failure.
    pub fn reads_made(&self) -> f64 {
        made(self.reads.count, self.reads.failed.saturating_add(self.reads.wrong))
    }
}

fn made(count: u64, failed: u64) -> f64 {
    if count == 0 { 1.0 } else { count.saturating_sub(failed) as f64 / count as f64 }
}

/// CPU nanoseconds a transaction: the 0.1 quantile over rounds, because neighbours on the machine only ever add CPU time. Its parts
/// are shares of it by what all rounds together spent where, so that they add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClientCpu {
    /// Workers and store together: the sum of the two figures.
    pub total: Quantity,
    /// The workers.
    pub client: Quantity,
    /// The workers in user space: PHP's own code and the driver's.
    pub client_user: Quantity,
    /// The workers in the kernel.
    pub client_system: Quantity,
    /// The store's processes; null without a process of its own.
    pub server: Option<Quantity>,
    /// The store's processes in user space.
    pub server_user: Option<Quantity>,
    /// The store's processes in the kernel.
    pub server_system: Option<Quantity>,
}

/// Times of all workers and rounds in one histogram, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CallTimes {
    /// How many there are.
    pub count: u64,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p999: f64,
    /// The largest.
    pub max: f64,
}

/// Memory of a worker in bytes: the most that any worker had in any round. Workers are fresh processes in each block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WorkerMemory {
    /// `memory_get_peak_usage()` over its life.
    pub peak: u64,
    /// `memory_get_peak_usage(true)`: what PHP had from the system.
    pub peak_real: u64,
    /// `memory_get_usage()` after the last transaction less that before the first; negative where it fell.
    pub growth: i64,
    /// PSS of its process right after the block; null where it cannot be read.
    pub pss: Option<u64>,
}

/// Serializing and encoding by the worker itself, wall time a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Coding {
    /// Nanoseconds a call, median over rounds.
    pub ns: Quantity,
    /// Share of the time inside the call, 0 to 1, over all rounds.
    pub share: f64,
}

/// The results of one cell.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClientResult {
    /// Its factors.
    pub cell: Cell,
    /// What carried the driver out, as it says.
    pub library: Option<String>,
    /// The store's version, as it says.
    pub server: Option<String>,
    /// Rounds with a transaction.
    pub rounds: u32,
    /// The published summary lines.
    pub summary: Summary,
    /// Seconds of a block from the first begin to its longest worker's last answer, median over rounds.
    pub total_seconds: Option<Quantity>,
    /// CPU time a transaction.
    pub cpu: Option<ClientCpu>,
    /// Time inside PUT.
    pub put: Option<CallTimes>,
    /// Time inside GET.
    pub get: Option<CallTimes>,
    /// From the scheduled send of a write to its answer; null in a closed loop.
    pub put_response: Option<CallTimes>,
    /// From the scheduled send of a read to its answer; null in a closed loop.
    pub get_response: Option<CallTimes>,
    /// Scheduled and never sent, all rounds together.
    pub dropped: u64,
    /// Bytes that the driver was given for one value; null where that is no text.
    pub stored_bytes: Option<u64>,
    /// Memory of a worker.
    pub memory: Option<WorkerMemory>,
    /// Most memory that the store's processes had after a block: PSS, bytes.
    pub server_pss: Option<u64>,
    /// Seconds between the first begin and the last begin of a worker, median over rounds.
    pub skew: f64,
    /// Share of the workers' CPU time that is their own loop, 0 to 1, median over rounds.
    pub own_share: Option<f64>,
    /// Serializing and encoding inside PUT; null where the worker does not encode.
    pub encode: Option<Coding>,
    /// Decoding and unserializing inside GET; null where the worker does not encode.
    pub decode: Option<Coding>,
    /// Why it was no longer visited; null while the run goes on.
    pub stop: Option<StopReason>,
    /// What to keep in mind.
    pub caveats: Vec<Caveat>,
}

impl ClientResult {
    /// CPU nanoseconds a transaction of workers and store.
    pub fn cpu_ns(&self) -> Option<f64> {
        self.cpu.as_ref().map(|cpu| cpu.total.value)
    }

    /// Transactions a second of all workers.
    pub fn combined(&self) -> Option<f64> {
        self.summary.combined.map(|rate| rate.value)
    }
}
