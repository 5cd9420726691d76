//! What blocks of load come to: figures that a reader wants, and caveats. Pure: it reads plans and results, and
//! everything in it can be derived again from them.

mod caveats;
pub mod figures;
mod merge;
pub mod report;

use serde::Serialize;
use weigh_load::calibrate::Calibration;
use weigh_load::capacity::Capacity;
use weigh_load::compare::Comparison;
use weigh_load::plan::LoadPlan;
use weigh_load::result::LoadResult;

pub use caveats::LoadCaveat;
pub use figures::Figures;
pub use merge::merge;

/// The version of [`Document`].
pub const SCHEMA: u32 = 1;

/// What `weigh load --json` prints and `result.json` holds.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Document {
    /// The version of this form.
    pub schema: u32,
    /// The program's version.
    pub weigh: String,
    /// When it began, in UTC.
    pub started: String,
    /// The machine, in one line.
    pub machine: String,
    /// The command line.
    pub command: Vec<String>,
    /// What was measured.
    #[serde(flatten)]
    pub measured: Measured,
}

/// What was measured.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Measured {
    /// One block of load.
    Run(Box<Run>),
    /// Two sides in short blocks that alternate.
    Comparison(Box<Compared>),
    /// The highest rate that is held.
    Capacity(Box<Searched>),
    /// What the generator costs itself on this machine.
    Calibration(Calibration),
}

/// Two sides.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Compared {
    /// What is compared with; all its blocks together.
    pub a: Run,
    /// What is compared.
    pub b: Run,
    /// The ratios, formed inside pairs of blocks.
    pub comparison: Comparison,
}

impl Compared {
    /// Faults of both sides, and requests to which the two send something else.
    pub fn faults(&self) -> u64 {
        self.a.faults() + self.b.faults() + self.comparison.differences.len() as u64
    }
}

/// A search for the knee.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Searched {
    /// A closed block, from which the search started.
    pub closed: Run,
    /// What was found.
    pub capacity: Capacity,
}

/// One block of load, or several of the same plan taken together.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Run {
    /// What was asked for.
    pub plan: LoadPlan,
    /// What was counted.
    pub result: LoadResult,
    /// What follows from it.
    pub figures: Figures,
    /// What to bear in mind.
    pub caveats: Vec<LoadCaveat>,
}

impl Run {
    /// Derives what follows from a result.
    pub fn of(plan: LoadPlan, result: LoadResult, interrupted: bool) -> Run {
        let figures = Figures::of(&plan, &result);
        let caveats = caveats::of(&plan, &result, &figures, interrupted);
        Run { plan, result, figures, caveats }
    }

    /// Responses that faulted, and preflights that did.
    pub fn faults(&self) -> u64 {
        let preflights = self.result.preflights.iter().filter(|p| p.fault.is_some()).count() as u64;
        self.figures.total.counts.faulted + preflights
    }

    /// Whether requests are due at instants of their own in any of its streams.
    pub fn is_open(&self) -> bool {
        is_open(&self.plan)
    }
}

/// Whether requests are due at instants of their own in any stream.
fn is_open(plan: &LoadPlan) -> bool {
    openness(plan).any(|open| open)
}

/// Whether requests wait for responses in any stream.
fn has_closed(plan: &LoadPlan) -> bool {
    openness(plan).any(|open| !open)
}

fn openness(plan: &LoadPlan) -> impl Iterator<Item = bool> + '_ {
    let model = |text: &str| weigh_load::arrival::parse_for(text, plan.length.seconds);
    plan.streams.iter().map(move |s| model(&s.arrival).is_ok_and(|m| m.is_open()))
}
