//! Failures of responses. A failed response does not count as throughput: failures are counted by kind, with one
//! example each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of failure, in the order in which they can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "FaultKind")]
pub enum HttpFaultKind {
    /// The connection was refused.
    ConnectRefused,
    /// The connection was not established within the limit.
    ConnectTimeout,
    /// No local port or file descriptor was left.
    PortsExhausted,
    /// Another error while connecting.
    ConnectFailed,
    /// The TLS handshake or a TLS record failed.
    Tls,
    /// The connection was reset.
    Reset,
    /// The response was not complete within the limit.
    Timeout,
    /// The connection was closed before the first byte of a response.
    EmptyReply,
    /// The response does not start with a status line.
    Garbage,
    /// A head that violates the protocol.
    BadHead,
    /// A head with too many bytes or headers.
    HeadTooLong,
    /// More informational responses than the limit.
    Informational,
    /// Endless frames or records that do not advance the response.
    Flood,
    /// Content-Length together with Transfer-Encoding, or several different lengths.
    AmbiguousLength,
    /// A chunk that violates the protocol.
    BadChunk,
    /// The connection was closed before the end of the body.
    Truncated,
    /// Unexpected bytes after the response.
    Overlong,
    /// An HTTP/2 stream or connection error.
    Http2,
    /// The status differs from the preflight's.
    Status,
    /// The content coding is not one that the preflight accepted.
    ContentCoding,
    /// The media type differs from the preflight's.
    ContentType,
    /// The length differs from the preflight's.
    Length,
    /// The body cannot be decoded.
    Corrupt,
    /// The decoded body is larger than the limit.
    Bomb,
    /// The decoded body differs from the preflight's.
    Mismatch,
}

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Fault")]
pub struct HttpFault {
    /// Its kind.
    pub kind: HttpFaultKind,
    /// What was observed, on one line; bytes of the server are escaped.
    pub message: String,
    /// Where the body differs, and the bytes there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// Where a body differs from the accepted one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Bytes from the start of the body, as transferred in its content coding.
    pub offset: u64,
    /// Up to 16 expected bytes from there, in hexadecimal.
    pub expected: String,
    /// Up to 16 received bytes from there, in hexadecimal.
    pub got: String,
}

impl HttpFault {
    /// A failure without a place in the body.
    pub fn new(kind: HttpFaultKind, message: impl Into<String>) -> HttpFault {
        HttpFault { kind, message: message.into(), difference: None }
    }
}

impl HttpFaultKind {
    /// Its name in tables and JSON, such as `connect-refused`.
    pub fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
    }
}
