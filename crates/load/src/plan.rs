//! The complete instructions for an engine: the agent process reads them as JSON, and they are kept with the result.

use serde::{Deserialize, Serialize};

/// One block of load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadPlan {
    /// The requests; never empty. Requests of one stream are drawn by weight.
    pub requests: Vec<Request>,
    /// The streams, each with an arrival model and connections; never empty.
    pub streams: Vec<Stream>,
    /// The HTTP version.
    pub protocol: Protocol,
    /// Used for `https` URLs.
    pub tls: Tls,
    /// When sending ends.
    pub length: Length,
    /// Limits on what a server may do.
    pub limits: Limits,
    /// How bodies are checked.
    pub check: Check,
    /// How many times the preflight sends each request. Two responses show what differs every time, a third one shows
    /// what differs only sometimes. One is enough if nothing differs; 0 counts as 1.
    #[serde(default = "preflights")]
    pub preflights: u32,
    /// Seconds after which the preflight repeats all requests over new connections, to see what varies with time; 0: no
    /// repetition.
    #[serde(default)]
    pub again_seconds: f64,
    /// Threads, each with its own connections.
    pub threads: u32,
    /// The processors to which the threads are pinned in turn; empty: not pinned.
    pub cpus: Vec<u32>,
    /// The length of a slice in seconds.
    pub slice_seconds: f64,
    /// Seed of everything drawn at random.
    pub seed: u64,
    /// The part of the load that one of several agents sends; none: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
}

/// A plan without requests: one thread, one kept connection, every response verified.
impl Default for LoadPlan {
    fn default() -> LoadPlan {
        LoadPlan {
            requests: Vec::new(),
            streams: vec![Stream::default()],
            protocol: Protocol::Http11,
            tls: Tls { insecure: false, authorities: None, resumption: true },
            length: Length::default(),
            limits: Limits::default(),
            check: Check::Verify { decode_every: 1, vary_by: Vec::new() },
            preflights: PREFLIGHTS,
            again_seconds: 0.0,
            threads: 1,
            cpus: Vec::new(),
            slice_seconds: 1.0,
            seed: 1,
            share: None,
        }
    }
}

/// One agent's part of a load that several agents send from the same instant on. Every connection, every due request and
/// every request of [`Length::requests`] belongs to exactly one of them, and each draws at random independent of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The agent's number, from 0.
    pub index: u32,
    /// The number of agents, at least 1.
    pub count: u32,
}

impl Share {
    /// A load with one agent.
    pub const WHOLE: Share = Share { index: 0, count: 1 };

    /// How many of `total` it has; the numbers of two agents differ by at most one.
    pub fn of(self, total: u64) -> u64 {
        let (index, count) = (u64::from(self.index), u64::from(self.count.max(1)));
        total / count + u64::from(index < total % count)
    }

    /// The part of something that at most `most` agents can share; none: this agent has no part of it.
    pub fn among(self, most: u32) -> Option<Share> {
        let count = self.count.clamp(1, most.max(1));
        (self.index < count).then_some(Share { index: self.index, count })
    }
}

impl LoadPlan {
    /// The part of the load that is sent.
    pub fn share(&self) -> Share {
        self.share.unwrap_or(Share::WHOLE)
    }

    /// Connections at most, over all streams.
    pub fn connections(&self) -> u64 {
        let of = |stream: &Stream| {
            let total = u64::from(stream.connections);
            self.share().among(stream.connections).map_or(0, |share| share.of(total))
        };
        self.streams.iter().map(of).sum()
    }
}

/// The default number of preflight requests.
pub const PREFLIGHTS: u32 = 3;

fn preflights() -> u32 {
    PREFLIGHTS
}

/// One kind of request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// A name for tables.
    pub name: String,
    /// An absolute `http` or `https` URL.
    pub url: String,
    /// The method, such as `GET`.
    pub method: String,
    /// Headers in the order of sending. `Host`, `Content-Length` and `Connection` are added if missing.
    pub headers: Vec<(String, String)>,
    /// The request's body; base64 in JSON.
    #[serde(default, with = "crate::plan::bytes", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "String")]
    pub body: Vec<u8>,
    /// The dictionary that the headers offer in `Available-Dictionary`, with which a body in `dcb` or `dcz` is decoded
    /// (RFC 9842); empty: none; base64 in JSON.
    #[serde(default, with = "crate::plan::bytes", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "String")]
    pub dictionary: Vec<u8>,
    /// Weight when requests of a stream are drawn, relative to the others.
    pub weight: f64,
    /// The class, which has its own results.
    pub class: String,
    /// Index into [`LoadPlan::streams`].
    pub stream: u32,
}

