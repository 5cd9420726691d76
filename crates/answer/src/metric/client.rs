//! The ids of the metrics of clients, and where they are read from a row.

use weigh_model::client::Client;

use crate::row::Row;
use crate::text::clean;

/// Transactions per second of all workers.
pub const COMBINED: &str = "combined-rate";

/// Transactions per second of a worker.
pub const PER_PROCESS: &str = "process-rate";

/// Seconds of the slowest worker.
pub const SECONDS: &str = "block-seconds";

/// CPU time per transaction of workers and store.
pub const CPU: &str = "cpu";

/// CPU time per transaction of the workers.
pub const CLIENT_CPU: &str = "client-cpu";

/// CPU time per transaction of the store's processes.
pub const STORE_CPU: &str = "store-cpu";

/// Rounds in which the CPU time of a store that the program does not start could not be read.
pub const UNMETERED: &str = "store-unmetered";

/// Serializing and encoding inside a write.
pub const ENCODE: &str = "encode";

/// Decoding and unserializing inside a read.
pub const DECODE: &str = "decode";

/// The median time inside PUT of a round.
pub const PUT_MIDDLE: &str = "put-round-p50";

/// The median time inside GET of a round.
pub const GET_MIDDLE: &str = "get-round-p50";

/// The mean time inside PUT of a round.
pub const PUT_MEAN: &str = "put-round-mean";

/// The mean time inside GET of a round.
pub const GET_MEAN: &str = "get-round-mean";

/// `memory_get_peak_usage()` of a worker: the maximum over rounds.
pub const PEAK: &str = "peak-memory";

/// The same as median over rounds.
pub const PEAK_MIDDLE: &str = "peak-memory-round";

/// PSS of a worker: the maximum over rounds.
pub const PSS: &str = "worker-pss";

/// The same as median over rounds.
pub const PSS_MIDDLE: &str = "worker-pss-round";

/// PSS of the store's processes.
pub const STORE_PSS: &str = "store-pss";

/// Bytes that the driver got for one value.
pub const STORED: &str = "stored-bytes";

/// `9:1/one*4`, cleaned; over a link `9:1/one*4 over 100mbit/20ms`.
pub fn work(row: &Row) -> String {
    let of = |client: &Client| clean(&format!("{}{}", client.work(), over(client.link.as_deref())));
    row.cell.client.as_ref().map(of).unwrap_or_default()
}

/// ` over 100mbit/20ms`; nothing without a link.
pub fn over(link: Option<&str>) -> String {
    link.map_or(String::new(), |link| format!(" over {link}"))
}

/// A time from the schedule, in seconds: of reads, otherwise of writes.
pub fn due(row: &Row, part: &str) -> Option<f64> {
    row.value(&format!("get-due-{part}")).or_else(|| row.value(&format!("put-due-{part}")))
}
