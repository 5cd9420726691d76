//! A link in words: what it is asked to be, the way it was made, and what it was measured as.
//!
//! It knows neither sockets nor namespaces: the lab makes links. What reads records reads these.

mod measured;
mod spec;
mod text;

pub use measured::{Lost, Measured, RATE_OFF, ROUND_TRIP_OFF, Rate, RoundTrip, Way};
pub use spec::{LONGEST_MS, LinkSpec};

/// Bytes of the largest IP packet.
pub const MTU: u64 = 1500;
/// Bytes of payload that TCP sends in a packet of [`MTU`]: headers of IP and TCP, and its time stamps, take 52.
pub const TCP_PAYLOAD: u64 = 1448;
