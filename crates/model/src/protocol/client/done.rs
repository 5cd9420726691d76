//! What a client worker says of a block of transactions.

use serde::{Deserialize, Serialize};

/// The answer to [`super::ClientRequest::Go`]: one worker's block.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Done {
    /// Echo of the request.
    pub id: u64,
    /// Seconds since the epoch of the first send.
    pub began: f64,
    /// Seconds since the epoch of the last answer.
    pub ended: f64,
    /// Seconds between the two, by the clock that only goes forward.
    pub seconds: f64,
    /// CPU time of the process in user space, nanoseconds.
    pub cpu_user_ns: u64,
    /// CPU time in the kernel.
    pub cpu_system_ns: u64,
    /// Context switches by waiting.
    #[serde(default)]
    pub voluntary: u64,
    /// Context switches by being preempted.
    #[serde(default)]
    pub involuntary: u64,
    /// Writes.
    pub writes: Writes,
    /// Reads.
    pub reads: Reads,
    /// Time inside PUT.
    pub put: Bins,
    /// Time inside GET.
    pub get: Bins,
    /// From the scheduled send of a write to its answer.
    #[serde(default)]
    pub put_response: Option<Bins>,
    /// From the scheduled send of a read to its answer.
    #[serde(default)]
    pub get_response: Option<Bins>,
    /// Nanoseconds that the worker looked at its clock before scheduled sends; they are in its CPU time.
    #[serde(default)]
    pub spin_ns: u64,
    /// Nanoseconds of serializing and encoding, inside PUT.
    #[serde(default)]
    pub encode_ns: u64,
    /// Nanoseconds of decoding and unserializing, inside GET.
    #[serde(default)]
    pub decode_ns: u64,
    /// Scheduled and never sent.
    #[serde(default)]
    pub dropped: u64,
    /// Memory.
    pub memory: Memory,
    /// CPU nanoseconds of a transaction that are the loop's own.
    pub own_ns: f64,
    /// What failed, by message.
    #[serde(default)]
    pub faults: Vec<Failed>,
    /// Given up: why.
    #[serde(default)]
    pub aborted: Option<String>,
}

/// Writes of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Writes {
    /// Made, failed ones among them.
    pub count: u64,
    /// Failed.
    pub failed: u64,
}

/// Reads of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Reads {
    /// Made, failed ones among them.
    pub count: u64,
    /// Failed.
    pub failed: u64,
    /// Found.
    pub hits: u64,
    /// Not found.
    pub misses: u64,
    /// Another value came than was written.
    pub wrong: u64,
}

/// A histogram as a worker has it, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Bins {
    /// Values.
    pub count: u64,
    /// The smallest.
    pub min: u64,
    /// The largest.
    pub max: u64,
    /// The sum.
    pub sum: u64,
    /// The middle of each bin, and how many values are in it.
    pub bins: Vec<(u64, u64)>,
}

/// What PHP's memory manager says of a worker, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Memory {
    /// `memory_get_usage()` before the first transaction.
    pub begin: u64,
    /// The same after the last.
    pub end: u64,
    /// `memory_get_peak_usage()` over the process's life.
    pub peak: u64,
    /// `memory_get_peak_usage(true)`: what it had from the system.
    pub peak_real: u64,
    /// What the worker's own tables hold of the first three, as it says; taken off in records.
    #[serde(default, skip_serializing)]
    pub own: u64,
}

impl Memory {
    /// Less what the worker's own tables hold, which differs between versions of PHP.
    #[must_use]
    pub fn without_own(self) -> Memory {
        let less = |bytes: u64| bytes.saturating_sub(self.own);
        Memory { begin: less(self.begin), end: less(self.end), peak: less(self.peak), own: 0, ..self }
    }
}

/// What failed, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Failed {
    /// One line.
    pub message: String,
    /// How often.
    pub count: u64,
}
