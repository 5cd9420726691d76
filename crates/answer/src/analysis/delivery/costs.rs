//! What one cell costs, round by round: CPU time by whom it falls on, and the rate.

use weigh_stats::Drawings;

use crate::analysis::QUANTILE;
use crate::analysis::cost::Cost;
use crate::analysis::gather::Measured;
use weigh_model::record::DeliveryVisit;

/// A rate is summed up by its median: neighbours slow a block down as often as the server's own luck does.
const MEDIAN: f64 = 0.5;

/// Amounts of one cell over rounds. What was not observed is `None`.
pub(super) struct Costs {
    /// CPU nanoseconds a response of server and PHP.
    pub cpu: Option<Cost>,
    /// The server's part.
    pub server: Option<Cost>,
    /// PHP's part.
    pub php: Option<Cost>,
    /// The generator's.
    pub client: Option<Cost>,
    /// Responses a second.
    pub rate: Option<Cost>,
    /// Bytes a second over the connections.
    pub transfer: Option<Cost>,
    /// Seconds a response, wall time of a block ÷ its responses.
    pub seconds: Option<Cost>,
}

impl Costs {
    /// Of the visits of one cell.
    pub fn of(measured: &Measured, drawings: &Drawings, seed: u64) -> Costs {
        let over = |p: f64, amount: &dyn Fn(&DeliveryVisit) -> Option<f64>| {
            Cost::over_rounds(rounds(measured, amount), p, drawings, seed)
        };
        let server = over(QUANTILE, &|v| v.a_response(v.server_cpu_ns? as f64));
        let php = over(QUANTILE, &|v| v.a_response(v.php_cpu_ns? as f64));
        let cpu = match (&server, &php) {
            (Some(server), Some(php)) => Some(server.plus(php)),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        let a_second = |v: &DeliveryVisit, total: f64| (v.seconds > 0.0).then(|| total / v.seconds);
        Costs {
            cpu,
            server,
            php,
            client: over(MEDIAN, &|v| v.a_response(v.client_cpu_ns as f64)),
            rate: over(MEDIAN, &|v| a_second(v, v.requests as f64)),
            transfer: over(MEDIAN, &|v| a_second(v, v.wire_bytes as f64)),
            seconds: over(MEDIAN, &|v| v.a_response(v.seconds)),
        }
    }
}

/// (round, amount) of the rounds with a response and an amount that can be, ascending by round.
fn rounds(measured: &Measured, amount: &dyn Fn(&DeliveryVisit) -> Option<f64>) -> Vec<(u32, f64)> {
    measured
        .visits
        .iter()
        .filter_map(|v| Some((v.round, v.delivery.as_deref().filter(|d| d.requests > 0).and_then(amount)?)))
        .filter(|(_, amount)| (0.0..1e18).contains(amount))
        .collect()
}
