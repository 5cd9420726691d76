//! A cell: one value of every factor of a study.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::setting::Setting;
use crate::way::{By, WayKind};

/// The kind of thing that a cell measures. Subjects that only their own module needs are made there with
/// [`Subject::new`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("examples" = ["codec", "php-codec", "page", "asset", "download", "client"]))]
pub struct Subject(Cow<'static, str>);

impl Subject {
    pub const CODEC: Subject = Subject::new("codec");
    /// A codec called from PHP.
    pub const PHP_CODEC: Subject = Subject::new("php-codec");
    /// A page that a PHP script makes, sent by a web server.
    pub const PAGE: Subject = Subject::new("page");
    /// A static file, sent by a web server.
    pub const ASSET: Subject = Subject::new("asset");
    /// A file that PHP sends, or tells a web server to send.
    pub const DOWNLOAD: Subject = Subject::new("download");
    /// A client of a store, in PHP.
    pub const CLIENT: Subject = Subject::new("client");

    /// The subject of this name: lower-case letters and hyphens.
    pub const fn new(name: &'static str) -> Subject {
        Subject(Cow::Borrowed(name))
    }

    /// Its name in plans, studies and URLs: `page`, `asset`, `download`.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// The transport of responses.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// TCP without TLS.
    #[default]
    Http,
    /// TLS.
    Https,
}

impl Transport {
    /// The scheme of its URLs.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Http => "http",
            Transport::Https => "https",
        }
    }
}

/// What a cell has in addition to payload, runtime and setting when a web server sends the payload. The setting is the
/// method with its level and options; the runtime is a PHP, or [`NO_PHP`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Delivery {
    /// The web server's name: `nginx`.
    pub server: String,
    /// The transport of the response.
    pub transport: Transport,
    /// Who carries out the method: PHP or the server.
    pub by: By,
    /// What the method does.
    pub kind: WayKind,
    /// Whether the negotiation matrix is requested from this cell. It is requested from one cell of those that
    /// negotiate alike.
    #[serde(default, skip_serializing_if = "is_not")]
    pub negotiation: bool,
    /// The Accept-Encoding header of requests; empty: no header.
    pub accept: String,
    /// Connections, each with one request at a time.
    pub connections: u32,
    /// Milliseconds between requests on average, which come at random times (Poisson) whatever the server does; null: each follows the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<u32>,
    /// Instances of the payload that requests cycle through; absent: 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub instances: u32,
    /// The link that responses go over, by its name in the plan; null: loopback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Slow clients that download the payload while others request a light page; null: no slow clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow: Option<Slow>,
    /// The server's own method with level and options, when PHP makes the response; null: the server adds nothing.
    /// Options of the cell's setting that are also here belong to the server, not to PHP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<Setting>,
}

fn one() -> u32 {
    1
}

/// A payload is one instance of itself.
fn is_one(instances: &u32) -> bool {
    *instances == 1
}

/// Leaves out a flag that is false.
fn is_not(asked: &bool) -> bool {
    !asked
}

impl Delivery {
    /// The part of the cell's group after its payload: `nginx/php8.2/http`. With more than one connection
    /// `nginx/php8.2/http*10`, with 64 slow clients and a pool of 8 workers `nginx/php8.2/http~64@8`, over a link
    /// `nginx/php8.2/http@cable`. At five requests per second `nginx/php8.2/http%200ms`.
    pub fn place(&self, runtime: &str) -> String {
        let transport = self.transport.name();
        let who = match (&self.slow, self.connections) {
            (Some(slow), _) => format!("~{}@{}", slow.clients, slow.workers),
            (None, 1) => String::new(),
            (None, n) => format!("*{n}"),
        };
        let link = self.link.as_ref().map_or(String::new(), |link| format!("@{link}"));
        let every = self.every_ms.map_or(String::new(), |ms| format!("%{ms}ms"));
        format!("{}/{runtime}/{transport}{who}{every}{link}", self.server)
    }

    /// Whether an id, without its payload, is of a cell whose requests come at a rate.
    pub fn has_rate(id: &str) -> bool {
        id.split('/').nth(2).is_some_and(|place| place.contains('%'))
    }

    /// The method as studies write it: `php/gzencode:6`, `server/gzip:6`.
    pub fn way(&self, setting: &Setting) -> String {
        format!("{}/{setting}", self.by.name())
    }
}

/// Slow clients that run beside light requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slow {
    /// Slow clients at a time.
    pub clients: u32,
    /// Bytes per second that each slow client reads.
    pub read_rate: u64,
    /// Workers of the PHP pool that slow clients and light requests share.
    pub workers: u32,
    /// Bytes that a script holds while it sends, in addition to its own memory.
    pub script_memory: u64,
    /// Whether the network has small buffers; false: loopback, because the privilege for a network is missing.
    pub narrow: bool,
}

/// The runtime of a cell without PHP.
pub const NO_PHP: &str = "-";

