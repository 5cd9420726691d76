//! How the cells of a run stand to each other so far: what beats what, and whether that is settled.
//!
//! Times are summed up over rounds as in the report. It decides nothing: that is [`super::stop`]'s.

use std::collections::BTreeMap;

use super::state::{History, State};
use crate::subject;
use weigh_answer::estimate::{CONFIDENCE, QUANTILE};
use weigh_model::cell::Cell;
use weigh_model::plan::Plan;
use weigh_model::protocol::Phase;
use weigh_stats::{FAMILY_WISE, LogRatio, Rule, bimodal, low_quantile_interval, quantile};

/// A dominator may take longer than the other in what is not on the front, decoding, by this factor of the figures: no more than CPU times differ by
/// chance.
const SLACK: f64 = 1.05;

/// How many times as long as the slowest round of another cell the quickest of a cell that is far behind it takes. Neighbours that share a
/// processor at most double a time.
const FAR: f64 = 3.0;

/// What is known of one cell.
struct Profile {
    /// Encoded bytes with a dictionary's, as on the front.
    bytes: u64,
    /// One for each headline phase of its subject: the front's first (encode; serve), then the others (decode).
    times: Vec<Times>,
}

/// CPU times of a phase, in nanoseconds a pass.
struct Times {
    by_round: Vec<(u32, f64)>,
    /// The figure of the phase, as the report gives it.
    cpu: f64,
}

/// Every cell of a plan, as far as it was measured.
pub struct CellComparisons<'a> {
    plan: &'a Plan,
    profiles: Vec<Option<Profile>>,
    /// Of each cell, the cells that it competes with.
    rivals: Vec<Vec<Rival>>,
    /// Of each cell: a rival with no more bytes is quicker at that level.
    off: Vec<bool>,
    /// Of each cell: whether it stands on the front, or a rival does, hangs on which of the two is the quicker, and tables could not tell.
    tied: Vec<bool>,
}

