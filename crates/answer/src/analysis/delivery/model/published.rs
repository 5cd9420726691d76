//! A published table of deliveries beside ours.

use serde::{Deserialize, Serialize};

use weigh_model::study::PublishedDeliveryRow;

/// The rows of a published table whose cells were measured, and how far the two agree.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PublishedTable {
    /// The runtime of the cells beside it.
    pub runtime: String,
    /// In the published order.
    pub rows: Vec<RowComparison>,
    /// One a column that both have.
    pub agreements: Vec<Agreement>,
}

/// One row, as published and as measured here.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RowComparison {
    /// The published row.
    pub published: PublishedDeliveryRow,
    /// The cell measured here.
    pub cell: String,
    /// Bytes of the body.
    pub bytes: u64,
    /// Seconds for as many requests as were published, one after the other; null with several connections, and where no
    /// number of requests was published.
    pub seconds: Option<f64>,
    /// Mean seconds a request.
    pub mean_seconds: Option<f64>,
    /// Requests a second.
    pub requests_per_second: Option<f64>,
}

/// A column that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Bytes of the body.
    Bytes,
    /// Seconds a request.
    Seconds,
    /// Requests a second.
    Rate,
}

/// How far the order of the rows is the same in one column.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Agreement {
    /// The column.
    pub measure: Measure,
    /// Pairs of rows.
    pub pairs: u32,
    /// Of these, pairs that differ the same way here, and pairs within 1% in both.
    pub same: u32,
    /// Pairs that cannot be told apart here.
    pub undecided: u32,
    /// Kendall's rank correlation of the published and our figures, −1 to 1, over pairs that are not within 1% as published;
    /// null without one.
    pub rank: Option<f64>,
    /// Pairs that differ the other way here beyond doubt, or are within 1% in only one of the two.
    pub disagreements: Vec<Disagreement>,
}

/// Two rows that stand otherwise to each other here.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Disagreement {
    /// The labels of the two rows as published.
    pub labels: (String, String),
    /// The ids of the cells.
    pub cells: (String, String),
    /// Their figures as published.
    pub published: (f64, f64),
    /// Their figures here.
    pub here: (f64, f64),
}

impl Disagreement {
    /// The two are within 1% as published.
    pub fn is_alike_as_published(&self) -> bool {
        (self.published.0 / self.published.1 - 1.0).abs() <= 0.01
    }
}
