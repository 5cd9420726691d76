//! How long a plan will take: from nominal figures, before anything was measured.

use crate::state::History;
use crate::subject;
use weigh_model::cell::Cell;
use weigh_model::plan::Plan;

/// A codec that says nothing about its speed is taken for this fast, in MB/s.
const UNKNOWN_MB_S: f64 = 50.0;

/// The nominal rate at a level: between two known levels on a logarithmic scale, outside them the nearest.
pub fn nominal_rate(nominal: &[(i32, f64)], level: i32) -> f64 {
    let mut known: Vec<_> = nominal.iter().filter(|(_, r)| *r > 0.0).copied().collect();
    known.sort_by_key(|(l, _)| *l);
    let (Some(first), Some(last)) = (known.first(), known.last()) else { return UNKNOWN_MB_S };
    if level <= first.0 {
        return first.1;
    }
    if level >= last.0 {
        return last.1;
    }
    known
        .windows(2)
        .find(|w| level <= w[1].0)
        .map(|w| {
            let share = f64::from(level - w[0].0) / f64::from(w[1].0 - w[0].0);
            (w[0].1.ln() * (1.0 - share) + w[1].1.ln() * share).exp()
        })
        .unwrap_or(UNKNOWN_MB_S)
}

/// Expected seconds of wall time on an idle processor: never above the budget unless exhaustive.
pub fn plan_seconds(plan: &Plan) -> f64 {
    let policy = &plan.policy;
    let all: f64 = plan.cells.iter().map(|cell| subject::of(cell).cell_seconds(cell, policy)).sum();
    if policy.exhaustive { all } else { all.min(policy.budget_seconds) }
}

/// Expected seconds of wall time of this many rounds of every cell, from nominal figures; fewer of a cell that is done before.
pub fn rounds_seconds(plan: &Plan, rounds: u32) -> f64 {
    let of_cell = |cell: &Cell| {
        let subject = subject::of(cell);
        let visit = subject.visit_seconds(cell, &History::default(), cell.expected_seconds);
        visit * f64::from(subject.rounds(cell).map_or(rounds, |enough| enough.min(rounds)))
    };
    plan.cells.iter().map(of_cell).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_between_levels_lie_between_their_neighbours() {
        let nominal = [(1, 100.0), (9, 10.0)];
        assert_eq!(nominal_rate(&nominal, 1), 100.0);
        assert_eq!(nominal_rate(&nominal, 22), 10.0);
        let middle = nominal_rate(&nominal, 5);
        assert!((middle - 31.62).abs() < 0.1, "{middle}");
        assert_eq!(nominal_rate(&[], 3), UNKNOWN_MB_S);
    }
}
