//! Pairs of clients that differ in one factor.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verdict::Ratio;

/// Every comparison of a run, kind by kind.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Comparisons(pub Vec<Comparison>);

/// One cell compared with another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The factor in which the two differ.
    pub kind: Kind,
    /// The id of the cell.
    pub cell: String,
    /// The id of the cell that it is compared with.
    pub beside: String,
    /// Rounds that both have.
    pub rounds: u32,
    /// By metric: the cell's value ÷ the other's, within each round: the median over rounds with its 95% interval. Left
    /// out without two common rounds, or without the figure.
    pub ratios: BTreeMap<String, Ratio>,
}

/// The factor in which two cells differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Another version of PHP, or a variant, compared with the plan's first runtime.
    Runtime,
    /// A variant of a PHP, such as with its JIT compiler, compared with the same PHP without it.
    Variant,
    /// Another driver of the same store, compared with the plan's first one.
    Driver,
    /// Another store with its fastest driver, compared with the plan's first store with its fastest driver.
    Store,
    /// A worker that encodes, compared with one that only serializes.
    Setting,
}

impl Kind {
    /// Every kind, in the order of tables.
    pub(crate) const ALL: [Kind; 5] =
        [Kind::Runtime, Kind::Variant, Kind::Driver, Kind::Store, Kind::Setting];

    /// Whether the two are PHPs.
    pub fn is_runtime(self) -> bool {
        matches!(self, Kind::Runtime | Kind::Variant)
    }
}

impl Comparison {
    pub fn ratio(&self, metric: &str) -> Option<Ratio> {
        self.ratios.get(metric).copied()
    }
}
