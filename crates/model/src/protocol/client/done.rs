//! The report of a client worker on a block of transactions.

use serde::{Deserialize, Serialize};

/// The answer to [`super::ClientRequest::Go`]: one worker's block.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Done {
    pub id: u64,
    /// Seconds since the epoch at the first send.
    pub began: f64,
    /// Seconds since the epoch at the last answer.
    pub ended: f64,
    /// Seconds between the two, by the monotonic clock.
    pub seconds: f64,
    /// CPU time of the process in user space, nanoseconds.
    pub cpu_user_ns: u64,
    /// CPU time of the process in the kernel, nanoseconds.
    pub cpu_system_ns: u64,
    #[serde(default)]
    pub voluntary: u64,
    #[serde(default)]
    pub involuntary: u64,
    pub writes: Writes,
    pub reads: Reads,
    pub put: Bins,
    pub get: Bins,
    /// From the scheduled send of a write to its answer.
    pub put_response: Option<Bins>,
    /// From the scheduled send of a read to its answer.
    pub get_response: Option<Bins>,
    /// Nanoseconds that the worker polled its clock before scheduled sends; part of its CPU time.
    #[serde(default)]
    pub spin_ns: u64,
    /// Nanoseconds of serializing and encoding, inside PUT.
    #[serde(default)]
    pub encode_ns: u64,
    /// Nanoseconds of decoding and unserializing, inside GET.
    #[serde(default)]
    pub decode_ns: u64,
    /// Scheduled transactions that were never sent.
    #[serde(default)]
    pub dropped: u64,
    pub memory: Memory,
    /// CPU nanoseconds per transaction that the worker's own loop takes.
    pub own_ns: f64,
    #[serde(default)]
    pub faults: Vec<Failed>,
    /// Why the block was aborted; null: it was not.
    pub aborted: Option<String>,
}

/// Writes of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Writes {
    /// All writes, with failed ones.
    pub count: u64,
    /// Failed writes.
    pub failed: u64,
}

/// Reads of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Reads {
    /// All reads, with failed ones.
    pub count: u64,
    /// Failed reads.
    pub failed: u64,
    /// Reads that found a value.
    pub hits: u64,
    /// Reads that found nothing.
    pub misses: u64,
    /// Reads that found another value than was written.
    pub wrong: u64,
}

/// A worker's histogram, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Bins {
    pub count: u64,
    pub min: u64,
    pub max: u64,
    /// The sum of all values.
    pub sum: u64,
    /// The middle of each bin with the number of its values.
    pub bins: Vec<(u64, u64)>,
}

/// Memory of a worker as PHP's memory manager reports it, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Memory {
    /// `memory_get_usage()` before the first transaction.
    pub begin: u64,
    /// `memory_get_usage()` after the last transaction.
    pub end: u64,
    /// `memory_get_peak_usage()` of the whole process.
    pub peak: u64,
    /// `memory_get_peak_usage(true)`: memory requested from the system.
    pub peak_real: u64,
    /// The part of the first three that the worker's own tables take, as it reports; subtracted in records.
    #[serde(default, skip_serializing)]
    pub own: u64,
}

impl Memory {
    /// The figures without the worker's own tables, whose size differs between versions of PHP.
    #[must_use]
    pub fn without_own(self) -> Memory {
        let less = |bytes: u64| bytes.saturating_sub(self.own);
        Memory { begin: less(self.begin), end: less(self.end), peak: less(self.peak), own: 0, ..self }
    }
}

/// A failure with its count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Failed {
    /// The message, one line.
    pub message: String,
    /// Number of occurrences.
    pub count: u64,
}
