//! When a cell is done. Everything here follows from the plan and the records, so that a run that was taken up
//! again decides as the one that was not interrupted.

use super::cell_comparisons::CellComparisons;
use super::forecast::{self, PLACED, SPLIT_ROUNDS};
use super::state::{History, State, cpu_seconds};
use crate::subject;
use weigh_model::plan::{Plan, Policy};
use weigh_model::protocol::Phase;
use weigh_model::record::StopReason;

/// Rounds before intervals say anything: with a neighbour in half of all rounds, none of five is calm with a probability
/// of 0.03, none of three with 0.13.
const ROUNDS: usize = 5;
/// How many times wider than asked for the interval of encode or serve may be of a cell whose place on the front is settled.
const WIDER: f64 = 3.0;
/// Rounds after which it shows who is far behind.
const FIRST_ROUNDS: usize = 2;

/// The live cells that are done after `round`, with the reason.
pub fn decide(plan: &Plan, state: &State, round: u32) -> Vec<(usize, StopReason)> {
    let policy = &plan.policy;
    let is_open = !policy.exhaustive && !policy.to_the_end && !policy.even;
    let standing = is_open.then(|| CellComparisons::of(plan, state));
    let is_short = is_open && forecast::is_short(plan, state);
    let reason = |i: usize| {
        let past = &state.cells[i];
        if past.fault.is_some() {
            return Some(StopReason::Fault);
        }
        if let Some(standing) = standing.as_ref().filter(|_| past.was_in(round)) {
            let early = behind(plan, standing, past, i).filter(|_| is_short);
            let early = early.or_else(|| self::early(plan, standing, past, i));
            if early.is_some() {
                return early;
            }
        }
        // A cell that was put off to the end was not measured for want of time.
        let last = if past.visits.is_empty() { StopReason::Budget } else { StopReason::Rounds };
        (round >= policy.max_rounds).then_some(last)
    };
    state.live().into_iter().filter_map(|i| Some((i, reason(i)?))).collect()
}

/// Where time is too short for the rounds of all, a cell that is far behind another in each of two rounds leaves its time to the others.
fn behind(plan: &Plan, standing: &CellComparisons<'_>, past: &History, i: usize) -> Option<StopReason> {
    let by = standing.far_ahead(i).filter(|_| past.visits.len() >= FIRST_ROUNDS && !plan.cells[i].keep)?;
    Some(StopReason::Dominated { by: plan.cells[by].id.clone() })
}

/// Why a cell is done before its last round.
fn early(plan: &Plan, standing: &CellComparisons<'_>, past: &History, i: usize) -> Option<StopReason> {
    let policy = &plan.policy;
    let rounds = past.visits.len();
    if let Some(enough) = subject::find_subject(&plan.cells[i]).rounds(&plan.cells[i]) {
        return (rounds >= enough as usize).then_some(StopReason::Rounds);
    }
    let is_exact = |phase: Phase, asked: f64| {
        let margin = standing.margin(i, phase).filter(|_| rounds >= ROUNDS);
        margin.is_some_and(|margin| margin <= asked)
    };
    let headline = subject::find_subject(&plan.cells[i]).shape().phases;
    let is_settled = |phase: &Phase| is_exact(*phase, policy.half_width);
    // A cell whose own figures are shown goes on until they are as exact as asked for.
    let is_free = !plan.cells[i].keep;
    if let Some(by) = standing.dominator(i).filter(|_| is_free) {
        return Some(StopReason::Dominated { by: plan.cells[by].id.clone() });
    }
    // Rounds in two clusters tell two figures: more of them show which is the usual one.
    let is_split = rounds < SPLIT_ROUNDS && headline.iter().any(|phase| standing.is_split(i, *phase));
    let is_exact_enough = is_enough(policy, past, headline) && headline.iter().all(is_settled);
    if is_exact_enough && !standing.is_tied(i) && !is_split {
        return Some(StopReason::Settled);
    }
    // The front is one of bytes and the first of the headline phases.
    let is_narrow = is_exact(headline[0], WIDER * policy.half_width) || rounds >= PLACED;
    if is_free && is_narrow && standing.is_placed(i) && !is_split {
        return Some(StopReason::Placed);
    }
    is_spent(policy, past).then_some(StopReason::Budget)
}

fn is_enough(policy: &Policy, past: &History, headline: &[Phase]) -> bool {
    headline.iter().all(|phase| past.samples(*phase).len() >= policy.min_samples as usize)
}

/// One more visit like the last one would use more CPU time than the cell has.
fn is_spent(policy: &Policy, past: &History) -> bool {
    let spent: f64 = past.visits.iter().map(cpu_seconds).sum();
    spent + past.visits.last().map_or(0.0, cpu_seconds) > policy.cell_seconds
}
