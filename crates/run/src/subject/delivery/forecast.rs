//! How long responses and blocks of them will take: from nominal figures, before anything was measured, and from what was.

use weigh_load::plan::PREFLIGHTS;

use crate::nominal::nominal_rate;
use weigh_model::cell::Delivery;
use weigh_model::link::LinkSpec;
use weigh_model::transfer::{Connection, Path};
use weigh_model::way::{WayDescription, WayKind};

/// What a response costs beside its bytes, in seconds: the server's part, and PHP's.
const RESPONSE_SECONDS: (f64, f64) = (0.0001, 0.0004);
/// Bytes per second that are sent where nothing is done to them.
const SENT: f64 = 1e9;
/// Requests of a block at a rate, at least.
const AT_RATE: f64 = 8.0;
/// How long a block of requests is to last, in seconds.
const BLOCK_SECONDS: f64 = 0.4;
/// What a visit to a delivery costs beside its block: preflight, meters, and a seventh of the start of the server and the pool that the first visit has.
const DELIVERY_SECONDS: f64 = 0.15;
/// How long a block with slow clients lasts, in seconds.
pub const WATCHED_SECONDS: f64 = 4.0;
/// Blocks with slow clients that a cell gets: they show who waits for whom, and not a figure of three digits.
pub const WATCHED_ROUNDS: u32 = 2;
/// Requests of the longest block.
const BLOCK_REQUESTS: f64 = 20_000.0;

/// Expected CPU seconds of one response of `bytes`.
pub fn response_seconds(way: &WayDescription, level: Option<i32>, bytes: u64, php: bool) -> f64 {
    let bare = RESPONSE_SECONDS.0 + if php { RESPONSE_SECONDS.1 } else { 0.0 } + bytes as f64 / SENT;
    let level = level.or(way.levels.as_ref().map(|l| l.default)).unwrap_or(0);
    match way.kind {
        WayKind::OnTheFly => bare + bytes as f64 / 1e6 / nominal_rate(&way.nominal, level),
        WayKind::Plain | WayKind::PreEncoded | WayKind::Delta | WayKind::Offload | WayKind::Transparent => {
            bare
        }
    }
}

/// Expected seconds of wall time that a response of `bytes`, sent as it is over a new connection, takes beside the same over loopback:
/// handshake, slow start and the bytes on the line.
pub fn link_seconds(link: &LinkSpec, bytes: u64, tls: bool) -> f64 {
    let mbit = link.down_kbps.map_or(f64::INFINITY, |kbps| kbps / 1e3);
    Path::shared(mbit, link.rtt_ms, 1.0).call_ns(bytes as f64, Connection::New, tls) / 1e9
}

/// Requests of a block that lasts as long as it is to.
fn enough(response_seconds: f64) -> f64 {
    (BLOCK_SECONDS / response_seconds).ceil().clamp(1.0, BLOCK_REQUESTS)
}

/// Requests of a block whose responses take this many seconds of wall time, one after the other: 0.4 s of them, so that
/// most blocks have eight or more and those of the slowest one. Each instance of the content is asked for as often.
pub fn block_requests(response_seconds: f64, delivery: &Delivery) -> u64 {
    let enough = enough(response_seconds);
    let enough = if delivery.every_ms.is_some() { enough.max(AT_RATE) } else { enough };
    (enough as u64)
        .max(u64::from(delivery.connections))
        .next_multiple_of(u64::from(delivery.instances.max(1)))
}

/// How often a preflight asks for each instance of a content before a block of this many requests: once where responses are so slow that the block is one,
/// and where requests come at a rate, for they would be warmer than those of the block.
pub fn preflights(delivery: &Delivery, requests: u64) -> u32 {
    if delivery.instances > 1 || delivery.every_ms.is_some() || requests == 1 { 1 } else { PREFLIGHTS }
}

/// Expected seconds of wall time of a visit to a delivery whose responses take this many seconds.
pub fn block_seconds(response_seconds: f64, delivery: &Delivery) -> f64 {
    let requests = block_requests(response_seconds, delivery);
    let preflights = u64::from(preflights(delivery, requests) * delivery.instances);
    (requests + preflights) as f64 * response_seconds + DELIVERY_SECONDS
}

/// Expected seconds of wall time of a visit to each side of a comparison over a link, of responses of `bytes`.
pub fn compared_seconds(link: &LinkSpec, bytes: u64) -> f64 {
    let response = link_seconds(link, bytes, false);
    // One connection, one instance of the content, no rate.
    let requests = enough(response);
    let preflights = if requests == 1.0 { 1.0 } else { f64::from(PREFLIGHTS) };
    let visit = (requests + preflights) * response + DELIVERY_SECONDS;
    2.0 * visit
}

/// Expected seconds of wall time of a visit with slow clients.
pub fn watched_seconds() -> f64 {
    WATCHED_SECONDS + DELIVERY_SECONDS
}
