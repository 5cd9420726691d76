//! What a block of load came to. All of it adds up over threads, and none of it grows with the number of requests.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::fault::{Fault, FaultKind};
use crate::hist::{Hist, Packed};

/// One block's outcome.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LoadResult {
    /// Seconds from the first scheduled send to the last byte, or to the end of the schedule if that is later.
    pub seconds: f64,
    /// What the requests of each class came to, in the plan's order.
    pub classes: Vec<ClassResult>,
    /// The run as a time series, by the instant at which a request ended.
    pub slices: Vec<Slice>,
    /// The faults by kind.
    pub faults: Vec<FaultCount>,
    /// Responses that should have been decoded, and were not for want of room or time; they count as completed.
    pub unproven: u64,
    /// What the generator used itself.
    pub client: Client,
    /// What the server sends for each request of the plan, seen before the load.
    pub preflights: Vec<Preflight>,
    /// The origin of every schedule by this process's clock: an open model's first request was due then. It means nothing elsewhere and
    /// is in no file.
    #[serde(skip)]
    pub began: Option<Instant>,
}

/// What the requests of one class came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClassResult {
    /// The class.
    pub name: String,
    /// What was counted.
    pub counts: Counts,
    /// When things happened.
    pub times: Times,
}

/// Times of a class, in histograms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Times {
    /// From the begin of a connection to its establishment; one value a connection.
    pub connect: Hist,
    /// The TLS handshake; one value a connection.
    pub tls: Hist,
    /// Send → first byte of the response (ab: waiting).
    pub ttfb: Hist,
    /// First byte → last byte.
    pub transfer: Hist,
    /// Send → last byte. The send of a request that opens its own connection is the begin of that connection.
    pub service: Hist,
    /// Scheduled send → last byte.
    pub response: Hist,
}

/// What is counted in a class. Bytes are those of responses unless they say otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Counts {
    /// Requests that were due.
    pub scheduled: u64,
    /// Requests that were sent; one sent again on a new connection counts once.
    pub sent: u64,
    /// Responses that ended as they should, verified where that was asked for.
    pub completed: u64,
    /// Requests that ended in a fault.
    pub faulted: u64,
    /// Requests that were due and never sent.
    pub dropped: u64,
    /// Requests sent again because the server had closed a kept connection.
    pub retried: u64,
    /// Downloads given up on purpose.
    pub abandoned: u64,
    /// Completed responses whose status is not 2xx.
    pub non_2xx: u64,
    /// Connections opened.
    pub connections: u64,
    /// Of these, TLS sessions taken up again.
    pub resumed: u64,
    /// Bytes sent, heads and bodies, without TLS.
    pub sent_bytes: u64,
    /// Bytes received over connections, without TLS: heads, framing and bodies.
    pub wire_bytes: u64,
    /// Bytes of heads.
    pub head_bytes: u64,
    /// Bytes of bodies without framing, in their content coding.
    pub body_bytes: u64,
    /// Bytes of completed bodies after decoding; of bodies not decoded, those of the equal one that was.
    pub decoded_bytes: u64,
    /// Completed responses whose body was compared byte for byte.
    pub compared: u64,
    /// Completed responses that were decoded in full.
    pub decoded: u64,
    /// CPU nanoseconds of decoding, off the timing path.
    pub decode_ns: u64,
}

impl Counts {
    /// Requests that were due and have no right answer: those that faulted and those that were never sent. Downloads given up on
    /// purpose are none of them.
    pub fn unanswered(&self) -> u64 {
        self.faulted.saturating_add(self.dropped)
    }
}

/// A part of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Slice {
    /// Seconds from the start of the run to the start of the slice.
    pub start: f64,
    /// Its length in seconds.
    pub seconds: f64,
    /// Requests that were due in it.
    pub scheduled: u64,
    /// Responses completed in it.
    pub completed: u64,
    /// Faults in it.
    pub faulted: u64,
    /// Bytes of bodies of the completed.
    pub body_bytes: u64,
    /// Response times of the completed.
    pub response: Packed,
}

/// Faults of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FaultCount {
    /// The kind.
    pub kind: FaultKind,
    /// How many.
    pub count: u64,
    /// The request's name, and what happened the first time.
    pub request: String,
    /// The first of them.
    pub example: Fault,
}

/// What the generator used itself, from the first scheduled send to the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Client {
    /// CPU seconds in user mode, of the whole process.
    pub user_seconds: f64,
    /// CPU seconds in the kernel, of the whole process.
    pub system_seconds: f64,
    /// Share of a core that each thread used.
    pub thread_shares: Vec<f64>,
    /// Share of the block in which each thread was ready and waited for a processor; empty where the system does not tell.
    #[serde(default)]
    pub thread_waits: Vec<f64>,
    /// Largest resident set of the process in bytes.
    pub peak_rss_bytes: u64,
    /// How late requests were sent although a connection was free; one value a request of an open model.
    pub lateness: Hist,
}

/// What the server sends for one request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Preflight {
    /// The request's name.
    pub request: String,
    /// The protocol as the server spoke it, as `HTTP/1.1`.
    pub version: String,
    /// The status; 0 when there was no response.
    pub status: u16,
    /// Content-Type, escaped.
    pub content_type: Option<String>,
    /// Content-Encoding, escaped; none: identity.
    pub content_encoding: Option<String>,
    /// Vary, escaped.
    pub vary: Option<String>,
    /// ETag, escaped.
    pub etag: Option<String>,
    /// Server, escaped.
    pub server: Option<String>,
    /// How the end of the body is told.
    pub framing: Framing,
    /// Bytes of the body in its content coding.
    pub body_bytes: u64,
    /// Bytes of the body after decoding.
    pub decoded_bytes: Option<u64>,
    /// SHA-256 of the body after decoding.
    pub decoded_sha256: Option<String>,
    /// How responses will be checked.
    pub checked: Checked,
    /// What a reader should know: how responses differ from each other, what is odd about the body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why nothing can be verified, where that is so.
    pub fault: Option<Fault>,
}

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// There is no body.
    #[default]
    None,
    /// Content-Length.
    Length,
    /// Transfer-Encoding: chunked.
    Chunked,
    /// The close of the connection.
    Close,
    /// HTTP/2 frames.
    Frames,
}

/// How responses are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Checked {
    /// Status and length alone.
    #[default]
    Length,
    /// Every byte of every body.
    Bytes,
    /// Status, media type and coding, and of samples a full decode and a plausible length, because bodies differ from response to
    /// response.
    Samples,
    /// Status, media type and coding, a full decode, and every byte but those of the parts that vary.
    Parts,
}
