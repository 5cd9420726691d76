//! The document of a load: what was planned, counted and derived.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use weigh_load::calibrate::Calibration;
use weigh_load::capacity::Capacity;
use weigh_load::compare::Comparison;
use weigh_load::plan::LoadPlan;
use weigh_load::result::LoadResult;

use crate::load::caveats::{self, LoadCaveat};
use crate::load::figures::Figures;

/// The version of [`Document`].
pub const SCHEMA: u32 = 1;

/// The document that `weigh load --json` prints and that `result.json` contains.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Document {
    /// The version of this format.
    pub schema: u32,
    /// The program's version.
    pub weigh: String,
    /// When the run started, in UTC.
    pub started: String,
    /// The machine, on one line.
    pub machine: String,
    /// The same by name, for comparisons: `processor`, `cores`, `kernel`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// The command line.
    pub command: Vec<String>,
    /// The results.
    #[serde(flatten)]
    pub measured: Measured,
}

impl Document {
    /// The same with its figures and caveats computed again from its counts, as for each document that was read.
    #[must_use]
    pub fn derived(mut self) -> Document {
        match &mut self.measured {
            Measured::Run(run) => run.derive(),
            Measured::Comparison(compared) => {
                [&mut compared.a, &mut compared.b].into_iter().for_each(Run::derive)
            }
            Measured::Capacity(searched) => searched.closed.derive(),
            Measured::Calibration(_) => {}
        }
        self
    }
}

/// The kind of measurement with its results.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Measured {
    /// One block of load.
    Run(Box<Run>),
    /// Two sides in short alternating blocks.
    Comparison(Box<Compared>),
    /// The highest sustained rate.
    Capacity(Box<Searched>),
    /// The generator's own cost on this machine.
    Calibration(Calibration),
}

/// Two sides.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Compared {
    /// The baseline; all its blocks together.
    pub a: Run,
    /// The candidate.
    pub b: Run,
    /// The ratios, within pairs of blocks.
    pub comparison: Comparison,
}

impl Compared {
    /// Failures of both sides, and requests with different responses.
    pub fn faults(&self) -> u64 {
        self.a.faults() + self.b.faults() + self.comparison.differences.len() as u64
    }
}

/// A search for the highest sustained rate.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Searched {
    /// A block in a closed model, from which the search started.
    pub closed: Run,
    /// The result of the search.
    pub capacity: Capacity,
}

/// One block of load, or several of the same plan combined.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Run {
    /// The plan.
    pub plan: LoadPlan,
    /// The counts.
    pub result: LoadResult,
    /// The derived figures.
    pub figures: Figures,
    /// Caveats.
    pub caveats: Vec<LoadCaveat>,
}

impl Run {
    /// Computes the figures of a result.
    pub fn of(plan: LoadPlan, result: LoadResult, interrupted: bool) -> Run {
        let figures = Figures::of(&plan, &result);
        let caveats = caveats::find_caveats(&plan, &result, &figures, interrupted);
        Run { plan, result, figures, caveats }
    }

    fn derive(&mut self) {
        let interrupted = self.caveats.contains(&LoadCaveat::Interrupted);
        *self = Run::of(std::mem::take(&mut self.plan), std::mem::take(&mut self.result), interrupted);
    }

    /// Failed responses, failed preflights, and agents that were lost.
    pub fn faults(&self) -> u64 {
        let preflights = self.result.preflights.iter().filter(|p| p.fault.is_some()).count() as u64;
        self.figures.total.counts.faulted + preflights + self.result.lost().count() as u64
    }

    /// Whether any of its streams has an open model.
    pub fn is_open(&self) -> bool {
        is_open(&self.plan)
    }
}

/// Whether any stream has an open model: requests are due independent of responses.
fn is_open(plan: &LoadPlan) -> bool {
    openness(plan).any(|open| open)
}

/// Whether any stream has a closed model: requests wait for responses.
pub(crate) fn has_closed(plan: &LoadPlan) -> bool {
    openness(plan).any(|open| !open)
}

fn openness(plan: &LoadPlan) -> impl Iterator<Item = bool> + '_ {
    let model = |text: &str| weigh_load::arrival::parse_for(text, plan.length.seconds);
    plan.streams.iter().map(move |s| model(&s.arrival).is_ok_and(|m| m.is_open()))
}
