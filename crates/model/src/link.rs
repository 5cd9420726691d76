//! A link as data: what was requested, how it was made, and what was measured.
//!
//! There are no sockets and namespaces here: the crate `weigh` makes links.

mod measured;
mod spec;
mod text;

pub use measured::{Lost, Measured, RATE_OFF, ROUND_TRIP_OFF, Rate, RoundTrip, Way};
pub use spec::{LONGEST_MS, LinkSpec};

/// Bytes of the largest IP packet.
pub const MTU: u64 = 1500;
/// Bytes of payload in a full TCP packet of [`MTU`]: the headers of IP and TCP, with time stamps, take 52.
pub const TCP_PAYLOAD: u64 = 1448;
