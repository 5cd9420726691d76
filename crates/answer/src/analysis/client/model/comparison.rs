//! Cells beside each other that differ in one thing.

use serde::{Deserialize, Serialize};

use crate::analysis::model::Relative;

/// What two cells differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Another version of PHP, or another way to run one, beside the plan's first runtime.
    Runtime,
    /// Another way to run a PHP, such as with its compiler, beside the same PHP without it.
    Variant,
    /// Another driver of the same store, beside the plan's first one.
    Driver,
    /// Another store by its quickest driver, beside the plan's first store by its own.
    Store,
    /// A worker that encodes, beside one that serializes alone.
    Setting,
}

impl Kind {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Runtime => "runtime",
            Kind::Variant => "variant",
            Kind::Driver => "driver",
            Kind::Store => "store",
            Kind::Setting => "setting",
        }
    }
}

/// One cell beside another: each ratio is formed inside each round and is the median over rounds with its 95% interval. Without two
/// rounds in common, or without the figure, it is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Comparison {
    /// What the two differ in.
    pub kind: Kind,
    /// The id of the cell.
    pub cell: String,
    /// The id of the cell that it stands beside.
    pub beside: String,
    /// Rounds that both have.
    pub rounds: u32,
    /// Combined transactions a second.
    pub combined: Option<Relative>,
    /// CPU time a transaction of workers and store.
    pub cpu: Option<Relative>,
    /// CPU time a transaction of the workers.
    pub client_cpu: Option<Relative>,
    /// Most that a worker's `memory_get_peak_usage()` was.
    pub memory: Option<Relative>,
    /// Most that the PSS of a worker was.
    pub pss: Option<Relative>,
    /// Median time inside PUT.
    pub put: Option<Relative>,
    /// Median time inside GET.
    pub get: Option<Relative>,
}

/// With fewer rounds than this, the range of ratios is taken to be a tenth wider at both ends: ranges of a few rounds say too little.
const ENOUGH: u32 = 5;
const ASSUMED: f64 = 0.1;

/// Whether a ratio formed inside so many rounds differs from 1 beyond doubt.
pub fn is_settled(relative: &Relative, rounds: u32) -> bool {
    let margin = if rounds < ENOUGH { ASSUMED } else { 0.0 };
    relative.low * (1.0 - margin) > 1.0 || relative.high * (1.0 + margin) < 1.0
}
