//! A cell: one value for every factor of a study.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::client::Client;
use crate::setting::Setting;
use crate::way::{By, WayKind};

/// Which kind of thing a cell puts under test. Those that no room but their subject's own two knows by name are made with
/// [`Subject::new`] there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
#[schemars(extend("examples" = ["codec", "php-codec", "page", "asset", "download", "client"]))]
pub struct Subject(Cow<'static, str>);

impl Subject {
    /// A native codec.
    pub const CODEC: Subject = Subject::new("codec");
    /// A codec called from PHP.
    pub const PHP_CODEC: Subject = Subject::new("php-codec");
    /// A page that a PHP script makes, sent by a web server.
    pub const PAGE: Subject = Subject::new("page");
    /// A static file, sent by a web server.
    pub const ASSET: Subject = Subject::new("asset");
    /// A file that PHP hands out, or has a web server hand out.
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

/// What responses travel over.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
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

/// What a cell has beside payload, runtime and setting when a web server sends the payload. The setting is the way with
/// its level and options; the runtime is a PHP, or [`NO_PHP`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Delivery {
    /// The web server's name: `nginx`.
    pub server: String,
    /// What the response travels over.
    pub transport: Transport,
    /// Who carries the way out.
    pub by: By,
    /// What the way does.
    pub kind: WayKind,
    /// The matrix of requests that shows how the way is negotiated is asked for, of one of the cells that it is the same for.
    #[serde(default, skip_serializing_if = "is_not")]
    pub negotiation: bool,
    /// The Accept-Encoding that is sent; empty: none is.
    pub accept: String,
    /// Connections, each with one request at a time.
    pub connections: u32,
    /// Instances of the payload, which requests are for in turn; absent: 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub instances: u32,
    /// The link that responses go over, by its name in the plan; null: the machine's own loopback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Slow clients take the payload, while others ask for a light page; null without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow: Option<Slow>,
    /// What the server is configured to do, as its own way with level and options; null: it adds nothing. Options of the
    /// cell's setting that stand here too are the server's, not PHP's.
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

/// What is not asked for is not written.
fn is_not(asked: &bool) -> bool {
    !asked
}

impl Delivery {
    /// The cell's group below its payload: `nginx/php8.2/http`, with more than one connection `nginx/php8.2/http*10`, and with 64
    /// slow clients and a pool of 8 workers `nginx/php8.2/http~64@8`. Over a link, `nginx/php8.2/http@cable`.
    pub fn place(&self, runtime: &str) -> String {
        let transport = self.transport.name();
        let who = match (&self.slow, self.connections) {
            (Some(slow), _) => format!("~{}@{}", slow.clients, slow.workers),
            (None, 1) => String::new(),
            (None, n) => format!("*{n}"),
        };
        let link = self.link.as_ref().map_or(String::new(), |link| format!("@{link}"));
        format!("{}/{runtime}/{transport}{who}{link}", self.server)
    }

    /// The way as studies write it: `php/gzencode:6`, `server/gzip:6`.
    pub fn way(&self, setting: &Setting) -> String {
        format!("{}/{setting}", self.by.name())
    }
}

/// Slow clients beside light requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Slow {
    /// How many there are at a time.
    pub clients: u32,
    /// Bytes a second that each takes.
    pub read_rate: u64,
    /// Workers of the PHP pool, which light requests need too.
    pub workers: u32,
    /// Bytes that a script holds while it sends, beside its own.
    pub script_memory: u64,
    /// Over a network whose buffers are small; false: over the machine's loopback, for want of the privilege.
    pub narrow: bool,
}

/// The runtime of a cell that no PHP takes part in.
pub const NO_PHP: &str = "-";

/// One value for every factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cell {
    /// Unique in its plan and stable between plans:
    /// `payload/runtime/serializer/setting`, such as `tree-2.4m/php8.2/serialize/gzdeflate:6`; the
    /// serializer part is `-` for cells on bytes. Of a delivery:
    /// `payload/server/runtime/transport/by/way`, such as `page-path/nginx/php8.2/http/php/gzencode:6`. Of a client:
    /// `payload/store/driver/runtime/mix/keys*workers`, such as `integer/redis/phpredis/php8.2/9:1/one*4`, and when the worker
    /// encodes, `/serializer/setting` after that.
    pub id: String,
    /// The kind of thing under test.
    pub subject: Subject,
    /// The payload's name in the plan.
    pub payload: String,
    /// The runtime's name in the plan: `native`, or a PHP such as `php8.2`; [`NO_PHP`] without.
    pub runtime: String,
    /// `serialize`, `igbinary`, `msgpack`: the cell encodes a PHP value; `None`: it encodes bytes.
    pub serializer: Option<String>,
    /// Codec or way, level and options.
    pub setting: Setting,
    /// Never stopped for being dominated, because its own figures are shown (a table of all levels).
    #[serde(default)]
    pub keep: bool,
    /// Expected CPU seconds of one encode and one decode, or of one response, from nominal figures: for ordering and
    /// forecasts only.
    pub expected_seconds: f64,
    /// How a web server sends the payload; null for codecs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Delivery>,
    /// How PHP workers speak with a store; null for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
}

impl Cell {
    /// The identifier that belongs to these factors.
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

    /// Slow clients take its payload: what becomes of others is the question, not what a response costs.
    pub fn is_fairness(&self) -> bool {
        self.delivery.as_ref().is_some_and(|delivery| delivery.slow.is_some())
    }

    /// The link that it is measured over, by its name in the plan; none: the machine's own loopback.
    pub fn link(&self) -> Option<&str> {
        let client = self.client.as_ref().and_then(|client| client.link.as_deref());
        self.delivery.as_ref().and_then(|delivery| delivery.link.as_deref()).or(client)
    }

    /// Its payload is asked for: without slow clients beside them, light requests alone are made.
    pub fn asks_for_payload(&self) -> bool {
        let slow = self.delivery.as_ref().and_then(|delivery| delivery.slow.as_ref());
        slow.is_none_or(|slow| slow.clients > 0)
    }

    /// The runtime that cells of its group have in common: none of files, which a server sends alone or through any PHP.
    pub fn runtime_in_common(&self) -> &str {
        if self.subject == Subject::ASSET { NO_PHP } else { &self.runtime }
    }

    /// Cells of one group compete on one front: same payload, same runtime but for files; of deliveries, also the same server, transport,
    /// connections and link.
    pub fn group(&self) -> String {
        if let Some(client) = &self.client {
            return format!("{}/{}/{}/{}", self.payload, client.place(), self.runtime, client.work());
        }
        let place = self.delivery.as_ref().map(|d| d.place(self.runtime_in_common()));
        format!("{}/{}", self.payload, place.as_ref().unwrap_or(&self.runtime))
    }
}
