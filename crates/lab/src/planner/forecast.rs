//! How long a plan will take: from nominal figures, before anything was measured.

use weigh_model::cell::Cell;
use weigh_model::client::Client;
use weigh_model::link::{LinkSpec, TCP_PAYLOAD};
use weigh_model::plan::Plan;
use weigh_model::protocol::CodecDescription;
use weigh_model::way::{WayDescription, WayKind};

/// A codec that says nothing about its speed is taken for this fast, in MB/s.
const UNKNOWN_MB_S: f64 = 50.0;
/// What one visit costs beside the codec: pipes, the record, the check.
const VISIT_SECONDS: f64 = 0.002;
/// What a response costs beside its bytes, in seconds: the server's part, and PHP's.
const RESPONSE_SECONDS: (f64, f64) = (0.0001, 0.0004);
/// What a transaction with a store costs beside its bytes, in seconds.
const TRANSACTION_SECONDS: f64 = 0.00004;
/// Bytes a second that go to a store and through a codec, roughly.
const STORED: (f64, f64) = (500e6, 60e6);
/// What a visit to a client costs beside its block: workers, connections, the warm-up, now and then the start of a store.
const CLIENT_SECONDS: f64 = 0.35;
/// Bytes a second that are sent where nothing is done to them.
const SENT: f64 = 1e9;
/// Packets that a new connection sends before it hears of them.
const FIRST_WINDOW: f64 = 10.0;
/// How long a block of requests is to last, in seconds.
const BLOCK_SECONDS: f64 = 0.4;
/// What a visit to a delivery costs beside its block: preflight, meters, now and then the start of a server.
const DELIVERY_SECONDS: f64 = 0.08;
/// How long a block with slow clients lasts, in seconds.
pub const WATCHED_SECONDS: f64 = 4.0;
/// Blocks with slow clients that a cell gets: they show who waits for whom, and not a figure of three digits.
pub const WATCHED_ROUNDS: u32 = 2;
/// Requests of a preflight, which are metered too.
pub const PREFLIGHTS: u64 = weigh_load::engine::PREFLIGHTS as u64;
/// Requests of the longest block.
const BLOCK_REQUESTS: f64 = 20_000.0;
/// Calls in a first visit: verified, measured for memory, and sampled.
const FIRST_VISIT_CALLS: f64 = 3.0;

/// Expected CPU seconds of one encode and one decode of `bytes`.
pub fn one_pass_seconds(codec: &CodecDescription, level: Option<i32>, bytes: u64) -> f64 {
    let rate = nominal_rate(&codec.nominal, level.or(codec.levels.as_ref().map(|l| l.default)).unwrap_or(0));
    // Decoders run several times faster than encoders; a tenth of a gigabyte a second is the slow end.
    let decode = rate.max(100.0) * 3.0;
    bytes as f64 / 1e6 * (1.0 / rate + 1.0 / decode)
}

/// Expected CPU seconds of one response of `bytes`.
pub fn response_seconds(way: &WayDescription, level: Option<i32>, bytes: u64, php: bool) -> f64 {
    let bare = RESPONSE_SECONDS.0 + if php { RESPONSE_SECONDS.1 } else { 0.0 } + bytes as f64 / SENT;
    let level = level.or(way.levels.as_ref().map(|l| l.default)).unwrap_or(0);
    match way.kind {
        WayKind::OnTheFly => bare + bytes as f64 / 1e6 / nominal_rate(&way.nominal, level),
        WayKind::Plain | WayKind::PreEncoded | WayKind::Offload | WayKind::Transparent => bare,
    }
}

/// Expected seconds of wall time that a response of `bytes`, sent as it is over a new connection, takes beside the same over loopback:
/// handshake, slow start and the bytes on the line.
pub fn link_seconds(link: &LinkSpec, bytes: u64) -> f64 {
    let windows = (bytes as f64 / (FIRST_WINDOW * TCP_PAYLOAD as f64) + 1.0).log2();
    let on_the_line = link.down_kbps.map_or(0.0, |kbps| bytes as f64 / (kbps * 125.0));
    (2.0 + windows) * link.rtt_ms / 1e3 + on_the_line
}

