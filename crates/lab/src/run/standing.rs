//! How the cells of a run stand to each other so far: what beats what, and whether that is beyond doubt.
//!
//! Times are summed up over rounds as in the report. It decides nothing: that is [`super::stop`]'s.

use super::state::{History, State};
use crate::subject;
use weigh_answer::estimate::QUANTILE;
use weigh_model::cell::Cell;
use weigh_model::plan::Plan;
use weigh_model::protocol::Phase;

/// Rounds of each from which on two cells are compared at a narrow margin.
const ROUNDS: usize = 5;
/// With fewer rounds, the factor between times that no noise of CPU time explains.
const AT_ONCE: f64 = 2.0;
/// What the ratio to a dominator must exceed.
const CLEARLY: f64 = 1.05;
/// What the ratio to every rival must exceed, or fall below inversely, for a place on the front that is beyond doubt.
const APART: f64 = 1.1;
/// A dominator may decode slower than the other by this factor, by the smallest samples: no more than CPU times differ
/// by chance.
const DECODE_SLACK: f64 = 1.05;

/// What is known of one cell.
struct Profile {
    /// Encoded bytes with a dictionary's, as on the front.
    bytes: u64,
    /// One for each headline phase of its subject: the front's first (encode; serve), then the others (decode).
    times: Vec<Times>,
}

/// CPU times of a phase, in nanoseconds a pass.
struct Times {
    by_round: Vec<f64>,
    /// The figure of the phase, as the report gives it.
    cpu: f64,
    /// The smallest and the largest sample.
    range: (f64, f64),
}

/// Every cell of a plan, as far as it was measured.
pub struct Standing<'a> {
    plan: &'a Plan,
    /// The group of each cell.
    groups: Vec<String>,
    profiles: Vec<Option<Profile>>,
    /// Cells that are still to be visited for the first time.
    awaited: Vec<usize>,
}

impl<'a> Standing<'a> {
    /// What the visits so far show.
    pub fn of(plan: &'a Plan, state: &State) -> Standing<'a> {
        let profile = |(cell, past): (&Cell, &History)| {
            past.fault.is_none().then_some(())?;
            let times = subject::of(cell).shape().phases.iter().map(|phase| Times::of(past, *phase));
            Some(Profile { bytes: past.stored_bytes()?, times: times.collect::<Option<_>>()? })
        };
        let profiles = plan.cells.iter().zip(&state.cells).map(profile).collect();
        let awaited = state.live().into_iter().filter(|&i| state.cells[i].visits.is_empty()).collect();
        Standing { plan, groups: plan.cells.iter().map(Cell::group).collect(), profiles, awaited }
    }

    /// Half-width ÷ CPU time of the interval of a phase over rounds, as the report gives it; `None` before there are two
    /// rounds, and for a phase that is no headline of the cell's subject.
    pub fn half_width(&self, i: usize, phase: Phase, confidence: f64) -> Option<f64> {
        let profile = self.profiles[i].as_ref()?;
        let headline = subject::of(&self.plan.cells[i]).shape().phases;
        let times = &profile.times[headline.iter().position(|p| *p == phase)?];
        let interval = weigh_stats::quantile_interval(&times.by_round, QUANTILE, confidence, self.plan.seed)?;
        Some(interval.half_width_relative(times.cpu))
    }

    /// A cell of the same group and of the same kind of work that beats this one on every axis, beyond doubt:
    /// no more encoded bytes, clearly less CPU time to encode or to serve, no more to decode. Such a cell is never on the
    /// group's front. The quickest one is named.
    pub fn dominator(&self, i: usize) -> Option<usize> {
        let own = self.profiles[i].as_ref()?;
        let beats = |j: &usize| {
            self.rival(i, *j).is_some_and(|other| {
                other.bytes <= own.bytes
                    && other.rest().zip(own.rest()).all(|(o, s)| o.range.0 <= s.range.0 * DECODE_SLACK)
                    && other.clearly_quicker(own, CLEARLY)
            })
        };
        let front = |j: usize| self.profiles[j].as_ref().map_or(f64::INFINITY, |p| p.front().cpu);
        self.others().filter(beats).min_by(|a, b| front(*a).total_cmp(&front(*b)))
    }

    /// Whether a cell's place on the front of encode (or serve) time and bytes is beyond doubt: it is clearly off the front, or of
    /// every rival that is not, it is clear which of the two is the quicker, and no rival is still to come. More rounds
    /// would change its figures a little, and no answer.
    pub fn is_placed(&self, i: usize) -> bool {
        let Some(own) = &self.profiles[i] else { return false };
        let is_decided = |j: usize| {
            self.rival(i, j).is_none_or(|other| {
                own.clearly_quicker(other, APART) || other.clearly_quicker(own, APART) || self.is_off(j)
            })
        };
        self.is_off(i)
            || (!self.awaited.iter().any(|&j| self.competes(i, j)) && self.others().all(is_decided))
    }

    /// Clearly off the front: a rival has no more bytes and is clearly quicker.
    fn is_off(&self, i: usize) -> bool {
        let Some(own) = &self.profiles[i] else { return false };
        self.others().any(|j| {
            self.rival(i, j)
                .is_some_and(|other| other.bytes <= own.bytes && other.clearly_quicker(own, APART))
        })
    }

    fn others(&self) -> impl Iterator<Item = usize> {
        0..self.profiles.len()
    }

    /// What is known of cell `j`, if it competes with cell `i`.
    fn rival(&self, i: usize, j: usize) -> Option<&Profile> {
        self.profiles[j].as_ref().filter(|_| j != i && self.competes(i, j))
    }

    /// Whether two cells compete: they are of one group, and do the same there.
    fn competes(&self, i: usize, j: usize) -> bool {
        let (a, b) = (&self.plan.cells[i], &self.plan.cells[j]);
        self.groups[i] == self.groups[j] && subject::of(a).do_the_same(self.plan, a, b)
    }
}

impl Times {
    fn of(past: &History, phase: Phase) -> Option<Times> {
        let by_round: Vec<f64> = past.by_round(phase).into_iter().map(|(_, ns)| ns).collect();
        let samples = past.samples(phase);
        let range = samples.iter().fold((f64::INFINITY, 0.0), |(low, high), s| (s.min(low), s.max(high)));
        Some(Times { cpu: weigh_stats::quantile(&by_round, QUANTILE)?, by_round, range })
    }
}

impl Profile {
    /// The times on the front; a subject has one headline phase at least.
    fn front(&self) -> &Times {
        &self.times[0]
    }

    /// The other headline times.
    fn rest(&self) -> impl Iterator<Item = &Times> {
        self.times.iter().skip(1)
    }

    /// Whether this encodes or serves in clearly less CPU time than `other`. With five rounds of each: by their figures and by the
    /// smallest samples, the other takes more than `margin` times as long. With fewer rounds: twice as quick by the
    /// figures, and no sample of the one is within those of the other.
    fn clearly_quicker(&self, other: &Profile, margin: f64) -> bool {
        let (own, other) = (self.front(), other.front());
        if other.cpu > AT_ONCE * own.cpu && other.range.0 > own.range.1 {
            return true;
        }
        own.by_round.len().min(other.by_round.len()) >= ROUNDS
            && other.cpu > margin * own.cpu
            && other.range.0 > margin * own.range.0
    }
}
