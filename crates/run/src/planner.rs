//! From a study and what can be measured here to a plan: its cells, what was excluded and why, and the expected time.
//!
//! It owns what is the same for every subject: what is left out and why, what would take too long, cells that two blocks name. How
//! blocks are multiplied out is each subject's.

pub mod forecast;
#[cfg(test)]
mod tests;
mod used;

use std::collections::HashSet;

use anyhow::{Result, bail};

pub use crate::draft::{PlanOptions, policy};

use crate::draft::{ContentSource, Draft};
use crate::study::Study;
use crate::subject;
use weigh_model::inventory::Inventory;
use weigh_model::plan::{Exclusion, Plan};
use weigh_model::text::clean;
use weigh_model::units;

/// Builds the plan of a study. Measures nothing.
///
/// # Errors
/// A name that nothing answers to (content, runtime, serializer, codec, set), a level or an option that a codec
/// does not take. What exists but cannot run here is an [`Exclusion`], not an error.
pub fn build(
    study: &Study,
    options: &PlanOptions,
    inventory: &Inventory,
    contents: &mut ContentSource<'_>,
) -> Result<Plan> {
    let subject = subject::of_study(study);
    let mut draft = Draft::new(study, options, inventory);
    subject.plan(study, &mut draft, contents)?;
    let Draft { policy, payloads, mut cells, mut exclusions, .. } = draft;
    if !options.configurations.is_empty() {
        cells.retain(|cell| options.configurations.contains(&cell.id));
        exclusions.retain(|exclusion| options.configurations.iter().any(|id| leaves_out(exclusion, id)));
    }
    let mut once = HashSet::new();
    exclusions.retain(|e| once.insert((e.cell.clone(), e.reason.clone())));
    Ok(Plan {
        study: study.text(),
        seed: options.seed,
        policy,
        payloads,
        runtimes: used::runtimes(&cells, subject.runtimes(inventory)),
        servers: used::servers(&cells, inventory),
        stores: used::stores(&cells, inventory),
        links: used::links(&cells, inventory),
        sides: Vec::new(),
        cells,
        exclusions,
    })
}

/// Makes sure that each of these ids is a configuration of one of these plans, which were built for them alone.
///
/// # Errors
/// One line: why the first that is in none is not there.
pub fn has_each(plans: &[Plan], ids: &[String]) -> Result<()> {
    let is_planned = |id: &str| plans.iter().flat_map(|plan| &plan.cells).any(|cell| cell.id == id);
    let Some(id) = ids.iter().find(|id| !is_planned(id)) else { return Ok(()) };
    let told = clean(id);
    if let Some(left) = plans.iter().flat_map(|plan| &plan.exclusions).find(|left| leaves_out(left, id)) {
        let remedy = left.remedy.as_deref().map(|remedy| format!("; {}", clean(remedy))).unwrap_or_default();
        bail!("--configuration {told} is left out here: {}{remedy}", clean(&left.reason));
    }
    let names: Vec<&str> = plans.iter().map(|plan| plan.study.name.as_str()).collect();
    let first = names.first().copied().unwrap_or("STUDY");
    bail!(
        "--configuration {told}: no configuration of {} has this id here; list them: weigh run --dry-run {first} --cells",
        units::list(&names)
    )
}

/// An exclusion names a configuration, or how the ids of several begin.
fn leaves_out(exclusion: &Exclusion, id: &str) -> bool {
    id.starts_with(exclusion.cell.trim_end_matches('*'))
}
