//! When a cell is done. Everything here follows from the plan and the records, so that a run that was taken up
//! again decides as the one that was not interrupted.

use std::collections::BTreeMap;

use super::state::{History, State, cpu_seconds};
use crate::cell::Cell;
use crate::plan::{Plan, Policy};
use crate::protocol::Phase;
use crate::record::StopReason;

/// Rounds before intervals say anything.
const ROUNDS: usize = 3;
/// Confidence of the interval that settles a phase.
const SETTLED: f64 = 0.95;
/// Confidence of the interval that lets one cell dominate another: many pairs are compared, and a wrong answer
/// costs a cell its precision.
const DOMINATED: f64 = 0.99;
/// What the lower end of that interval must exceed. Above what medians move when one cell goes on and the other does
/// not, since the front is drawn from medians.
const CLEARLY: f64 = 1.05;
/// The same for a cell's place on the front: nothing else stands so near to it that a further round could matter.
const APART: f64 = 1.1;
/// How many times wider than asked for the interval of such a cell may be.
const WIDER: f64 = 3.0;
/// With fewer rounds than [`ROUNDS`], the factor between medians that no noise of CPU time explains.
const AT_ONCE: f64 = 2.0;
/// A dominator may decode slower than the other by this factor: no more than CPU times differ by chance.
const DECODE_SLACK: f64 = 1.05;

/// The live cells that are done after `round`, with the reason.
pub fn decide(plan: &Plan, state: &State, round: u32) -> Vec<(usize, StopReason)> {
    let profiles = Profiles::of(plan, state);
    let reason = |i: usize| {
        let past = &state.cells[i];
        let policy = &plan.policy;
        if past.fault.is_some() {
            return Some(StopReason::Fault);
        }
        if !policy.exhaustive && past.was_in(round) {
            let is_exact = |half_width| is_settled(policy, half_width, past, bootstrap_seed(plan, i, i));
            if is_exact(policy.half_width) {
                return Some(StopReason::Settled);
            }
            if let Some(by) = profiles.dominator(plan, state, i) {
                return Some(StopReason::Dominated { by: plan.cells[by].id.clone() });
            }
            if is_exact(WIDER * policy.half_width) && profiles.is_placed(plan, state, i) {
                return Some(StopReason::Placed);
            }
            if is_spent(policy, past) {
                return Some(StopReason::Budget);
            }
        }
        // A cell that was put off to the end was not measured for want of time.
        let last = if past.visits.is_empty() { StopReason::Budget } else { StopReason::Rounds };
        (round >= policy.max_rounds).then_some(last)
    };
    state.live().into_iter().filter_map(|i| Some((i, reason(i)?))).collect()
}

/// Enough samples and rounds, and the 95% interval of the median CPU time within this half-width, for encode and
/// for decode.
fn is_settled(policy: &Policy, half_width: f64, past: &History, seed: u64) -> bool {
    past.visits.len() >= ROUNDS
        && [Phase::Encode, Phase::Decode].into_iter().all(|phase| {
            let samples = past.samples(phase);
            if samples.len() < policy.min_samples as usize {
                return false;
            }
            let median = weigh_stats::median(&samples).unwrap_or(f64::INFINITY);
            weigh_stats::median_interval(&samples, SETTLED, seed)
                .is_some_and(|interval| interval.half_width_relative(median) <= half_width)
        })
}

/// One more visit like the last one would use more CPU time than the cell has.
fn is_spent(policy: &Policy, past: &History) -> bool {
    let spent: f64 = past.visits.iter().map(cpu_seconds).sum();
    spent + past.visits.last().map_or(0.0, cpu_seconds) > policy.cell_seconds
}

fn bootstrap_seed(plan: &Plan, i: usize, j: usize) -> u64 {
    plan.seed ^ ((i as u64) << 32 | j as u64)
}

/// What domination looks at.
struct Profile {
    /// Encoded bytes with a dictionary's, as on the front.
    bytes: u64,
    encode: f64,
    encode_range: (f64, f64),
    decode: f64,
    encode_by_round: BTreeMap<u32, f64>,
}

struct Profiles(Vec<Option<Profile>>);

impl Profiles {
    fn of(plan: &Plan, state: &State) -> Profiles {
        if plan.policy.exhaustive {
            return Profiles(Vec::new());
        }
        Profiles(state.cells.iter().map(Profile::of).collect())
    }

