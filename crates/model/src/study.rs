//! What a plan says of its study: one question with factors and a budget. Its file is the lab's to read.

mod published;

use serde::{Deserialize, Serialize};

pub use published::{PublishedAb, PublishedDelivery, PublishedDeliveryRow};

/// The part of a study that travels into the plan: what is asked, and how to read the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StudyText {
    /// `cache-levels`.
    pub name: String,
    /// A heading.
    pub title: String,
    /// The question, one sentence.
    pub question: String,
    /// How to read the answer; paragraphs.
    pub reading: String,
    /// The links whose total times are computed.
    #[serde(default)]
    pub links: Option<Links>,
    /// Figures published elsewhere, shown beside ours.
    #[serde(default)]
    pub published: Option<Published>,
    /// Figures of deliveries published elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_delivery: Option<PublishedDelivery>,
}

/// How long a run may take, in seconds of wall time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// The whole study.
    pub seconds: f64,
    /// Its quick form.
    pub quick_seconds: f64,
    /// One cell, in all its visits.
    pub cell_seconds: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { seconds: 900.0, quick_seconds: 120.0, cell_seconds: 20.0 }
    }
}

/// When a cell is settled.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Precision {
    /// Rounds at most.
    pub max_rounds: u32,
    /// Samples a cell needs.
    pub min_samples: u32,
    /// Half-width of the 95% interval ÷ CPU time.
    pub half_width: f64,
}

impl Default for Precision {
    fn default() -> Self {
        Precision { max_rounds: 30, min_samples: 7, half_width: 0.02 }
    }
}

/// The links between application and store for which total times are computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// Link speeds in Mbit/s, ascending.
    pub mbit: Vec<f64>,
    /// Reads for each write.
    pub reads_per_write: Vec<f64>,
}

/// A published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// What it is and its conditions.
    pub about: String,
    /// The payload whose cells stand beside it.
    pub payload: String,
    /// The serializer of those cells.
    pub serializer: Option<String>,
    /// The codec of those cells.
    pub codec: String,
    /// One row a level.
    pub rows: Vec<PublishedRow>,
}

/// One published row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// The level.
    pub level: i32,
    /// Compression in MB/s of uncompressed bytes.
    pub compress_mb_s: f64,
    /// Decompression in MB/s as published (over compressed bytes).
    pub decompress_mb_s_published: f64,
    /// Compression ratio.
    pub ratio: f64,
    /// Space saving in percent.
    pub space_saving: f64,
    /// Ratio ÷ time, in the publication's own unit.
    pub ratio_per_time: f64,
    /// Milliseconds for one object, where published.
    #[serde(default)]
    pub ms: Option<f64>,
}
