//! Waiting times over links, computed and measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Responses over links, one per row with a link; rows over a proxy are left out, because it hides handshake and slow
/// start.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Waits(pub Vec<Wait>);

/// From the start of connecting to the last byte of the response. Seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wait {
    /// The cell's id.
    pub cell: String,
    /// The link's name.
    pub link: String,
    /// How many connections share it.
    pub connections: u32,
    /// Bytes of headers and body.
    pub bytes: f64,
    /// Windows of TCP that they take.
    pub windows: u32,
    /// Handshakes of TCP and TLS.
    pub set_up: f64,
    /// The round trip of request and response.
    pub round_trip: f64,
    /// Headers and body: their packets on the line, and waiting for windows.
    pub transfer: f64,
    /// CPU time of server and PHP; 0 if unknown.
    pub cpu: f64,
    /// The sum of all parts.
    pub computed: f64,
    /// The measured median.
    pub measured: f64,
}