/// How a cell that competes with another stands to it in the time on the front.
struct Rival {
    cell: usize,
    told: RivalComparison,
    /// The two differ as tables say it.
    is_listed: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum RivalComparison {
    /// It is quicker at the level of the rule.
    Quicker,
    /// It is slower at the level of the rule.
    Slower,
    Apart,
    /// It is still to be visited for the first time.
    Awaited,
}

impl<'a> CellComparisons<'a> {
    /// What the visits so far show.
    pub fn of(plan: &'a Plan, state: &State) -> CellComparisons<'a> {
        let profile = |(cell, past): (&Cell, &History)| {
            past.fault.is_none().then_some(())?;
            let times =
                subject::find_subject(cell).shape().phases.iter().map(|phase| Times::of(past, *phase));
            Some(Profile { bytes: past.stored_bytes()?, times: times.collect::<Option<_>>()? })
        };
        let profiles: Vec<Option<Profile>> = plan.cells.iter().zip(&state.cells).map(profile).collect();
        let is_awaited = |i: usize| state.cells[i].is_live() && state.cells[i].visits.is_empty();
        let compared: Vec<(usize, usize, Option<LogRatio>)> = competitors(plan)
            .into_iter()
            .map(|(i, j)| {
                (i, j, profiles[i].as_ref().zip(profiles[j].as_ref()).and_then(|(a, b)| a.log_ratio(b)))
            })
            .collect();
        // A run is looked at after every round, and each look could claim what is chance.
        let error = FAMILY_WISE / f64::from(plan.policy.max_rounds).max(1.0);
        let rule = Rule::family(&[compared.iter().filter_map(|pair| pair.2).collect()], error)[0];
        let mut rivals: Vec<Vec<Rival>> = plan.cells.iter().map(|_| Vec::new()).collect();
        for (i, j, log) in compared {
            let figure = |i: usize| profiles[i].as_ref().map_or(f64::NAN, |p| p.front().cpu);
            let ratio = log.and_then(|log| rule.compare_log(&log, figure(i) / figure(j), 1.0));
            let is_told = ratio.is_some_and(|ratio| ratio.is_claimed);
            let is_listed = ratio.is_some_and(|ratio| ratio.is_listed);
            for (own, other) in [(i, j), (j, i)] {
                let told = match is_told {
                    _ if is_awaited(other) => RivalComparison::Awaited,
                    true if figure(other) < figure(own) => RivalComparison::Quicker,
                    true => RivalComparison::Slower,
                    false => RivalComparison::Apart,
                };
                rivals[own].push(Rival { cell: other, told, is_listed });
            }
        }
        let bytes = |i: usize| profiles[i].as_ref().map_or(u64::MAX, |profile| profile.bytes);
        let is_off = |(i, rivals): (usize, &Vec<Rival>)| {
            rivals.iter().any(|rival| rival.told == RivalComparison::Quicker && bytes(rival.cell) <= bytes(i))
        };
        let off = rivals.iter().enumerate().map(is_off).collect();
        let mut standing =
            CellComparisons { plan, profiles, rivals, off, tied: vec![false; plan.cells.len()] };
        standing.mark_ties(|i| state.cells[i].is_live());
        standing
    }

    /// Goes along each front as the report does, from the smallest cell on: who is told to be quicker than the last one there is on it. Where a cell is quicker by more than
    /// figures are asked to be exact to, and tables would not say so, both are tied, unless one of them gets no more rounds.
    fn mark_ties(&mut self, is_live: impl Fn(usize) -> bool) {
        let clear = 1.0 + self.plan.policy.half_width;
        for members in groups(self.plan).values() {
            let point = |i: &usize| self.profiles[*i].as_ref().map(|p| (p.bytes, p.front().cpu, *i));
            let mut points: Vec<(u64, f64, usize)> = members.iter().filter_map(point).collect();
            points.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            let mut last: Option<(f64, usize)> = None;
            for (_, cpu, i) in points {
                let Some((other_cpu, other)) = last else {
                    last = Some((cpu, i));
                    continue;
                };
                if cpu >= other_cpu {
                    continue;
                }
                let rival = self.rivals[i].iter().find(|rival| rival.cell == other);
                if rival.is_none_or(|rival| rival.is_listed) {
                    last = Some((cpu, i));
                } else if cpu * clear < other_cpu && is_live(i) && is_live(other) {
                    self.tied[i] = true;
                    self.tied[other] = true;
                }
            }
        }
    }

    /// More rounds of a cell may show who of two stands on the front.
    pub fn is_tied(&self, i: usize) -> bool {
        self.tied[i]
    }

    /// How far the interval of a phase reaches above its figure, as a share of it; `None` before there are two rounds, and for a phase that is no
    /// headline of the cell's subject.
    pub fn margin(&self, i: usize, phase: Phase) -> Option<f64> {
        let times = self.times(i, phase)?;
        let (_, high) = low_quantile_interval(&times.rounds(), QUANTILE, CONFIDENCE)?;
        Some((high - times.cpu) / times.cpu)
    }

    fn times(&self, i: usize, phase: Phase) -> Option<&Times> {
        let headline = subject::find_subject(&self.plan.cells[i]).shape().phases;
        let at = headline.iter().position(|own| *own == phase)?;
        self.profiles[i].as_ref().map(|profile| &profile.times[at])
    }

    /// A cell of the same group and of the same kind of work that beats this one on every axis, by their intervals:
    /// no more encoded bytes, less CPU time to encode or to serve, no more to decode. Such a cell is never on the
    /// group's front. The quickest one is named.
    pub fn dominator(&self, i: usize) -> Option<usize> {
        let own = self.profiles[i].as_ref()?;
        let beats = |rival: &&Rival| {
            rival.told == RivalComparison::Quicker
                && self.profiles[rival.cell].as_ref().is_some_and(|other| {
                    other.bytes <= own.bytes
                        && other.rest().zip(own.rest()).all(|(o, s)| o.cpu <= s.cpu * SLACK)
                })
        };
        self.quickest(i, beats)
    }

    /// The quickest of the cells that this one competes with and that `beats` takes.
    fn quickest(&self, i: usize, beats: impl Fn(&&Rival) -> bool) -> Option<usize> {
        let front =
            |rival: &&Rival| self.profiles[rival.cell].as_ref().map_or(f64::INFINITY, |p| p.front().cpu);
        let quickest = self.rivals[i].iter().filter(beats).min_by(|a, b| front(a).total_cmp(&front(b)));
        quickest.map(|rival| rival.cell)
    }

    /// A cell of the same group that this one is far behind, as far as it was measured: no more bytes, and in all headline phases so much
    /// quicker that no noise explains it. The quickest one is named.
    pub fn far_ahead(&self, i: usize) -> Option<usize> {
        let own = self.profiles[i].as_ref()?;
        let end = |times: &Times, of: fn(f64, f64) -> f64| {
            times.by_round.iter().map(|round| round.1).reduce(of).unwrap_or(f64::NAN)
        };
        let beats = |rival: &&Rival| {
            let other = self.profiles[rival.cell].as_ref().filter(|other| other.front().by_round.len() > 1);
            other.is_some_and(|other| {
                other.bytes <= own.bytes
                    && end(other.front(), f64::max) * FAR < end(own.front(), f64::min)
                    && other.rest().zip(own.rest()).all(|(o, s)| o.cpu <= s.cpu * SLACK)
            })
        };
        self.quickest(i, beats)
    }

    /// Whether the rounds of a phase are in two clusters.
    pub fn is_split(&self, i: usize, phase: Phase) -> bool {
        self.times(i, phase).is_some_and(|times| bimodal(&times.rounds()).is_some())
    }

    /// Whether a cell's place on the front of encode (or serve) time and bytes is settled: it is off the front, or of
    /// every rival that is not, it is clear which of the two is the quicker, and no rival is still to come. More rounds
    /// would change its figures a little, and no answer.
    pub fn is_placed(&self, i: usize) -> bool {
        let is_decided = |rival: &Rival| match rival.told {
            RivalComparison::Quicker | RivalComparison::Slower => true,
            RivalComparison::Apart => self.off[rival.cell] || self.profiles[rival.cell].is_none(),
            RivalComparison::Awaited => false,
        };
        self.profiles[i].is_some() && (self.off[i] || self.rivals[i].iter().all(is_decided))
    }
}

fn groups(plan: &Plan) -> BTreeMap<String, Vec<usize>> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, cell) in plan.cells.iter().enumerate() {
        groups.entry(cell.group()).or_default().push(i);
    }
    groups
}

