//! The result of a block of load. Results of threads can be added, and no part grows with the number of requests.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::fault::{HttpFault, HttpFaultKind};
use weigh_stats::hist::{Hist, Packed};

/// The result of one block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LoadResult {
    /// Seconds from the first scheduled send to the last byte, or to the end of the schedule if that is later.
    pub seconds: f64,
    /// Results of each class, in the plan's order.
    pub classes: Vec<ClassResult>,
    /// The run as a time series, by the instant at which requests ended.
    pub slices: Vec<Slice>,
    /// The failures by kind.
    pub faults: Vec<FaultCount>,
    /// Responses that were due to be decoded, but were not, because memory or time was missing; they count as
    /// completed.
    pub unproven: u64,
    /// The generator's own use of resources.
    pub client: Client,
    /// The server's responses to each request of the plan before the load.
    pub preflights: Vec<Preflight>,
    /// The parts of which this is the sum, if several agents sent it at the same time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentResult>,
    /// The origin of every schedule by this process's clock: the first request of an open model was due then. It has no
    /// meaning elsewhere and is not written to files.
    #[serde(skip)]
    pub due: Option<Instant>,
    /// When the threads were started; later than [`LoadResult::due`] if the word to start came late.
    #[serde(skip)]
    pub began: Option<Instant>,
}

/// What one of several agents did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AgentResult {
    /// The node on which it ran.
    pub node: String,
    /// What kind of machine that is.
    #[serde(default)]
    pub machine: String,
    /// Seconds from the common start until it began, on the clock of the program that started it; the most of several blocks.
    pub began: f64,
    /// How far its clock may be off, in seconds: half of the shortest round trip to it.
    pub uncertainty: f64,
    /// Its own counts and times; without any if it was lost.
    pub result: LoadResult,
    /// Why it was lost in mid-load; none: it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

impl LoadResult {
    /// The spread of the agents' beginnings in seconds, and how far it may be off; none: one agent sent all.
    pub fn skew(&self) -> Option<(f64, f64)> {
        let (mut began, mut uncertainty) = (Vec::new(), Vec::new());
        for agent in self.agents.iter().filter(|agent| agent.lost.is_none()) {
            began.push(agent.began);
            uncertainty.push(agent.uncertainty);
        }
        uncertainty.sort_by(f64::total_cmp);
        let first = began.iter().copied().reduce(f64::min)?;
        let last = began.iter().copied().reduce(f64::max)?;
        // Of any two, the two that are known least.
        Some((last - first, uncertainty.iter().rev().take(2).sum()))
    }

    /// The agents that were lost.
    pub fn lost(&self) -> impl Iterator<Item = (&str, &str)> {
        self.agents.iter().filter_map(|agent| Some((agent.node.as_str(), agent.lost.as_deref()?)))
    }
}

/// The results of one class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClassResult {
    /// The class.
    pub name: String,
    /// Counters.
    pub counts: Counts,
    /// Times.
    pub times: Times,
}

/// Times of a class, as histograms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Times {
    /// From the start of connecting until the connection is established; one value per connection.
    pub connect: Hist,
    /// The TLS handshake; one value per connection.
    pub tls: Hist,
    /// Send → first byte of the response (`ab`: waiting).
    pub ttfb: Hist,
    /// First byte → last byte.
    pub transfer: Hist,
    /// Send → last byte. If a request opens its own connection, its send is the start of connecting.
    pub service: Hist,
    /// Scheduled send → last byte.
    pub response: Hist,
}

