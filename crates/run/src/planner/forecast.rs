//! How long a plan will take: from nominal figures, before anything was measured.

use crate::state::History;
use crate::subject;
use weigh_model::cell::Cell;
use weigh_model::plan::Plan;

/// Expected seconds of wall time on an idle processor: never above the budget unless exhaustive.
pub fn plan_seconds(plan: &Plan) -> f64 {
    let policy = &plan.policy;
    let all: f64 = plan.cells.iter().map(|cell| subject::find_subject(cell).cell_seconds(cell, policy)).sum();
    if policy.exhaustive { all } else { all.min(policy.budget_seconds) }
}

/// Expected seconds of wall time of this many rounds of every cell, from nominal figures; fewer of a cell that is done before.
pub fn rounds_seconds(plan: &Plan, rounds: u32) -> f64 {
    let of_cell = |cell: &Cell| {
        let subject = subject::find_subject(cell);
        let visit = subject.visit_seconds(cell, &History::default(), cell.expected_seconds);
        visit * f64::from(subject.rounds(cell).map_or(rounds, |enough| enough.min(rounds)))
    };
    plan.cells.iter().map(of_cell).sum()
}