/// Every two cells that compete: they are of one group, and do the same there.
fn competitors(plan: &Plan) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for members in groups(plan).values() {
        for (at, &i) in members.iter().enumerate() {
            let (of, own) = (subject::find_subject(&plan.cells[i]), &plan.cells[i]);
            pairs.extend(
                members[..at].iter().filter(|&&j| of.do_the_same(plan, own, &plan.cells[j])).map(|&j| (i, j)),
            );
        }
    }
    pairs
}

impl Times {
    fn of(past: &History, phase: Phase) -> Option<Times> {
        let by_round = past.by_round(phase);
        let values: Vec<f64> = by_round.iter().map(|round| round.1).collect();
        Some(Times { cpu: quantile(&values, QUANTILE)?, by_round })
    }

    fn rounds(&self) -> Vec<f64> {
        self.by_round.iter().map(|round| round.1).collect()
    }
}

impl Profile {
    /// The times on the front; a subject has one headline phase at least.
    fn front(&self) -> &Times {
        &self.times[0]
    }

    fn rest(&self) -> impl Iterator<Item = &Times> {
        self.times.iter().skip(1)
    }

    /// Ours ÷ theirs on the front, over the rounds that have both.
    fn log_ratio(&self, other: &Profile) -> Option<LogRatio> {
        let theirs = &other.front().by_round;
        let pair = |(round, own): &(u32, f64)| {
            let at = theirs.binary_search_by_key(round, |theirs| theirs.0).ok()?;
            Some((*own, theirs[at].1))
        };
        LogRatio::of(self.front().by_round.iter().filter_map(pair))
    }
}
