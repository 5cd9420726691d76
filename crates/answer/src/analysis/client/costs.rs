//! What one cell costs, round by round: CPU time by whom it falls on, rates, times inside calls, and memory.

use weigh_load::hist::Packed;
use weigh_stats::{Drawings, median_interval};

use crate::analysis::cost::Cost;
use crate::analysis::gather::Measured;
use crate::analysis::model::Quantity;
use crate::analysis::{CONFIDENCE, QUANTILE};
use weigh_model::record::ClientVisit;

/// Rates and wall times are summed up by their median: neighbours slow a block down as often as the workers' own luck does.
const MEDIAN: f64 = 0.5;

/// Amounts of one cell over rounds. What was not observed is `None`.
pub(super) struct Costs {
    /// CPU nanoseconds a transaction of workers and store.
    pub cpu: Option<Cost>,
    /// The workers'.
    pub client: Option<Cost>,
    /// The share of that in user space.
    pub client_user: Quantity,
    /// The store's.
    pub server: Option<Cost>,
    /// The share of that in user space.
    pub server_user: Quantity,
    /// Transactions a second of all workers.
    pub combined: Option<Cost>,
    /// Transactions a second of a worker.
    pub per_process: Option<Cost>,
    /// Seconds of the longest worker.
    pub seconds: Option<Cost>,
    /// Most that a worker's `memory_get_peak_usage()` was, bytes.
    pub memory: Option<Cost>,
    /// Most that the PSS of a worker was, bytes.
    pub pss: Option<Cost>,
    /// Median nanoseconds inside PUT.
    pub put: Option<Cost>,
    /// Median nanoseconds inside GET.
    pub get: Option<Cost>,
    /// Mean nanoseconds inside PUT.
    pub put_mean: Option<Cost>,
    /// Mean nanoseconds inside GET.
    pub get_mean: Option<Cost>,
    /// Nanoseconds of serializing and encoding a write.
    pub encode: Option<Cost>,
    /// Nanoseconds of decoding and unserializing a read.
    pub decode: Option<Cost>,
}

impl Costs {
    /// Of the visits of one cell.
    pub fn of(measured: &Measured, drawings: &Drawings, seed: u64) -> Costs {
        let over = |p: f64, amount: &dyn Fn(&ClientVisit) -> Option<f64>| {
            Cost::over_rounds(rounds(measured, amount), p, drawings, seed)
        };
        let client = over(QUANTILE, &|v| v.a_transaction((v.client_user_ns + v.client_system_ns) as f64));
        let server = over(QUANTILE, &|v| v.a_transaction((v.server_user_ns? + v.server_system_ns?) as f64));
        let cpu = match (&client, &server) {
            (Some(client), Some(server)) => Some(client.plus(server)),
            (client, _) => client.clone(),
        };
        let is_encoded = measured.cell.client.as_ref().is_some_and(|client| client.encoded);
        let coding = |ns: u64, calls: u64| (is_encoded && calls > 0).then(|| ns as f64 / calls as f64);
        let most = |of: &dyn Fn(&weigh_model::record::client::WorkerVisit) -> Option<u64>,
                    v: &ClientVisit| {
            v.workers.iter().filter_map(of).max().filter(|bytes| *bytes > 0).map(|bytes| bytes as f64)
        };
        Costs {
            cpu,
            client_user: share(measured, seed, |v| (v.client_user_ns, v.client_system_ns)),
            server_user: share(measured, seed, |v| {
                (v.server_user_ns.unwrap_or(0), v.server_system_ns.unwrap_or(0))
            }),
            client,
            server,
            combined: over(MEDIAN, &ClientVisit::tps_combined),
            per_process: over(MEDIAN, &ClientVisit::tps_per_process),
            seconds: over(MEDIAN, &|v| Some(v.seconds())),
            memory: over(MEDIAN, &|v| most(&|w| Some(w.memory.peak), v)),
            pss: over(MEDIAN, &|v| most(&|w| w.pss, v)),
            put: over(MEDIAN, &|v| middle(&v.put)),
            get: over(MEDIAN, &|v| middle(&v.get)),
            put_mean: over(MEDIAN, &|v| mean(&v.put)),
            get_mean: over(MEDIAN, &|v| mean(&v.get)),
            encode: over(MEDIAN, &|v| coding(v.encode_ns, v.writes.count)),
            decode: over(MEDIAN, &|v| coding(v.decode_ns, v.reads.hits)),
        }
    }
}

fn middle(packed: &Packed) -> Option<f64> {
    packed.unpack().ok()?.quantile(0.5).map(|seconds| seconds * 1e9)
}

fn mean(packed: &Packed) -> Option<f64> {
    packed.unpack().ok()?.mean().map(|seconds| seconds * 1e9)
}

/// The visits of a cell with a transaction, ascending by round.
pub(super) fn visits<'a>(measured: &'a Measured) -> impl Iterator<Item = (u32, &'a ClientVisit)> {
    let visits = measured.visits.iter().filter_map(|v| Some((v.round, v.client.as_deref()?)));
    visits.filter(|(_, visit)| visit.transactions() > 0)
}

/// (round, amount) of the rounds with a transaction and an amount that can be, ascending by round.
fn rounds(measured: &Measured, amount: &dyn Fn(&ClientVisit) -> Option<f64>) -> Vec<(u32, f64)> {
    visits(measured)
        .filter_map(|(round, visit)| Some((round, amount(visit)?)))
        .filter(|(_, amount)| (0.0..1e18).contains(amount))
        .collect()
}

/// The first of two parts ÷ both, of all rounds together, with the interval of the rounds' own shares. Clocks tell user from kernel
/// time by ticks, so that a round by itself is off, while the sum of the two is exact.
fn share(measured: &Measured, seed: u64, of: fn(&ClientVisit) -> (u64, u64)) -> Quantity {
    let parts: Vec<(f64, f64)> =
        visits(measured).map(|(_, v)| of(v)).map(|(a, b)| (a as f64, b as f64)).collect();
    let (first, both) = parts.iter().fold((0.0, 0.0), |(first, both), (a, b)| (first + a, both + a + b));
    let value = if both > 0.0 { first / both } else { 0.0 };
    let shares: Vec<f64> = parts.iter().filter(|(a, b)| a + b > 0.0).map(|(a, b)| a / (a + b)).collect();
    match median_interval(&shares, CONFIDENCE, seed) {
        Some(interval) => Quantity { value, low: interval.low.min(value), high: interval.high.max(value) },
        None => Quantity { value, low: value, high: value },
    }
}
