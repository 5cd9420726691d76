//! A plan while a study's blocks are gone through: what each subject adds to it, by the rules that are the same for all.

use std::collections::HashMap;

use anyhow::{Result, bail};

use crate::study::Study;
use weigh_model::cell::Cell;
use weigh_model::inventory::{Inventory, Listed};
use weigh_model::payload::Payload;
use weigh_model::plan::{Exclusion, Policy};
use weigh_model::setting::LevelRequest;
use weigh_model::suggest::nearest_hint;
use weigh_model::units;

/// The word for everything of a kind.
pub const EVERY: &str = "*";
/// A cell whose single encode would take more than this share of the budget is left out.
const BUDGET_SHARE: f64 = 0.35;

/// What the user asked for beside the study.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    pub quick: bool,
    /// Seed of every random choice.
    pub seed: u64,
    /// Another budget than the study's, in seconds.
    pub budget_seconds: Option<f64>,
    /// Measure everything to the last round.
    pub exhaustive: bool,
    /// Levels where a request says nothing of them.
    pub levels: LevelRequest,
    /// Only the configurations with these ids; empty: all.
    pub configurations: Vec<String>,
}

impl Default for PlanOptions {
    fn default() -> Self {
        let levels = LevelRequest::Representative;
        PlanOptions {
            quick: false,
            seed: 1,
            budget_seconds: None,
            exhaustive: false,
            levels,
            configurations: Vec::new(),
        }
    }
}

/// Gives the payloads a content name stands for: for codecs cut into items of the given size when one is given, for deliveries
/// cut off after as many bytes.
pub type ContentSource<'a> = dyn FnMut(&str, Option<u64>) -> Result<Vec<Payload>> + 'a;

/// How long, how often and how exact a study is measured.
pub fn policy(study: &Study, options: &PlanOptions) -> Policy {
    let budget = if options.quick { study.budget.quick_seconds } else { study.budget.seconds };
    let budget_seconds = options.budget_seconds.unwrap_or(budget);
    // A larger budget is larger for each cell too; a smaller one takes nothing from a cell.
    let times = (budget_seconds / budget).max(1.0);
    Policy {
        budget_seconds,
        max_rounds: study.precision.max_rounds,
        min_samples: study.precision.min_samples,
        half_width: study.precision.half_width,
        cell_seconds: study.budget.cell_seconds * times,
        exhaustive: options.exhaustive,
        to_the_end: false,
        even: false,
        in_order: false,
    }
}

/// A plan while blocks are gone through.
pub struct Draft<'a> {
    /// What can be measured here.
    pub inventory: &'a Inventory,
    /// What the user asked for.
    pub options: &'a PlanOptions,
    pub(crate) policy: Policy,
    /// Where each cell stands, by id.
    seen: HashMap<String, usize>,
    pub(crate) payloads: Vec<Payload>,
    pub(crate) cells: Vec<Cell>,
    pub(crate) exclusions: Vec<Exclusion>,
}

impl<'a> Draft<'a> {
    pub fn new(study: &Study, options: &'a PlanOptions, inventory: &'a Inventory) -> Draft<'a> {
        let (seen, payloads, cells, exclusions) = Default::default();
        Draft { inventory, options, policy: policy(study, options), seen, payloads, cells, exclusions }
    }

    /// Leaves out a cell, or all whose id begins so.
    pub fn exclude(&mut self, cell: String, reason: impl Into<String>, remedy: Option<&str>) {
        self.exclusions.push(Exclusion { cell, reason: reason.into(), remedy: remedy.map(str::to_owned) });
    }

    /// Whether something is here that a cell needs; else the cell is left out.
    pub fn has(&mut self, what: &impl Listed, cell: impl FnOnce() -> String) -> bool {
        if let Some((reason, remedy)) = what.lack() {
            self.exclude(cell(), reason, remedy);
        }
        what.lack().is_none()
    }

    /// What of `all` the words of a block mean, each once. What is not here is left out, under `place` and its name.
    ///
    /// # Errors
    /// What `nobody` says to a word that means nothing.
    pub fn select<'e, T: Listed>(
        &mut self,
        words: &[String],
        all: &'e [T],
        is_meant: impl Fn(&T, &str) -> bool,
        place: &str,
        mut nobody: impl FnMut(&mut Self, &str) -> Result<()>,
    ) -> Result<Vec<&'e T>> {
        let mut found: Vec<&T> = Vec::new();
        for word in words {
            let named: Vec<&T> = all.iter().filter(|one| is_meant(one, word)).collect();
            if named.is_empty() {
                nobody(self, word)?;
            }
            for one in named {
                let is_new = found.iter().all(|known| known.name() != one.name());
                if self.has(one, || format!("{place}/{}", one.name())) && is_new {
                    found.push(one);
                }
            }
        }
        Ok(found)
    }

    /// Takes a payload in, once.
    pub fn keep(&mut self, payload: Payload) {
        if self.payloads.iter().all(|known| known.name != payload.name) {
            self.payloads.push(payload);
        }
    }

    /// Adds a cell, unless it would use up the budget: `one` is what is done once at least (`call`, `response`), which takes this many
    /// seconds. A cell that another block has named already is given back, to be brought in line.
    pub fn add(&mut self, cell: Cell, seconds: f64, one: &str) -> Option<&mut Cell> {
        let policy = &self.policy;
        if !policy.exhaustive && seconds > BUDGET_SHARE * policy.budget_seconds {
            let time = |seconds: f64| units::ns(seconds * 1e9);
            let reason = format!(
                "one {one} takes about {}, more than {} of the budget of {}",
                time(seconds),
                units::percent(BUDGET_SHARE),
                time(policy.budget_seconds)
            );
            let enough = (seconds / BUDGET_SHARE).ceil();
            self.exclude(cell.id, reason, Some(&format!("--budget {enough:.0}s, or --exhaustive")));
            return None;
        }
        if let Some(&at) = self.seen.get(&cell.id) {
            self.cells[at].keep |= cell.keep;
            return Some(&mut self.cells[at]);
        }
        self.seen.insert(cell.id.clone(), self.cells.len());
        self.cells.push(cell);
        None
    }
}

/// A name that nothing of a kind has, with the nearest that something has.
///
/// # Errors
/// Always.
pub fn unknown<'n>(kind: &str, name: &str, known: impl IntoIterator<Item = &'n str>) -> Result<()> {
    bail!("no {kind} `{name}`{}", nearest_hint(name, known))
}
