//! A published table beside what was measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::study::PublishedRow;

/// The rows of a published table whose cells were measured, and how far the two orders agree.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BesidePublished {
    /// The runtime of the compared cells.
    pub runtime: String,
    /// In the published order.
    pub rows: Vec<BesideRow>,
    /// One per column of which two rows were published and measured.
    pub agreements: Vec<Agreement>,
}

/// One row, as published and as measured here.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BesideRow {
    /// The published row.
    pub published: PublishedRow,
    /// The cell measured here.
    pub cell: String,
    /// Its figures, in the units and the order of the published columns; null: not measured.
    pub here: Vec<Option<f64>>,
}

/// How far the orders of the rows agree in one column.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// The column.
    pub column: String,
    /// Pairs of rows.
    pub pairs: u32,
    /// Pairs that differ in the same direction here, and pairs within 1% in both.
    pub same: u32,
    /// Pairs without a significant difference here.
    pub undecided: u32,
    /// Kendall's rank correlation of the published and the measured figures, −1 to 1, over pairs that are not within 1%
    /// as published; null without such a pair.
    pub rank: Option<f64>,
    /// Pairs that differ significantly in the other direction here, or are within 1% in only one of the two.
    pub disagreements: Vec<Disagreement>,
}

/// Two rows whose order differs here.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Disagreement {
    /// The labels of the two rows as published.
    pub labels: (String, String),
    /// Their figures as published.
    pub published: (f64, f64),
    /// Their figures here.
    pub here: (f64, f64),
}
