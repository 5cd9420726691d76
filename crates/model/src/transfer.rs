//! How long bytes take over a link: round trips, the windows of TCP's slow start, and a share of the bandwidth.
//!
//! TCP sends [`INITIAL_WINDOW`] full packets before it hears of them, and for each that is confirmed two more. A window therefore takes a round trip or the
//! time that its packets take on the line, whichever is longer; from the window on that fills the round trip, the line is never idle. Nothing is lost here, and
//! no receiver is slow.

use serde::{Deserialize, Serialize};

use crate::link::{MTU, TCP_PAYLOAD};

/// Packets that a connection sends before it hears of them: RFC 6928, and Linux.
pub const INITIAL_WINDOW: f64 = 10.0;

/// Bytes of headers beside the payload of a packet.
const HEADERS: f64 = (MTU - TCP_PAYLOAD) as f64;

/// The connection that bytes go over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Connection {
    /// Kept and busy: its window fills the link.
    #[default]
    Warm,
    /// Kept, and silent for longer than a retransmission would wait (0.2 s and a round trip): the window starts again
    /// (`net.ipv4.tcp_slow_start_after_idle`).
    Idle,
    /// Made for the call: a round trip for the handshake, and the window starts.
    New,
}

impl Connection {
    /// `a new connection`.
    pub fn words(self) -> &'static str {
        match self {
            Connection::Warm => "a warm connection",
            Connection::Idle => "an idle connection",
            Connection::New => "a new connection",
        }
    }

    /// It begins with the first window.
    pub fn starts_slowly(self) -> bool {
        self != Connection::Warm
    }

    /// Round trips before the request can be sent: TCP's handshake, and one more for TLS 1.3.
    pub fn set_up_trips(self, tls: bool) -> f64 {
        match self {
            Connection::New => 1.0 + f64::from(u8::from(tls)),
            Connection::Warm | Connection::Idle => 0.0,
        }
    }
}

/// One direction of a link, as one of those who share it has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Nanoseconds that a byte of an IP packet takes on its share of the bandwidth; 0: not limited.
    pub byte_ns: f64,
    /// The round trip of an empty packet in nanoseconds.
    pub round_trip_ns: f64,
}

impl Path {
    /// Of a link with this bandwidth in Mbit/s (infinite: not limited) and round trip in milliseconds that so many share evenly.
    pub fn shared(mbit: f64, round_trip_ms: f64, concurrency: f64) -> Path {
        Path { byte_ns: 8e3 * concurrency / mbit, round_trip_ns: round_trip_ms * 1e6 }
    }

    /// Nanoseconds that the packets with so many bytes of payload take on the line.
    pub fn sending_ns(&self, payload: f64) -> f64 {
        packet_bytes(payload) * self.byte_ns
    }

    /// Nanoseconds in which the line is idle because a window has been sent and nothing was heard of it yet.
    pub fn waiting_ns(&self, payload: f64, connection: Connection) -> f64 {
        if !connection.starts_slowly() {
            return 0.0;
        }
        // A confirmation is there a round trip after the first packet of the window has been sent.
        let idle = |packets: f64| self.round_trip_ns - (packets - 1.0) * MTU as f64 * self.byte_ns;
        full_windows(payload).map(|packets| idle(packets).max(0.0)).sum()
    }

    /// Nanoseconds from the first byte being sent until the last has been sent: what bytes cost. Beside it each call takes the round trip in which
    /// request and answer cross, which is the same for any number of bytes, see [`Path::call_ns`].
    pub fn transfer_ns(&self, payload: f64, connection: Connection) -> f64 {
        self.sending_ns(payload) + self.waiting_ns(payload, connection)
    }

    /// Nanoseconds of a whole call over this path, in one direction of which so many bytes go: set-up, the round trip of request and answer, and the
    /// transfer.
    pub fn call_ns(&self, payload: f64, connection: Connection, tls: bool) -> f64 {
        let trips = connection.set_up_trips(tls) + 1.0;
        trips * self.round_trip_ns + self.transfer_ns(payload, connection)
    }

    /// Of a path with this round trip: the [`Path::byte_ns`] at which one of the windows of so many bytes just fills it, descending. Between two of
    /// them the time of a transfer is a straight line over `byte_ns`.
    pub fn bends(round_trip_ns: f64, payload: f64, connection: Connection) -> impl Iterator<Item = f64> {
        let windows = full_windows(if connection.starts_slowly() { payload } else { 0.0 });
        windows.map(move |packets| round_trip_ns / ((packets - 1.0) * MTU as f64))
    }
}

/// Bytes of the IP packets that carry so many bytes of payload: full ones, and a last one.
pub fn packet_bytes(payload: f64) -> f64 {
    payload + HEADERS * (payload / TCP_PAYLOAD as f64).ceil().max(1.0)
}

/// Packets of each window before the last one.
fn full_windows(payload: f64) -> impl Iterator<Item = f64> {
    let packets = (payload / TCP_PAYLOAD as f64).ceil();
    let windows = std::iter::successors(Some(INITIAL_WINDOW), |window| Some(window * 2.0));
    // After windows of w, 2w, … up to this one there are 2 × this one − w packets on the way.
    windows.take_while(move |window| 2.0 * window - INITIAL_WINDOW < packets)
}

/// How many windows so many bytes of payload take where the window starts, one at least.
pub fn windows(payload: f64) -> usize {
    1 + full_windows(payload).count()
}

#[cfg(test)]
mod tests;
