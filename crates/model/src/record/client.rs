//! What one visit to a client cell observed: a block of transactions by PHP workers with a store; all workers start
//! together.

use serde::{Deserialize, Serialize};
use weigh_stats::hist::Packed;

use super::delivery::Switches;
use crate::caveat::Caveat;
use crate::link::Measured;
use crate::protocol::client::{Failed, Memory, Reads, Writes};

/// A caveat appears if the worker's own loop takes a larger share of its CPU time.
const OWN: f64 = 0.05;

/// One block. Counters are over all workers. Values that cannot be read are null, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClientVisit {
    /// The part of each worker, by worker number.
    pub workers: Vec<WorkerVisit>,
    /// Seconds between the first start and the last start of a worker.
    pub skew: f64,
    /// Writes.
    pub writes: Writes,
    /// Reads.
    pub reads: Reads,
    /// Scheduled transactions that were never sent.
    pub dropped: u64,
    /// Time inside PUT: nanoseconds from send to answer, encoding included where the worker encodes.
    pub put: Packed,
    /// Time inside GET.
    pub get: Packed,
    /// From the scheduled send of a write to its answer; null in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub put_response: Option<Packed>,
    /// From the scheduled send of a read to its answer; null in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub get_response: Option<Packed>,
    /// Nanoseconds of serializing and encoding, inside PUT, of all writes.
    pub encode_ns: u64,
    /// Nanoseconds of decoding and unserializing, inside GET, of all reads.
    pub decode_ns: u64,
    /// CPU nanoseconds of the workers in user space.
    pub client_user_ns: u64,
    /// CPU nanoseconds of the workers in the kernel.
    pub client_system_ns: u64,
    /// CPU nanoseconds of the store's processes in user space, from the first start to the last answer; null if the
    /// store has no process of its own.
    pub server_user_ns: Option<u64>,
    /// CPU nanoseconds of the store's processes in the kernel.
    pub server_system_ns: Option<u64>,
    /// Memory of the store's processes right after the block: PSS, bytes.
    pub server_pss: Option<u64>,
    /// Context switches of the workers.
    pub switches: Switches,
    /// CPU nanoseconds per transaction that the worker's own loop takes, mean of the workers.
    pub own_ns: f64,
    /// Bytes that the driver got for one value; null if the value is not a string.
    pub stored_bytes: Option<u64>,
    /// The library or extension that the driver used, as reported.
    pub library: Option<String>,
    /// The store's version, as reported.
    pub server: Option<String>,
    /// The link between workers and store as measured before its first use; null without a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Box<Measured>>,
    /// Failures by message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Failed>,
}

/// One worker in a block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WorkerVisit {
    /// Transactions, with failed ones.
    pub transactions: u64,
    /// Seconds from its first send to its last answer.
    pub seconds: f64,
    /// PHP's memory.
    pub memory: Memory,
    /// Memory of its process right after the block: PSS, bytes.
    pub pss: Option<u64>,
}

impl ClientVisit {
    /// Transactions of all workers, with failed ones.
    pub fn transactions(&self) -> u64 {
        self.writes.count + self.reads.count
    }

    /// Transactions that failed or returned another value than was written.
    pub fn failed(&self) -> u64 {
        self.writes.failed + self.reads.failed + self.reads.wrong
    }

    /// Transactions per second of one worker, as published: all transactions ÷ the sum of the workers' seconds.
    pub fn tps_per_process(&self) -> Option<f64> {
        let seconds: f64 = self.workers.iter().map(|w| w.seconds).sum();
        (seconds > 0.0).then(|| self.transactions() as f64 / seconds)
    }

    /// Transactions per second of all workers together: all transactions ÷ the seconds of the slowest worker.
    pub fn tps_combined(&self) -> Option<f64> {
        let seconds = self.seconds();
        (seconds > 0.0).then(|| self.transactions() as f64 / seconds)
    }

    /// The seconds of the slowest worker.
    pub fn seconds(&self) -> f64 {
        self.workers.iter().map(|w| w.seconds).fold(0.0, f64::max)
    }

    /// CPU nanoseconds of workers and store per transaction; none without a transaction.
    pub fn cpu_ns(&self) -> Option<f64> {
        let store = self.server_user_ns.unwrap_or(0) + self.server_system_ns.unwrap_or(0);
        self.a_transaction((self.client_user_ns + self.client_system_ns + store) as f64)
    }

    /// The share of the workers' CPU time that their own loop takes; none without a transaction.
    fn own_share(&self) -> Option<f64> {
        let client = self.a_transaction((self.client_user_ns + self.client_system_ns) as f64);
        client.filter(|ns| *ns > 0.0).map(|ns| self.own_ns / ns)
    }

    /// A total of the block per transaction; none without a transaction.
    pub fn a_transaction(&self, total: f64) -> Option<f64> {
        let all = self.transactions();
        (all > 0).then(|| total / all as f64)
    }
}

/// Caveats of a cell after these visits.
pub fn caveats(visits: &[&ClientVisit]) -> Vec<Caveat> {
    let sum = |of: fn(&ClientVisit) -> u64| visits.iter().map(|v| of(v)).fold(0, u64::saturating_add);
    let (transactions, failed) = (sum(ClientVisit::transactions), sum(ClientVisit::failed));
    let failed = visits.iter().find_map(|v| v.faults.first()).map(|first| Caveat::FailedTransactions {
        failed,
        transactions,
        example: first.message.clone(),
    });
    let (misses, reads, dropped) = (sum(|v| v.reads.misses), sum(|v| v.reads.count), sum(|v| v.dropped));
    let evicted = (misses > 0).then(|| Caveat::Evicted { share: misses as f64 / reads.max(1) as f64 });
    let dropped =
        (dropped > 0).then(|| Caveat::Dropped { dropped, scheduled: dropped.saturating_add(transactions) });
    let own = visits.iter().filter_map(|v| v.own_share()).find(|share| *share > OWN);
    [failed, evicted, dropped, own.map(|share| Caveat::OwnOverhead { share })].into_iter().flatten().collect()
}
