//! How much a study may take, and which cells would take too much of it.

use super::build::Ask;
use weigh_model::plan::{Exclusion, Policy};
use weigh_model::study::Study;

/// A cell whose single encode would take more than this share of the budget is left out.
const BUDGET_SHARE: f64 = 0.35;

/// How long, how often and how exact a study is measured.
pub fn policy(study: &Study, ask: &Ask) -> Policy {
    let budget = if ask.quick { study.budget.quick_seconds } else { study.budget.seconds };
    Policy {
        budget_seconds: ask.budget_seconds.unwrap_or(budget),
        max_rounds: study.precision.max_rounds,
        min_samples: study.precision.min_samples,
        half_width: study.precision.half_width,
        cell_seconds: study.budget.cell_seconds,
        exhaustive: ask.exhaustive,
    }
}

/// Leaves out a cell that would use up the budget. `one` is what is done once at least: `call`, `response`.
///
/// # Errors
/// The reason, with the budget that would do.
pub(super) fn affordable(id: &str, seconds: f64, policy: &Policy, one: &str) -> Result<(), Exclusion> {
    if policy.exhaustive || seconds <= BUDGET_SHARE * policy.budget_seconds {
        return Ok(());
    }
    let reason = format!(
        "one {one} takes about {seconds:.0} s, too much of the budget of {:.0} s",
        policy.budget_seconds
    );
    let enough = (seconds / BUDGET_SHARE).ceil();
    let remedy = Some(format!("--budget {enough:.0}, or --exhaustive"));
    Err(Exclusion { cell: id.to_owned(), reason, remedy })
}