/// A GET without a URL.
impl Default for Request {
    fn default() -> Request {
        Request {
            name: "all".to_owned(),
            url: String::new(),
            method: "GET".to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            dictionary: Vec::new(),
            weight: 1.0,
            class: "all".to_owned(),
            stream: 0,
        }
    }
}

/// A group of connections with its own arrival model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// A name for tables.
    pub name: String,
    /// The arrival model, in the form that [`crate::arrival::parse`] reads: `closed`, `constant:200`, …
    pub arrival: String,
    /// Connections over all threads: exactly this number in a closed model, at most this number in an open one.
    pub connections: u32,
    /// Requests in flight per connection, if the protocol supports it (HTTP/2).
    pub streams_per_connection: u32,
    /// Whether connections are kept. False: one connection per request.
    pub keepalive: bool,
    /// Bytes per second that a slow client reads per connection; none: as fast as possible.
    pub read_rate: Option<u64>,
    /// Downloads are aborted after this many bytes of body.
    pub abandon_after: Option<u64>,
    /// The socket's receive buffer in bytes, set before connecting.
    pub receive_buffer: Option<u32>,
    /// Whether each thread sends its requests in turn; otherwise they are drawn by weight.
    #[serde(default)]
    pub in_turn: bool,
}

/// One kept connection in a closed model.
impl Default for Stream {
    fn default() -> Stream {
        Stream {
            name: "all".to_owned(),
            arrival: "closed".to_owned(),
            connections: 1,
            streams_per_connection: 1,
            keepalive: true,
            read_rate: None,
            abandon_after: None,
            receive_buffer: None,
            in_turn: false,
        }
    }
}

/// The HTTP version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP/1.1.
    Http11,
    /// HTTP/1.0 as `ab` uses it: servers may behave differently than with a browser.
    Http10,
    /// HTTP/2: by ALPN over TLS, with prior knowledge without TLS.
    Http2,
}

/// How certificates are checked, and whether sessions are resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// Accept any certificate.
    pub insecure: bool,
    /// PEM file of the authorities to trust instead of the system's.
    pub authorities: Option<String>,
    /// Whether a new connection resumes an earlier session.
    pub resumption: bool,
}

/// When sending ends: at the first of the two limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Length {
    /// Requests over all threads and streams.
    pub requests: Option<u64>,
    /// Seconds from the start. Requests in flight are drained.
    pub seconds: Option<f64>,
}

/// Limits on what a server may do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Seconds until a connection is established, with TLS.
    pub connect_seconds: f64,
    /// Seconds from sending a request to the last byte of its response.
    pub request_seconds: f64,
    /// Seconds in which requests in flight may end after sending has ended.
    pub drain_seconds: f64,
    /// Bytes of a response's head.
    pub head_bytes: u32,
    /// Headers of a response.
    pub head_fields: u32,
    /// Informational (1xx) responses before the final one.
    pub informational: u32,
    /// Bytes of a body that are kept for comparing and decoding; of a longer body only the length is checked.
    pub body_bytes: u64,
    /// Bytes that a body may decode to.
    pub decoded_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connect_seconds: 10.0,
            request_seconds: 30.0,
            drain_seconds: 10.0,
            head_bytes: 64 << 10,
            head_fields: 256,
            informational: 16,
            body_bytes: 64 << 20,
            decoded_bytes: 256 << 20,
        }
    }
}

/// How bodies are checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Check {
    /// Every response is compared. If a body cannot be compared, samples are decoded.
    Verify {
        /// One response in this many of those that are not compared byte by byte is decoded in full.
        decode_every: u32,
        /// Names of headers whose values vary between responses, or `body` for bodies, as declared by the user.
        vary_by: Vec<String>,
    },
    /// Bodies are discarded, by the kernel if possible; only status and length are checked.
    Discard,
}

/// Bytes as base64 in JSON.
pub mod bytes {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes base64.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    /// Reads base64.
    ///
    /// # Errors
    /// Anything other than base64.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