/// Expected seconds of wall time a transaction, of all workers together.
pub fn transaction_seconds(bytes: u64, client: &Client) -> f64 {
    let rate = if client.encoded { STORED.1 } else { STORED.0 };
    // Those that work at the same time share what processors there are.
    let closed = (TRANSACTION_SECONDS + bytes as f64 / rate) / f64::from(client.workers.min(2));
    client.rate.map_or(closed, |rate| closed.max(1.0 / rate))
}

/// Expected seconds of wall time of a visit to a client whose transactions take this many seconds each.
pub fn transacting_seconds(transaction_seconds: f64, client: &Client) -> f64 {
    transaction_seconds * (client.transactions * u64::from(client.workers)) as f64 + CLIENT_SECONDS
}

/// Requests of a block whose responses take this many seconds of wall time, one after the other: 0.4 s of them, so that
/// most blocks have eight or more and those of the slowest one.
pub fn block_requests(response_seconds: f64, connections: u32) -> u64 {
    let enough = (BLOCK_SECONDS / response_seconds).ceil().clamp(1.0, BLOCK_REQUESTS);
    (enough as u64).max(u64::from(connections))
}

/// Expected seconds of wall time of a visit to a delivery whose responses take this many seconds.
pub fn block_seconds(response_seconds: f64, connections: u32) -> f64 {
    let requests = block_requests(response_seconds, connections) + PREFLIGHTS;
    requests as f64 * response_seconds + DELIVERY_SECONDS
}

/// Expected seconds of wall time of a visit with slow clients.
pub fn watched_seconds() -> f64 {
    WATCHED_SECONDS + DELIVERY_SECONDS
}

/// The nominal rate at a level: between two known levels on a logarithmic scale, outside them the nearest.
fn nominal_rate(nominal: &[(i32, f64)], level: i32) -> f64 {
    let mut known: Vec<_> = nominal.iter().filter(|(_, r)| *r > 0.0).copied().collect();
    known.sort_by_key(|(l, _)| *l);
    let (Some(first), Some(last)) = (known.first(), known.last()) else { return UNKNOWN_MB_S };
    if level <= first.0 {
        return first.1;
    }
    if level >= last.0 {
        return last.1;
    }
    known
        .windows(2)
        .find(|w| level <= w[1].0)
        .map(|w| {
            let share = f64::from(level - w[0].0) / f64::from(w[1].0 - w[0].0);
            (w[0].1.ln() * (1.0 - share) + w[1].1.ln() * share).exp()
        })
        .unwrap_or(UNKNOWN_MB_S)
}

/// Expected seconds of wall time on an idle processor: never above the budget unless exhaustive.
pub fn plan_seconds(plan: &Plan) -> f64 {
    let policy = &plan.policy;
    let all: f64 = plan.cells.iter().map(|c| cell_seconds(c, policy.max_rounds, plan)).sum();
    if policy.exhaustive { all } else { all.min(policy.budget_seconds) }
}

fn cell_seconds(cell: &Cell, max_rounds: u32, plan: &Plan) -> f64 {
    if cell.is_fairness() {
        return watched_seconds() * f64::from(WATCHED_ROUNDS.min(max_rounds));
    }
    if let Some(client) = &cell.client {
        let rounds = if plan.policy.exhaustive { max_rounds } else { plan.policy.min_samples };
        return transacting_seconds(cell.expected_seconds, client) * f64::from(rounds);
    }
    if let Some(delivery) = &cell.delivery {
        let visit = block_seconds(cell.expected_seconds, delivery.connections);
        let rounds = if plan.policy.exhaustive { max_rounds } else { plan.policy.min_samples };
        return visit * f64::from(rounds);
    }
    let visit = cell.expected_seconds + VISIT_SECONDS;
    let first = FIRST_VISIT_CALLS * visit;
    if plan.policy.exhaustive {
        return first + f64::from(max_rounds.saturating_sub(1)) * visit;
    }
    let wanted = f64::from(plan.policy.min_samples);
    first + (wanted * visit).min(plan.policy.cell_seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_between_levels_lie_between_their_neighbours() {
        let nominal = [(1, 100.0), (9, 10.0)];
        assert_eq!(nominal_rate(&nominal, 1), 100.0);
        assert_eq!(nominal_rate(&nominal, 22), 10.0);
        let middle = nominal_rate(&nominal, 5);
        assert!((middle - 31.62).abs() < 0.1, "{middle}");
        assert_eq!(nominal_rate(&[], 3), UNKNOWN_MB_S);
    }
}