    /// A cell of the same group and of the same kind of work that beats this one on every axis, beyond doubt:
    /// no more encoded bytes, clearly less CPU time to encode, no more to decode. Such a cell is never on the
    /// group's front. The quickest one is named.
    fn dominator(&self, plan: &Plan, state: &State, i: usize) -> Option<usize> {
        let cell = &plan.cells[i];
        let own = self.0[i].as_ref()?;
        if cell.keep {
            return None;
        }
        let beaten_by = |&j: &usize| {
            self.rival(plan, state, i, j).is_some_and(|other| {
                other.bytes <= own.bytes
                    && other.decode <= own.decode * DECODE_SLACK
                    && other.clearly_quicker(own, CLEARLY, bootstrap_seed(plan, i, j))
            })
        };
        let quickest = |a: &usize, b: &usize| {
            let encode = |i: usize| self.0[i].as_ref().map_or(f64::INFINITY, |p| p.encode);
            encode(*a).total_cmp(&encode(*b))
        };
        (0..self.0.len()).filter(beaten_by).min_by(quickest)
    }

    /// Whether the cell's place on the front of encode time and bytes is beyond doubt: it is clearly off the front, or of
    /// every rival that is not, it is clear which of the two is the quicker. More rounds would change its figures
    /// a little, and no answer.
    fn is_placed(&self, plan: &Plan, state: &State, i: usize) -> bool {
        let Some(own) = &self.0[i] else { return false };
        if plan.cells[i].keep {
            return false;
        }
        let is_decided = |j: usize| {
            let seed = bootstrap_seed(plan, i.min(j), i.max(j));
            self.rival(plan, state, i, j).is_none_or(|other| {
                own.clearly_quicker(other, APART, seed)
                    || other.clearly_quicker(own, APART, seed)
                    || self.is_off(plan, state, j)
            })
        };
        let all_seen = |j: usize| {
            self.0[j].is_some()
                || !state.cells[j].is_live()
                || !competes(plan, &plan.cells[i], &plan.cells[j])
        };
        let all = || 0..self.0.len();
        all().all(all_seen) && (self.is_off(plan, state, i) || all().all(is_decided))
    }

    /// Clearly off the front: a rival has no more bytes and is clearly quicker.
    fn is_off(&self, plan: &Plan, state: &State, i: usize) -> bool {
        let Some(own) = &self.0[i] else { return false };
        (0..self.0.len()).any(|j| {
            self.rival(plan, state, i, j).is_some_and(|other| {
                other.bytes <= own.bytes
                    && other.clearly_quicker(own, APART, bootstrap_seed(plan, i.min(j), i.max(j)))
            })
        })
    }

    /// What is known of cell `j`, if it competes with cell `i` and has no fault.
    fn rival(&self, plan: &Plan, state: &State, i: usize, j: usize) -> Option<&Profile> {
        let competes = j != i && competes(plan, &plan.cells[i], &plan.cells[j]);
        self.0[j].as_ref().filter(|_| competes && state.cells[j].fault.is_none())
    }
}

impl Profile {
    fn of(past: &History) -> Option<Profile> {
        let encode = weigh_stats::summary(&past.samples(Phase::Encode))?;
        let largest = past.samples(Phase::Encode).into_iter().fold(0.0, f64::max);
        Some(Profile {
            bytes: past.stored_bytes()?,
            encode: encode.median,
            encode_range: (encode.min, largest),
            decode: weigh_stats::median(&past.samples(Phase::Decode))?,
            encode_by_round: past.by_round(Phase::Encode).into_iter().collect(),
        })
    }

    /// Whether this encodes in clearly less CPU time than `other`. Three rounds in common: the 99% interval of the
    /// ratios inside rounds is above `margin`. Fewer: twice as quick by the medians, and no sample of the one is
    /// within those of the other.
    fn clearly_quicker(&self, other: &Profile, margin: f64, seed: u64) -> bool {
        if self.encode * margin >= other.encode {
            return false;
        }
        let rounds = other.encode_by_round.iter();
        let pairs: Vec<(f64, f64)> =
            rounds.filter_map(|(round, theirs)| Some((*theirs, *self.encode_by_round.get(round)?))).collect();
        if pairs.len() < ROUNDS {
            return other.encode > AT_ONCE * self.encode && other.encode_range.0 > self.encode_range.1;
        }
        weigh_stats::paired_ratio(&pairs, DOMINATED, seed).is_some_and(|ratio| ratio.low > margin)
    }
}

/// Whether two cells do the same work: same group, and both encode a value or both bytes. A cell in PHP on a
/// value without a serializer may be either (a marshaller takes the value itself), so it competes with none.
fn competes(plan: &Plan, a: &Cell, b: &Cell) -> bool {
    let is_value = || plan.payloads.iter().any(|p| p.name == a.payload && p.value.is_some());
    a.payload == b.payload
        && a.runtime == b.runtime
        && match (&a.serializer, &b.serializer) {
            (Some(_), Some(_)) => true,
            (None, None) => a.subject == crate::cell::Subject::Codec || !is_value(),
            _ => false,
        }
}
