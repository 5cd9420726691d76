//! The size from which on precompressed files pay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metric::delivery::Endpoint;
use crate::verdict::Ratio;

/// One per server, transport, number of connections, link and method of sending precompressed files.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Crossovers(pub Vec<Crossover>);

/// The size from which on sending a precompressed file pays, compared with compression on the fly.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Crossover {
    /// The place of both: server, transport, connections, link.
    #[serde(flatten)]
    pub endpoint: Endpoint,
    /// The content coding of both.
    pub coding: String,
    /// The method that compresses on the fly: `server/gzip:6`.
    pub on_the_fly: String,
    /// The method that sends a precompressed file: `server/gzip_static`.
    pub pre_encoded: String,
    /// One per size, ascending.
    pub sizes: Vec<SizeRatio>,
    /// Whether CPU time on the fly ÷ precompressed is above 1, by size.
    pub cpu: Option<Pays>,
    /// Whether the rate precompressed ÷ on the fly is above 1, by size.
    pub rate: Option<Pays>,
}

/// Both at one size.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SizeRatio {
    /// The payload's name.
    pub payload: String,
    /// Its bytes.
    pub bytes: u64,
    /// The id of the cell that encodes each response.
    pub on_the_fly: String,
    /// The id of the cell that sends a precompressed file.
    pub pre_encoded: String,
    /// CPU time on the fly ÷ precompressed.
    pub cpu: Option<Ratio>,
    /// Rate precompressed ÷ on the fly.
    pub rate: Option<Ratio>,
    /// Body bytes precompressed ÷ on the fly.
    pub body: f64,
}

/// The sizes at which precompressed files pay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "pays")]
pub enum Pays {
    /// At every size measured.
    Everywhere {
        /// Upper end of the interval of the size in bytes; null: below the smallest measured size.
        high: Option<f64>,
    },
    /// From this size on.
    From {
        /// The size in bytes.
        bytes: f64,
        /// Lower end; null: below the smallest measured size.
        low: Option<f64>,
        /// Upper end; null: above the largest measured size.
        high: Option<f64>,
    },
    /// Not at the largest size measured.
    Nowhere {
        /// Lower end of the interval of the size in bytes; null: above the largest measured size.
        low: Option<f64>,
    },
}
