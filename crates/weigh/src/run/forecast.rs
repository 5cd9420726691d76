//! What the next visit to a cell will cost, and whether the budget allows it. A forecast orders and admits work;
//! no result rests on it.

use super::order::SLOW;
use super::state::{History, State};
use crate::plan::Plan;

/// Nominal figures below this are mostly the cost of asking, and say nothing about the machine's speed.
const TELLING: f64 = 0.01;
/// What asking costs at least, in seconds.
const OVERHEAD: f64 = 0.002;
/// How far the machine may be from the nominal figures.
const CALIBRATION: (f64, f64) = (0.25, 16.0);
/// A forecast from nominal figures is trusted less than one from a visit.
const SAFETY_NOMINAL: f64 = 1.3;
/// See [`SAFETY_NOMINAL`].
const SAFETY_MEASURED: f64 = 1.1;
/// Rounds that quick cells are to get before slow ones may use up the budget.
const ROUNDS_KEPT: usize = 3;
/// The part of the budget that is kept for that at most.
const SHARE_KEPT: f64 = 0.3;

/// Expected seconds of wall time of the next visit to each cell of the plan.
pub fn expected(plan: &Plan, state: &State) -> Vec<f64> {
    let calibration = calibration(plan, state);
    let pairs = plan.cells.iter().zip(&state.cells);
    pairs.map(|(cell, past)| next(past).unwrap_or(cell.expected_seconds * calibration + OVERHEAD)).collect()
}

/// How much longer first visits took than the nominal figures said.
fn calibration(plan: &Plan, state: &State) -> f64 {
    let first = |past: &History| past.visits.first().map(|v| v.took);
    let pairs = plan.cells.iter().zip(&state.cells);
    let telling = pairs.filter_map(|(cell, past)| Some((cell.expected_seconds, first(past)?)));
    let (said, took) = telling
        .filter(|&(said, _)| said >= TELLING)
        .fold((0.0, 0.0), |(said, took), (s, t)| (said + s, took + t));
    if said > 0.0 { (took / said).clamp(CALIBRATION.0, CALIBRATION.1) } else { 1.0 }
}

/// The timed work of the last visit; the first one's untimed work (verifying, memory) does not come again.
fn next(past: &History) -> Option<f64> {
    let last = past.visits.last()?;
    let phase = |s: &crate::protocol::Samples| s.wall_ns.iter().sum::<f64>() * f64::from(s.batch);
    let timed = last.phases.values().map(phase).sum::<f64>() / 1e9;
    Some(timed.min(last.took.max(0.0)) + OVERHEAD)
}

/// What to do about a visit that would begin now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Begin.
    Go,
    /// Not in this round: quick cells have a claim on the time.
    Later,
    /// Never: it would end past the budget, and the time only gets shorter.
    Never,
}

/// Whether the budget allows a visit to cell `i` now, `elapsed` seconds into the run.
///
/// A slow cell also leaves time for the quick ones to get three rounds each (at most 0.3 of the budget), for it
/// yields one figure where they yield most of the front.
pub fn admit(plan: &Plan, state: &State, i: usize, expected: &[f64], elapsed: f64) -> Admission {
    if plan.policy.exhaustive {
        return Admission::Go;
    }
    let budget = plan.policy.budget_seconds;
    let safety = if state.cells[i].visits.is_empty() { SAFETY_NOMINAL } else { SAFETY_MEASURED };
    let end = elapsed + expected[i] * safety;
    if end > budget {
        Admission::Never
    } else if expected[i] > SLOW && end + kept(state, expected).min(SHARE_KEPT * budget) > budget {
        Admission::Later
    } else {
        Admission::Go
    }
}

fn kept(state: &State, expected: &[f64]) -> f64 {
    let quick = state.cells.iter().zip(expected).filter(|(past, e)| past.is_live() && **e <= SLOW);
    quick.map(|(past, e)| e * ROUNDS_KEPT.saturating_sub(past.visits.len()) as f64).sum()
}

/// Seconds that the rest of the run is expected to take: three rounds for every cell, within the budget.
pub fn remaining(plan: &Plan, state: &State, expected: &[f64], elapsed: f64) -> f64 {
    let rounds = |past: &History| {
        let asked = if plan.policy.exhaustive { plan.policy.max_rounds as usize } else { ROUNDS_KEPT };
        asked.saturating_sub(past.visits.len()).max(1) as f64
    };
    let live = state.cells.iter().zip(expected).filter(|(past, _)| past.is_live());
    let work: f64 = live.map(|(past, e)| e * rounds(past)).sum();
    if plan.policy.exhaustive { work } else { work.min((plan.policy.budget_seconds - elapsed).max(0.0)) }
}