/// Counters of a class. Bytes are those of responses unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Counts {
    /// Scheduled requests.
    pub scheduled: u64,
    /// Requests that were sent; a request that was sent again on a new connection counts once.
    pub sent: u64,
    /// Successful responses, verified if the plan asks for that.
    pub completed: u64,
    /// Failed requests.
    pub faulted: u64,
    /// Scheduled requests that were never sent.
    pub dropped: u64,
    /// Requests sent again because the server had closed a kept connection.
    pub retried: u64,
    /// Downloads aborted on purpose.
    pub abandoned: u64,
    /// Completed responses whose status is not 2xx.
    pub non_2xx: u64,
    /// Connections opened.
    pub connections: u64,
    /// TLS sessions among these that were resumed.
    pub resumed: u64,
    /// Bytes sent, headers and bodies, without TLS.
    pub sent_bytes: u64,
    /// Bytes received over connections, without TLS: headers, framing and bodies.
    pub wire_bytes: u64,
    /// Bytes of headers.
    pub head_bytes: u64,
    /// Bytes of bodies without framing, in their content coding.
    pub body_bytes: u64,
    /// Bytes of completed bodies after decoding; a body that was not decoded counts with the length of the equal body
    /// that was.
    pub decoded_bytes: u64,
    /// Completed responses whose body was compared byte by byte.
    pub compared: u64,
    /// Completed responses that were decoded in full.
    pub decoded: u64,
    /// CPU nanoseconds for decoding, outside the timed path.
    pub decode_ns: u64,
}

impl Counts {
    /// Scheduled requests without a correct response: those that failed and those that were never sent. Downloads
    /// aborted on purpose do not count.
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
    /// Requests that were scheduled in it.
    pub scheduled: u64,
    /// Responses completed in it.
    pub completed: u64,
    /// Failures in it.
    pub faulted: u64,
    /// Bytes of bodies of completed responses.
    pub body_bytes: u64,
    /// Response times of completed responses.
    pub response: Packed,
}

/// Failures of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FaultCount {
    /// The kind.
    pub kind: HttpFaultKind,
    /// The number of failures.
    pub count: u64,
    /// The name of the request that failed first.
    pub request: String,
    /// The first failure.
    pub example: HttpFault,
}

/// The generator's own use of resources, from the first scheduled send to the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Client {
    /// CPU seconds in user mode, of the whole process.
    pub user_seconds: f64,
    /// CPU seconds in the kernel, of the whole process.
    pub system_seconds: f64,
    /// Share of a core used by each thread.
    pub thread_shares: Vec<f64>,
    /// Share of the block in which each thread was ready but waited for a processor; empty if the system does not
    /// report it.
    #[serde(default)]
    pub thread_waits: Vec<f64>,
    /// Largest resident set of the process in bytes; of several agents the sum.
    pub peak_rss_bytes: u64,
    /// How late requests were sent although a connection was free; one value per request of an open model.
    pub lateness: Hist,
    /// The priority of the process: above 0, others go first.
    #[serde(default)]
    pub nice: i32,
}

/// What the preflight found for one request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Preflight {
    /// The request's name.
    pub request: String,
    /// The protocol version of the response, such as `HTTP/1.1`.
    pub version: String,
    /// The status; 0 without a response.
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
    /// How the end of the body is marked.
    pub framing: Framing,
    /// Bytes of the body in its content coding.
    pub body_bytes: u64,
    /// Bytes of the body after decoding.
    pub decoded_bytes: Option<u64>,
    /// SHA-256 of the body after decoding.
    pub decoded_sha256: Option<String>,
    /// How responses will be checked.
    pub checked: Checked,
    /// Notes for the reader: how responses differ from each other, and anything unusual about the body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why nothing can be verified; null: it can be.
    pub fault: Option<HttpFault>,
}

/// How the end of a body is marked.
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
    /// The end of the connection.
    Close,
    /// HTTP/2 frames.
    Frames,
}

/// How responses are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Checked {
    /// Status and length only.
    #[default]
    Length,
    /// Every byte of every body.
    Bytes,
    /// Bodies vary between responses: status, media type and coding are checked; samples are decoded in full and must
    /// have a plausible length.
    Samples,
    /// Status, media type and coding, a full decode, and every byte except in the parts that vary.
    Parts,
}
