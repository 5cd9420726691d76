//! Transfer times over a link: round trips, the windows of TCP's slow start, and a share of the bandwidth.
//!
//! TCP sends [`INITIAL_WINDOW`] full packets before the first acknowledgement, and two more for each packet that is
//! acknowledged. A window therefore takes a round trip, or the transmission time of its packets if that is longer. Once
//! a window fills the round trip, the line is never idle. The model has no loss and no slow receiver.

use serde::{Deserialize, Serialize};

use crate::link::{MTU, TCP_PAYLOAD};

/// Packets that a connection sends before the first acknowledgement: RFC 6928, and Linux.
pub const INITIAL_WINDOW: f64 = 10.0;

/// How many times the rate of the window before it bbr sends a window at while it looks for the link's rate: 2 ÷ ln 2 (N. Cardwell and others,
/// BBR: Congestion-Based Congestion Control, ACM Queue 14 (2016)).
pub(crate) const PACING: f64 = 2.0 / std::f64::consts::LN_2;

/// Packets from which a rate that doubles in each round trip comes to what bbr has sent: of 15 to 600 KB over links of 8 and 100 Mbit/s and 100 ms, and of
/// 9 Mbit/s and 170 ms (Linux 6.18).
const DOUBLING_FROM: f64 = 7.7;

/// Bytes of headers per packet.
const HEADERS: f64 = (MTU - TCP_PAYLOAD) as f64;

/// The state of the connection that bytes go over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Connection {
    /// Kept open and busy: its window fills the link.
    #[default]
    Warm,
    /// Kept open but idle for longer than the retransmission timeout (0.2 s and a round trip): the window starts again
    /// (`net.ipv4.tcp_slow_start_after_idle`).
    Idle,
    /// Opened for the call: a round trip for the handshake, then the initial window.
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

    /// Whether it starts with the initial window.
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

/// One direction of a link, as seen by one of those who share it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Nanoseconds that a byte of an IP packet takes at its share of the bandwidth; 0: not limited.
    pub byte_ns: f64,
    /// The round trip of an empty packet in nanoseconds.
    pub round_trip_ns: f64,
}

impl Path {
    /// A link with this bandwidth in Mbit/s (infinite: not limited) and round trip in milliseconds, shared evenly by
    /// `concurrency` users.
    pub fn shared(mbit: f64, round_trip_ms: f64, concurrency: f64) -> Path {
        Path { byte_ns: 8e3 * concurrency / mbit, round_trip_ns: round_trip_ms * 1e6 }
    }

    /// Transmission time in nanoseconds of the packets with this many bytes of payload.
    pub fn sending_ns(&self, payload: f64) -> f64 {
        packet_bytes(payload) * self.byte_ns
    }

    /// Nanoseconds in which the line is idle, because a window was sent and not yet acknowledged.
    pub fn waiting_ns(&self, payload: f64, connection: Connection) -> f64 {
        if !connection.starts_slowly() {
            return 0.0;
        }
        // The acknowledgement arrives a round trip after the first packet of the window was sent.
        let idle = |packets: f64| self.round_trip_ns - (packets - 1.0) * MTU as f64 * self.byte_ns;
        full_windows(payload).map(|packets| idle(packets).max(0.0)).sum()
    }

    /// Nanoseconds by which a kernel that spreads what it sends over round trips, as bbr does, sends the last byte later than one that sends each window
    /// at once. Both send the initial window at once; then bbr's rate doubles in a round trip, until it is the link's.
    pub fn pacing_ns(&self, payload: f64, connection: Connection) -> f64 {
        let packets = (payload / TCP_PAYLOAD as f64).ceil();
        if !connection.starts_slowly() || packets <= INITIAL_WINDOW {
            return 0.0;
        }
        let packet_ns = MTU as f64 * self.byte_ns;
        let most = self.round_trip_ns / packet_ns / std::f64::consts::LN_2;
        let doubling = packets.min(most).max(INITIAL_WINDOW);
        let trips = (doubling / DOUBLING_FROM).log2().max(1.0);
        let paced = trips * self.round_trip_ns + (packets - doubling) * packet_ns;
        (paced - self.transfer_ns(payload, connection)).max(0.0)
    }

    /// Nanoseconds from sending the first byte until the last byte was sent: the cost of the bytes. Each call also
    /// takes the round trip of request and answer, which does not depend on the number of bytes: see [`Path::call_ns`].
    pub fn transfer_ns(&self, payload: f64, connection: Connection) -> f64 {
        self.sending_ns(payload) + self.waiting_ns(payload, connection)
    }

    /// Nanoseconds of a whole call over this path, with this many bytes of payload in one direction: connection set-up,
    /// the round trip of request and answer, and the transfer.
    pub fn call_ns(&self, payload: f64, connection: Connection, tls: bool) -> f64 {
        let trips = connection.set_up_trips(tls) + 1.0;
        trips * self.round_trip_ns + self.transfer_ns(payload, connection)
    }

    /// The values of [`Path::byte_ns`] at which one of the windows of the payload exactly fills this round trip,
    /// descending. Between two of them the transfer time is linear in `byte_ns`.
    pub fn bends(round_trip_ns: f64, payload: f64, connection: Connection) -> impl Iterator<Item = f64> {
        let windows = full_windows(if connection.starts_slowly() { payload } else { 0.0 });
        windows.map(move |packets| round_trip_ns / ((packets - 1.0) * MTU as f64))
    }
}

/// Bytes of the IP packets that carry this payload: full packets and a last one.
pub fn packet_bytes(payload: f64) -> f64 {
    payload + HEADERS * (payload / TCP_PAYLOAD as f64).ceil().max(1.0)
}

/// Packets of each window before the last one.
fn full_windows(payload: f64) -> impl Iterator<Item = f64> {
    let packets = (payload / TCP_PAYLOAD as f64).ceil();
    let windows = std::iter::successors(Some(INITIAL_WINDOW), |window| Some(window * 2.0));
    // After the windows w, 2w, … up to this one, 2 × this one − w packets were sent.
    windows.take_while(move |window| 2.0 * window - INITIAL_WINDOW < packets)
}

/// The number of windows for this payload from the initial window on, at least one.
pub fn windows(payload: f64) -> usize {
    1 + full_windows(payload).count()
}

#[cfg(test)]
pub(crate) mod tests;
