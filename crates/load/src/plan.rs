//! What an engine is to do, in full: it is read from JSON by the agent process, and kept with the result.

use serde::{Deserialize, Serialize};

/// One block of load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadPlan {
    /// What is asked for; never empty. Requests of one stream are drawn by weight.
    pub requests: Vec<Request>,
    /// Who asks, when, and over how many connections; never empty.
    pub streams: Vec<Stream>,
    /// How requests are carried.
    pub protocol: Protocol,
    /// Used for `https` URLs.
    pub tls: Tls,
    /// When no further request is sent.
    pub length: Length,
    /// Bounds on what a server may do.
    pub limits: Limits,
    /// What becomes of bodies.
    pub check: Check,
    /// How often the preflight asks for each request: twice shows what differs from response to response, and the third time what differs
    /// only sometimes. Once is enough where nothing does; 0 is taken as 1.
    #[serde(default = "preflights")]
    pub preflights: u32,
    /// Seconds after which the preflight asks for everything again, over new connections, to see what varies with time; 0: it
    /// asks once.
    #[serde(default)]
    pub again_seconds: f64,
    /// Threads, each with connections of its own.
    pub threads: u32,
    /// The processors to which the threads are pinned in turn; empty: not pinned.
    pub cpus: Vec<u32>,
    /// The length of a slice in seconds.
    pub slice_seconds: f64,
    /// Seed of everything drawn.
    pub seed: u64,
}

/// Nothing to ask for yet: one thread, one kept connection, every response verified.
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
        }
    }
}

/// How often the preflight asks for a request where a plan says nothing of it.
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
    /// The method, as `GET`.
    pub method: String,
    /// Headers in the order of sending. `Host`, `Content-Length` and `Connection` are added where they are missing.
    pub headers: Vec<(String, String)>,
    /// The request's body, in base64 in JSON.
    #[serde(default, with = "crate::plan::bytes", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "String")]
    pub body: Vec<u8>,
    /// How often it is drawn, relative to the others of its stream.
    pub weight: f64,
    /// Classes are reported apart.
    pub class: String,
    /// Index into [`LoadPlan::streams`].
    pub stream: u32,
}

/// A GET of nothing yet.
impl Default for Request {
    fn default() -> Request {
        Request {
            name: "all".to_owned(),
            url: String::new(),
            method: "GET".to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            weight: 1.0,
            class: "all".to_owned(),
            stream: 0,
        }
    }
}

/// A group of connections with an arrival model of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// A name for tables.
    pub name: String,
    /// The arrival model, as [`crate::arrival::parse`] reads it: `closed`, `constant:200`, …
    pub arrival: String,
    /// Connections over all threads: all that there are in a closed model, at most so many in an open one.
    pub connections: u32,
    /// Requests in flight on one connection, where the protocol can (HTTP/2).
    pub streams_per_connection: u32,
    /// False: a connection a request.
    pub keepalive: bool,
    /// Bytes a second that a connection of a slow client reads; none: as fast as it can.
    pub read_rate: Option<u64>,
    /// A download is given up after so many bytes of body.
    pub abandon_after: Option<u64>,
    /// The socket's receive buffer in bytes, set before it connects.
    pub receive_buffer: Option<u32>,
    /// Each thread sends its requests in turn, whatever their weights; else they are drawn by these.
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

/// How requests are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP/1.1.
    Http11,
    /// HTTP/1.0 as `ab` speaks it: servers may behave otherwise than to any browser.
    Http10,
    /// HTTP/2: by ALPN over TLS, with prior knowledge without.
    Http2,
}

/// How certificates are judged, and whether sessions are taken up again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// Any certificate will do.
    pub insecure: bool,
    /// PEM file of the authorities to trust in place of the system's.
    pub authorities: Option<String>,
    /// A new connection takes up an earlier session.
    pub resumption: bool,
}

/// When no further request is sent; the first of the two that is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Length {
    /// Requests over all threads and streams.
    pub requests: Option<u64>,
    /// Seconds from the start. Requests in flight are drained.
    pub seconds: Option<f64>,
}

/// Bounds on what a server may do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Seconds until a connection stands, TLS included.
    pub connect_seconds: f64,
    /// Seconds from the send to the last byte.
    pub request_seconds: f64,
    /// Seconds that requests in flight are given at the end.
    pub drain_seconds: f64,
    /// Bytes of a response's head.
    pub head_bytes: u32,
    /// Headers of a response.
    pub head_fields: u32,
    /// Informational (1xx) responses before the final one.
    pub informational: u32,
    /// Bytes of a body that are kept to compare and to decode; a longer one is checked by its length.
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

/// What becomes of bodies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Check {
    /// Every response is compared; what cannot be is decoded in samples.
    Verify {
        /// One of so many responses that are not compared byte for byte is decoded in full.
        decode_every: u32,
        /// Names of headers whose values, and regular parts of bodies, differ from response to response by the user's word.
        vary_by: Vec<String>,
    },
    /// Bodies are dropped by the kernel where it can; only status and length are looked at.
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
    /// As the serializer.
    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    /// Reads base64.
    ///
    /// # Errors
    /// For anything else.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
