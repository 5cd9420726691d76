//! Published figures of deliveries, as their authors printed them.

use serde::{Deserialize, Serialize};

use crate::cell::{Cell, Transport};

/// A published table of deliveries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedDelivery {
    /// What the table is, and its conditions.
    pub about: String,
    /// How sentences cite it, with the year or the versions: `mod_deflate against type-map, 2008`; empty: "the
    /// published table".
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cite: String,
    /// Conclusions of its author or readers, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reading: Vec<String>,
    /// The payload of the cells that are compared with it.
    pub payload: String,
    /// The server of those cells.
    pub server: String,
    /// The transport of those cells.
    #[serde(default)]
    pub transport: Transport,
    /// The connections of those cells.
    #[serde(default = "one")]
    pub connections: u32,
    /// In the published order.
    pub rows: Vec<PublishedDeliveryRow>,
}

fn one() -> u32 {
    1
}

/// One published row. Unpublished values are null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedDeliveryRow {
    /// Its name as published.
    pub label: String,
    /// The method that is compared with it, with its level: `php/gzencode:6`, `server/type-map`.
    pub way: String,
    /// Bytes of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Seconds for all requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Number of requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Mean seconds per request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_seconds: Option<f64>,
    /// Requests per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_second: Option<f64>,
    /// The other figures of `ab`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ab: Option<PublishedAb>,
}

/// What `ab` prints in addition to requests per second; times in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedAb {
    /// Time per request, mean.
    pub per_request_ms: f64,
    /// Time per request, mean, across all concurrent requests.
    pub across_ms: f64,
    /// Transfer rate, KB/s.
    pub transfer_kb_s: f64,
    /// Connect: min, mean, sd, median, max.
    pub connect_ms: [f64; 5],
    /// Processing: min, mean, sd, median, max.
    pub processing_ms: [f64; 5],
    /// Waiting: min, mean, sd, median, max.
    pub waiting_ms: [f64; 5],
    /// Total: min, mean, sd, median, max.
    pub total_ms: [f64; 5],
    /// Percentiles of the total: percent and milliseconds.
    pub percentiles_ms: Vec<(u32, f64)>,
}

impl PublishedDelivery {
    /// Whether a cell is compared with a row, with any runtime.
    pub fn is_of(&self, row: &PublishedDeliveryRow, cell: &Cell) -> bool {
        cell.payload == self.payload
            && cell.delivery.as_ref().is_some_and(|d| {
                d.server == self.server
                    && d.transport == self.transport
                    && d.connections == self.connections
                    && d.link.is_none()
                    && d.way(&cell.setting) == row.way
            })
    }
}