/// One value of every factor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Unique in its plan and stable between plans:
    /// `payload/runtime/serializer/setting`, such as `tree-2.4m/php8.2/serialize/gzdeflate:6`; the
    /// serializer part is `-` for cells on bytes. Of a delivery:
    /// `payload/server/runtime/transport/by/way`, such as `page-path/nginx/php8.2/http/php/gzencode:6`. Of a client:
    /// `payload/store/driver/runtime/mix/keys*workers`, such as `integer/redis/phpredis/php8.2/9:1/one*4`, and when the worker
    /// encodes, `/serializer/setting` after that.
    pub id: String,
    /// The side of a paired run that it is measured on; null: the run has no sides. The id, and names that are another's on
    /// another side, begin with it: `new:page-path/…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// The kind of thing under test.
    pub subject: Subject,
    /// The payload's name in the plan.
    pub payload: String,
    /// The runtime's name in the plan: `native`, or a PHP such as `php8.2`; [`NO_PHP`] without PHP.
    pub runtime: String,
    /// `serialize`, `igbinary`, `msgpack`: the cell encodes a PHP value. `None`: the cell encodes bytes.
    pub serializer: Option<String>,
    /// Codec or method, level and options.
    pub setting: Setting,
    /// Measured to the end even if dominated, because the cell's own figures are shown in a table of all levels.
    #[serde(default)]
    pub keep: bool,
    /// Estimated CPU seconds of one encode and one decode, or of one response, from nominal figures; used for ordering
    /// and forecasts only.
    pub expected_seconds: f64,
    /// How a web server sends the payload; null: no web server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// How PHP workers use a store; null: no store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
}

impl Cell {
    /// The identifier of a cell with these factors.
    pub fn make_id(payload: &str, runtime: &str, serializer: Option<&str>, setting: &Setting) -> String {
        format!("{payload}/{runtime}/{}/{setting}", serializer.unwrap_or("-"))
    }

    /// The identifier of a delivery with these factors.
    pub fn make_delivery_id(payload: &str, runtime: &str, setting: &Setting, delivery: &Delivery) -> String {
        format!("{payload}/{}/{}", delivery.place(runtime), delivery.way(setting))
    }

    /// The identifier of a client with these factors.
    pub fn make_client_id(
        payload: &str,
        runtime: &str,
        serializer: Option<&str>,
        setting: &Setting,
        client: &Client,
    ) -> String {
        let id = format!("{payload}/{}/{runtime}/{}", client.place(), client.work());
        if client.encoded { format!("{id}/{}/{setting}", serializer.unwrap_or("-")) } else { id }
    }

    /// Every factor as text, with this name for the runtime: the same configuration of another plan has the same text.
    pub fn factors(&self, runtime: &str) -> String {
        let (id, runtime) = (String::new(), runtime.to_owned());
        let mut same = Cell { id, side: None, keep: false, expected_seconds: 0.0, runtime, ..self.clone() };
        if let Some(delivery) = &mut same.delivery {
            // Asked of one of the cells that negotiate alike: which one follows from the plan.
            delivery.negotiation = false;
        }
        serde_json::to_string(&same).unwrap_or_default()
    }

    /// Whether slow clients download the payload. Then the result is the waiting time of other requests, not the cost
    /// of a response.
    pub fn is_fairness(&self) -> bool {
        self.delivery.as_ref().is_some_and(|delivery| delivery.slow.is_some())
    }

    /// The link, by its name in the plan; none: loopback.
    pub fn link(&self) -> Option<&str> {
        let client = self.client.as_ref().and_then(|client| client.link.as_deref());
        self.delivery.as_ref().and_then(|delivery| delivery.link.as_deref()).or(client)
    }

    /// Whether the payload is requested; without slow clients a fairness cell sends light requests only.
    pub fn asks_for_payload(&self) -> bool {
        let slow = self.delivery.as_ref().and_then(|delivery| delivery.slow.as_ref());
        slow.is_none_or(|slow| slow.clients > 0)
    }

    /// Whether only those get it who have the last version of the content.
    pub fn is_delta(&self) -> bool {
        self.delivery.as_ref().is_some_and(|delivery| delivery.kind == WayKind::Delta)
    }

    /// The runtime that cells of a group share; none for static files, which a server sends with any PHP or without.
    pub fn runtime_in_common(&self) -> &str {
        if self.subject == Subject::ASSET { NO_PHP } else { &self.runtime }
    }

    /// Cells of a group compete on one front. They share the payload and, except for static files, the runtime.
    /// Deliveries also share server, transport, connections, link, and who they are for: a delta is only for those who
    /// have the last version.
    pub fn group(&self) -> String {
        if let Some(client) = &self.client {
            return format!("{}/{}/{}/{}", self.payload, client.place(), self.runtime, client.work());
        }
        let place = self.delivery.as_ref().map(|d| d.place(self.runtime_in_common()));
        let returning = if self.is_delta() { "/returning" } else { "" };
        format!("{}/{}{returning}", self.payload, place.as_ref().unwrap_or(&self.runtime))
    }
}
