//! What the next visit to a cell will cost, and whether the budget allows it. A forecast orders and admits work;
//! no result rests on it.

use std::collections::BTreeMap;

use super::order::{SLOW, ranks};
use super::state::{History, State};
use crate::subject;
use weigh_model::cell::Cell;
use weigh_model::plan::Plan;
use weigh_model::record::StopReason;

/// Nominal figures below this are mostly the cost of asking, and say nothing about the machine's speed.
const TELLING: f64 = 0.003;
/// How far the machine may be from the nominal figures.
const CALIBRATION: (f64, f64) = (0.25, 16.0);
/// A forecast from nominal figures is trusted less than one from a visit.
const SAFETY_NOMINAL: f64 = 1.3;
/// See [`SAFETY_NOMINAL`].
const SAFETY_MEASURED: f64 = 1.1;
/// Rounds that quick cells are to get before slow ones may use up the budget: what a claim takes.
const ROUNDS_KEPT: usize = weigh_stats::ROUNDS;
/// Rounds after which a cell whose place on the front is settled needs no narrow interval at all: where it is not there by
/// now, neighbours on the machine are in the way, and to halve it would take four times as many.
pub(super) const PLACED: usize = 8;
/// Rounds of a cell whose rounds are in two clusters, where the budget allows.
pub(super) const SPLIT_ROUNDS: usize = 12;
/// Rounds after which most cells are done: those of a claim, of a place on the front, of two clusters.
const ROUNDS_ASKED: [usize; 3] = [ROUNDS_KEPT, PLACED, SPLIT_ROUNDS];
/// Rounds that a run with the same rounds for all begins with: those, after the one that fills caches.
const ROUNDS_EVEN: usize = ROUNDS_KEPT + 1;
/// The part of the budget that is kept for that at most.
const SHARE_KEPT: f64 = 0.3;

/// Expected seconds of wall time of the next visit to each cell of the plan.
pub fn expected(plan: &Plan, state: &State) -> Vec<f64> {
    let calibration = calibration(plan, state);
    let pairs = plan.cells.iter().zip(&state.cells);
    let pass = |cell: &Cell, past: &History| {
        past.visits
            .last()
            .and_then(|v| subject::find_subject(cell).pass_seconds(v))
            .unwrap_or(cell.expected_seconds * calibration)
    };
    pairs
        .map(|(cell, past)| subject::find_subject(cell).visit_seconds(cell, past, pass(cell, past)))
        .collect()
}

/// How much longer passes take on this machine than the nominal figures say.
fn calibration(plan: &Plan, state: &State) -> f64 {
    let pairs = plan.cells.iter().zip(&state.cells);
    let measured = pairs.filter_map(|(c, past)| {
        Some((c.expected_seconds, subject::find_subject(c).pass_seconds(past.visits.first()?)?))
    });
    let (said, took) = measured
        .filter(|&(said, _)| said >= TELLING)
        .fold((0.0, 0.0), |(said, took), (s, t)| (said + s, took + t));
    if said > 0.0 { (took / said).clamp(CALIBRATION.0, CALIBRATION.1) } else { 1.0 }
}

/// What to do about a visit that would begin now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    Go,
    /// Not in this round: quick cells have a claim on the time.
    Later,
    /// Never: it would end past the budget, and the time only gets shorter.
    Never,
}

/// Seconds that cell `i` takes until it has this many rounds.
fn lacking(state: &State, i: usize, expected: &[f64], rounds: usize) -> f64 {
    let visits = state.cells[i].visits.len();
    let safety = if visits == 0 { SAFETY_NOMINAL } else { SAFETY_MEASURED };
    expected[i] * safety * rounds.saturating_sub(visits) as f64
}

/// How many times the expected seconds of its first visit a cell needs of the budget, in a run with the same rounds for all.
pub fn visits_admitted() -> f64 {
    SAFETY_NOMINAL * ROUNDS_EVEN as f64
}

