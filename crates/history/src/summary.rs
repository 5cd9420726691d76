//! What a run or a load comes to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use weigh_answer::facts::Facts;

/// What lists of runs tell of one, without its values.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Summary {
    pub(super) schema: u32,
    /// What a look at the files says from which everything is derived.
    pub(super) stamp: String,
    /// When it was started, RFC 3339, UTC; empty where its file does not say.
    pub started: String,
    /// The study, `load` for a load; none where the run is damaged.
    pub study: Option<String>,
    /// The study's title.
    pub title: Option<String>,
    pub subject: Option<String>,
    pub complete: bool,
    /// The first sentence of its answer; none while it is not complete.
    pub answer: Option<String>,
    /// Configurations in its plan.
    pub configurations: usize,
    /// Configurations that get no further samples.
    pub done: usize,
    pub rounds: u32,
    /// Seconds of wall time.
    pub seconds: f64,
    /// Why it cannot be shown.
    pub damaged: Option<String>,
    /// What it was measured with, by name: versions, the machine, digests of its content.
    pub facts: Facts,
}

/// A value of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The value, in the metric's unit.
    pub value: f64,
    /// The lower end of its interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    pub rounds: u32,
}

/// The values of a run, by metric and configuration.
pub type Values = BTreeMap<String, BTreeMap<String, Figure>>;
