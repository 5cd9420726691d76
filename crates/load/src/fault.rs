//! What can go wrong with a response. A fault is never throughput: it is counted by kind, with one example each.

use serde::{Deserialize, Serialize};

/// The kinds of faults, in the order in which they may happen.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The server's machine refused the connection.
    ConnectRefused,
    /// No connection within the limit.
    ConnectTimeout,
    /// No local port or file descriptor was left.
    PortsExhausted,
    /// Any other failure to connect.
    ConnectFailed,
    /// The TLS handshake or a TLS record failed.
    Tls,
    /// The connection was reset.
    Reset,
    /// No last byte within the limit.
    Timeout,
    /// The connection was closed before the first byte of a response.
    EmptyReply,
    /// Something before the status line, or a status line that is none.
    Garbage,
    /// A head that breaks the protocol's rules.
    BadHead,
    /// A head over the limits in bytes or headers.
    HeadTooLong,
    /// More informational responses than the limit.
    Informational,
    /// Frames or records without end that bring no response on.
    Flood,
    /// Content-Length and Transfer-Encoding, or several lengths that differ.
    AmbiguousLength,
    /// A chunk that breaks the protocol's rules.
    BadChunk,
    /// The connection was closed inside the body.
    Truncated,
    /// Bytes after the response, where none may be.
    Overlong,
    /// An HTTP/2 stream or connection error.
    Http2,
    /// Not the status that the preflight saw.
    Status,
    /// Not a content coding that the preflight accepted.
    ContentCoding,
    /// Not the media type that the preflight saw.
    ContentType,
    /// Another length than the preflight saw.
    Length,
    /// A body that does not decode.
    Corrupt,
    /// A body that decodes to more than the limit.
    Bomb,
    /// A body that decodes to something else than the preflight's.
    Mismatch,
}

/// A fault as it happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Fault {
    /// Its kind.
    pub kind: FaultKind,
    /// What was seen, in one line; bytes of the server's are escaped.
    pub message: String,
    /// Where in the body it differs, and what was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// Where a body differs from the accepted one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Difference {
    /// Bytes from the body's start, as transferred in its content coding.
    pub offset: u64,
    /// Up to 16 bytes from there that were expected, in hexadecimal.
    pub expected: String,
    /// Up to 16 bytes from there that came, in hexadecimal.
    pub got: String,
}

impl Fault {
    /// A fault without a place in the body.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Fault {
        Fault { kind, message: message.into(), difference: None }
    }
}

impl FaultKind {
    /// Its name in tables and JSON, as `connect-refused`.
    pub fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
    }
}