/// Whether the budget is too short for five rounds of every live cell.
pub fn is_short(plan: &Plan, state: &State) -> bool {
    let expected = expected(plan, state);
    let lack: f64 = state.live().into_iter().map(|i| lacking(state, i, &expected, ROUNDS_KEPT)).sum();
    state.elapsed + lack > plan.policy.budget_seconds
}

/// A content, over a link or without one.
type Compared<'c> = (&'c str, Option<&'c str>);

/// What is compared in a run with the same rounds for all.
fn compared(cell: &Cell) -> Compared<'_> {
    (&cell.payload, cell.delivery.as_ref().and_then(|delivery| delivery.link.as_deref()))
}

/// The same of a run with the same rounds for all. The contents that come first have five rounds after the one that fills caches, as many
/// contents as there is time for; a further round begins if there is time for all of it, and is finished then.
fn admit_even(plan: &Plan, state: &State, i: usize, expected: &[f64], elapsed: f64) -> Admission {
    let least = ROUNDS_EVEN;
    let mut lack: Vec<(Compared<'_>, usize, f64)> = Vec::new();
    let ranks = ranks(plan);
    // Without one of its cells a content is compared with nothing.
    let is_left_out =
        |j: usize| state.cells[j].stop == Some(StopReason::Budget) && state.cells[j].visits.is_empty();
    let left_out: Vec<_> =
        (0..expected.len()).filter(|j| is_left_out(*j)).map(|j| compared(&plan.cells[j])).collect();
    for j in state.live() {
        let (cell, seconds) = (compared(&plan.cells[j]), lacking(state, j, expected, least));
        match lack.iter_mut().find(|(known, ..)| *known == cell) {
            Some((.., sum)) => *sum += seconds,
            None if left_out.contains(&cell) => {}
            None => lack.push((cell, ranks[j], seconds)),
        }
    }
    // The first of each subject, then the second of each.
    lack.sort_by_key(|(_, rank, _)| *rank);
    let left = plan.policy.budget_seconds - elapsed;
    let (mut wanting, mut first) = (0.0, Vec::new());
    for (content, _, seconds) in lack {
        if wanting + seconds <= left {
            wanting += seconds;
            first.push(content);
        }
    }
    let admitted = |is_in_time: bool| match (is_in_time, wanting > 0.0) {
        (true, _) => Admission::Go,
        (false, true) => Admission::Later,
        (false, false) => Admission::Never,
    };
    let visits = |j: usize| state.cells[j].visits.len();
    if visits(i) < least {
        return admitted(first.contains(&compared(&plan.cells[i])));
    }
    // A round that others have is finished. One that there is no time for is begun by nobody: those that were told so count.
    let is_begun = state.live().into_iter().any(|j| visits(j) > visits(i));
    let is_in = |j: &usize| state.cells[*j].fault.is_none() && (least..=visits(i)).contains(&visits(*j));
    let round: f64 = (0..expected.len()).filter(is_in).map(|j| expected[j] * SAFETY_MEASURED).sum();
    admitted(is_begun || wanting + round <= left)
}

/// Whether the budget allows a visit to cell `i` now, `elapsed` seconds into the run.
///
/// A slow cell also leaves time for the quick ones to get five rounds each (at most 0.3 of the budget), for it
/// yields one figure where they yield most of the front; and a further visit to one, for the cells that were never
/// visited. A further visit to a quick one waits where time is too short for five rounds of all: see `waits`.
pub fn admit(plan: &Plan, state: &State, i: usize, expected: &[f64], elapsed: f64) -> Admission {
    if plan.policy.exhaustive {
        return Admission::Go;
    }
    if plan.policy.even {
        return admit_even(plan, state, i, expected, elapsed);
    }
    let budget = plan.policy.budget_seconds;
    let safety = if state.cells[i].visits.is_empty() { SAFETY_NOMINAL } else { SAFETY_MEASURED };
    let end = elapsed + expected[i] * safety;
    if end > budget {
        return Admission::Never;
    }
    let is_later = if expected[i] > SLOW {
        end + kept(state, expected).min(SHARE_KEPT * budget) + unseen(state, i, expected) > budget
    } else {
        waits(plan, state, i, expected, budget - elapsed)
    };
    if is_later { Admission::Later } else { Admission::Go }
}

/// Whether a further visit to the quick cell `i` waits for others, with `left` seconds of the budget. A claim takes five rounds, and fewer of every
/// cell would be none at all: where time is too short for five of all, as many groups have them as it does for, the cheapest first, or those of the contents that come first. When it
/// does for no group, all go on.
fn waits(plan: &Plan, state: &State, i: usize, expected: &[f64], left: f64) -> bool {
    if state.cells[i].visits.is_empty() {
        return false;
    }
    let lacks = |j: usize| {
        let rounds = ROUNDS_KEPT.saturating_sub(state.cells[j].visits.len());
        expected[j] * SAFETY_MEASURED * rounds as f64
    };
    let quick = || (0..expected.len()).filter(|&j| state.cells[j].is_live() && expected[j] <= SLOW);
    if quick().map(lacks).sum::<f64>() <= left {
        return false;
    }
    let ranks = plan.policy.in_order.then(|| ranks(plan));
    let mut groups: BTreeMap<String, (usize, f64)> = BTreeMap::new();
    for j in quick().filter(|&j| lacks(j) > 0.0) {
        let rank = ranks.as_ref().map_or(0, |ranks| ranks[j]);
        groups.entry(plan.cells[j].group()).or_insert((rank, 0.0)).1 += lacks(j);
    }
    let mut groups: Vec<(String, (usize, f64))> = groups.into_iter().collect();
    groups.sort_by(|(_, a), (_, b)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut spent = 0.0;
    groups.retain(|(_, (_, seconds))| {
        let has_room = spent + seconds <= left;
        spent += if has_room { *seconds } else { 0.0 };
        has_room
    });
    let own = plan.cells[i].group();
    let is_first = lacks(i) > 0.0 && groups.iter().any(|(group, _)| *group == own);
    !groups.is_empty() && !is_first
}

fn kept(state: &State, expected: &[f64]) -> f64 {
    let quick = state.cells.iter().zip(expected).filter(|(past, e)| past.is_live() && **e <= SLOW);
    quick.map(|(past, e)| e * ROUNDS_KEPT.saturating_sub(past.visits.len()) as f64).sum()
}

/// Seconds that the slow cells which were never visited will take, when cell `i` was.
fn unseen(state: &State, i: usize, expected: &[f64]) -> f64 {
    if state.cells[i].visits.is_empty() {
        return 0.0;
    }
    let slow = state.cells.iter().zip(expected).filter(|(past, e)| past.is_live() && **e > SLOW);
    slow.filter(|(past, _)| past.visits.is_empty()).map(|(_, e)| e * SAFETY_NOMINAL).sum()
}

/// Seconds that the rest of the run is expected to take, within the budget: all rounds where none ends early; else the rounds after which
/// the stop rules look again, and for a cell that goes on after those all that is left.
pub fn remaining(plan: &Plan, state: &State, expected: &[f64], elapsed: f64) -> f64 {
    let policy = &plan.policy;
    let is_whole = policy.exhaustive || policy.to_the_end || policy.even;
    let rounds = |past: &History| {
        let (visits, most) = (past.visits.len(), policy.max_rounds as usize);
        let next = ROUNDS_ASKED.into_iter().find(|asked| *asked > visits && !is_whole).unwrap_or(most);
        next.min(most).saturating_sub(visits).max(1) as f64
    };
    let live = state.cells.iter().zip(expected).filter(|(past, _)| past.is_live());
    let work: f64 = live.map(|(past, e)| e * rounds(past)).sum();
    if policy.exhaustive { work } else { work.min((policy.budget_seconds - elapsed).max(0.0)) }
}
