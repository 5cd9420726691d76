//! The ids of the metrics of deliveries, and where they are read from a row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::cell::{Delivery, Subject, Transport};
use weigh_model::way::{By, WayKind};

use crate::row::Row;

/// CPU time of server and PHP.
pub const CPU: &str = "cpu";

pub const SERVER_CPU: &str = "server-cpu";

pub const PHP_CPU: &str = "php-cpu";

/// Responses per second.
pub const RATE: &str = "rate";

/// Wall time of a block ÷ its responses.
pub const SECONDS: &str = "seconds";

/// The same, if requests are sent one after the other.
pub const ONE_BY_ONE: &str = "one-by-one";

pub const CONTENT: &str = "content-bytes";

/// Bytes of the body in its content coding.
pub const BODY: &str = "body-bytes";

pub const REQUESTS: &str = "requests";

/// The fact with the content coding of the response.
pub const CODING: &str = "coding";

/// The place of responses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Endpoint {
    /// The server's name.
    pub server: String,
    /// The transport of responses.
    pub transport: Transport,
    /// Connections.
    pub connections: u32,
    /// Milliseconds between requests on average, which come at a rate; null: each follows the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<u32>,
    /// The link by its name; null: loopback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

impl From<&Delivery> for Endpoint {
    fn from(delivery: &Delivery) -> Endpoint {
        let Delivery { server, transport, connections, every_ms, link, .. } = delivery.clone();
        Endpoint { server, transport, connections, every_ms, link }
    }
}

pub(crate) fn is_kind(row: &Row, kind: WayKind) -> bool {
    row.cell.delivery.as_ref().is_some_and(|delivery| delivery.kind == kind)
}

/// Whether a method that encodes each response sent this one uncompressed: its type is not in the server's list, or it
/// is too small.
pub fn is_not_encoded(row: &Row) -> bool {
    is_kind(row, WayKind::OnTheFly) && row.fact(CODING).is_none() && rounds(row) > 0
}

/// Whether PHP sends only one byte: then the script's own share of a response is measured.
pub fn is_own_share(row: &Row) -> bool {
    let is_by_php = row.cell.delivery.as_ref().is_some_and(|delivery| delivery.by == By::Php);
    row.cell.subject == Subject::DOWNLOAD
        && is_by_php
        && is_kind(row, WayKind::Plain)
        && row.count(CONTENT) <= 1
}

pub fn rounds(row: &Row) -> u32 {
    row.get(REQUESTS).map_or(0, |requests| requests.rounds)
}
