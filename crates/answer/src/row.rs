//! A row: one configuration with all its results.

mod samples;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::caveat::Caveat;
use weigh_model::cell::Cell;
use weigh_model::record::StopReason;

use crate::estimate::Estimate;
use crate::verdict::Ratio;

pub use samples::{Bins, RowSamples};

/// Values by the id of their metric.
pub type Values = BTreeMap<String, Estimate>;

/// The results of one cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// Its factors.
    pub cell: Cell,
    /// Facts about it by name: `library`, `coding`, `independent decoder`.
    pub facts: BTreeMap<String, String>,
    /// Measured values, by metric; a metric that was not observed is left out.
    pub values: Values,
    /// Whether it is on its group's Pareto front.
    pub front: bool,
    /// If it is not on the front: the id of the cell there that has no more bytes and is not significantly slower.
    pub dominated_by: Option<String>,
    /// Its cost ÷ that of each of the group's marked cells, by mark.
    pub beside: BTreeMap<String, Ratio>,
    /// Why it was no longer visited; null while the run goes on.
    pub stop: Option<StopReason>,
    /// Caveats.
    pub caveats: Vec<Caveat>,
    /// When it was measured, and the distribution of its samples; none for a row that was read from a report.
    #[serde(skip)]
    pub seen: Option<Box<RowSamples>>,
}

impl Row {
    pub fn id(&self) -> &str {
        &self.cell.id
    }

    pub fn get(&self, metric: &str) -> Option<&Estimate> {
        self.values.get(metric)
    }

    pub fn value(&self, metric: &str) -> Option<f64> {
        self.get(metric).map(|estimate| estimate.value)
    }

    /// The value of a count; 0 if there is none.
    pub fn count(&self, metric: &str) -> u64 {
        self.value(metric).map_or(0, |value| value as u64)
    }

    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.get(name).map(String::as_str)
    }
}
