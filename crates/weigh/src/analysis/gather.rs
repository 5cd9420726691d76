//! Records sorted by cell: what was observed of each, round by round.

use std::collections::{BTreeMap, HashMap};

use crate::analysis::model::FaultRow;
use crate::caveat::Caveat;
use crate::cell::Cell;
use crate::plan::Plan;
use crate::protocol::{FaultKind, Phase};
use crate::record::{Record, StopReason, VisitRecord};

/// All records of a run by what they speak of.
pub(super) struct Gathered<'a> {
    /// Cells with at least one visit and no wrong answer, in the plan's order.
    pub cells: Vec<Measured<'a>>,
    /// Every fault.
    pub faults: Vec<FaultRow>,
    /// Cells with neither visit nor fault.
    pub unmeasured: Vec<String>,
    /// Caveats recorded for the run.
    pub caveats: Vec<Caveat>,
    /// How often the run was taken up again.
    pub resumed: u32,
    /// Rounds seen.
    pub rounds: u32,
    /// Seconds of wall time seen.
    pub seconds: f64,
    /// An end was recorded.
    pub complete: bool,
    /// The slowest round's factor ÷ the fastest round's, of the rounds that have one.
    pub drift: f64,
}

/// One cell with what was observed of it.
pub(super) struct Measured<'a> {
    pub cell: &'a Cell,
    /// One a round, ascending by round; of a round that was measured again after an interruption, the last.
    pub visits: Vec<&'a VisitRecord>,
    /// Round values by phase: (round, median CPU nanoseconds a pass ÷ the round's factor), ascending by round.
    pub rounds: BTreeMap<Phase, Vec<(u32, f64)>>,
    /// How much slower than usual the whole machine was in a round, where that is known.
    pub factors: BTreeMap<u32, f64>,
    pub stop: Option<StopReason>,
    pub caveats: Vec<Caveat>,
}

impl Measured<'_> {
    /// The last visit.
    pub fn last(&self) -> Option<&VisitRecord> {
        self.visits.last().copied()
    }

    /// Round values of a phase.
    pub fn rounds(&self, phase: Phase) -> &[(u32, f64)] {
        self.rounds.get(&phase).map_or(&[], Vec::as_slice)
    }

    /// The samples of a phase's only round; empty when there are several.
    pub fn only_samples(&self, phase: Phase) -> Vec<f64> {
        if self.rounds(phase).len() == 1 { self.samples(phase).collect() } else { Vec::new() }
    }

    /// All CPU times of a phase, each ÷ its round's factor.
    pub fn samples(&self, phase: Phase) -> impl Iterator<Item = f64> {
        let visits = self.visits.iter().filter_map(move |v| Some((v.round, v.phases.get(&phase)?)));
        visits.flat_map(|(round, samples)| {
            let factor = self.factors.get(&round).unwrap_or(&1.0);
            usable(&samples.cpu_ns).map(move |s| s / factor)
        })
    }
}

/// Times that can be, in nanoseconds: not negative, and under thirty years.
pub(super) fn usable(times: &[f64]) -> impl Iterator<Item = f64> {
    times.iter().copied().filter(|t| (0.0..1e18).contains(t))
}

/// What the records say of one planned cell.
#[derive(Default)]
struct Sorted<'a> {
    visits: BTreeMap<u32, &'a VisitRecord>,
    stop: Option<StopReason>,
    caveats: Vec<Caveat>,
    faulted: bool,
    wrong: bool,
}

/// Sorts records by cell.
pub(super) fn gather<'a>(plan: &'a Plan, records: &'a [Record]) -> Gathered<'a> {
    let index: HashMap<&str, usize> =
        plan.cells.iter().enumerate().map(|(at, cell)| (cell.id.as_str(), at)).collect();
    let mut sorted: Vec<Sorted> = Vec::new();
    sorted.resize_with(plan.cells.len(), Sorted::default);
    let mut gathered = Gathered {
        cells: Vec::new(),
        faults: Vec::new(),
        unmeasured: Vec::new(),
        caveats: Vec::new(),
        resumed: 0,
        rounds: 0,
        seconds: 0.0,
        complete: false,
        drift: 1.0,
    };
    for record in records {
        gathered.take(record, &index, &mut sorted);
    }
    for (cell, sorted) in plan.cells.iter().zip(sorted) {
        gathered.place(cell, sorted);
    }
    gathered.level();
    gathered
}

impl<'a> Gathered<'a> {
    fn take(&mut self, record: &'a Record, index: &HashMap<&str, usize>, sorted: &mut [Sorted<'a>]) {
        let at = |cell: &str| index.get(cell).copied();
        match record {
            Record::Visit(visit) => {
                if let Some(at) = at(&visit.cell) {
                    sorted[at].visits.insert(visit.round, visit);
                    self.rounds = self.rounds.max(visit.round);
                    self.seconds = self.seconds.max(visit.at);
                }
            }
            Record::Fault { cell, round, fault } => {
                if let Some(at) = at(cell) {
                    sorted[at].faulted = true;
                    // A wrong answer is never a number: what came before it is withdrawn too.
                    sorted[at].wrong |= matches!(fault.kind, FaultKind::RoundTrip | FaultKind::Independent);
                    self.faults.push(FaultRow { cell: cell.clone(), round: *round, fault: fault.clone() });
                }
            }
            Record::Stop { cell, reason, .. } => {
                if let Some(at) = at(cell) {
                    sorted[at].stop = Some(reason.clone());
                }
            }
            Record::Caveat { cell: None, caveat } => self.caveats.push(caveat.clone()),
            Record::Caveat { cell: Some(cell), caveat } => {
                if let Some(at) = at(cell) {
                    sorted[at].caveats.push(caveat.clone());
                }
            }
            Record::Resumed { .. } => {
                self.resumed += 1;
                self.complete = false;
            }
            Record::End { rounds, seconds, .. } => {
                self.complete = true;
                self.rounds = self.rounds.max(*rounds);
                self.seconds = self.seconds.max(*seconds);
            }
        }
    }

    /// Takes out of every round value how much slower or faster the whole round was. Cells are not all in the
    /// same rounds: without this, one that was only measured in a slow minute would look slow for ever.
    fn level(&mut self) {
        let whole = [Phase::Encode, Phase::Decode];
        let units: Vec<Vec<(u32, f64)>> =
            self.cells.iter().flat_map(|c| whole.map(|phase| c.rounds(phase).to_vec())).collect();
        let effects = weigh_stats::block_effects(&units);
        for cell in &mut self.cells {
            cell.factors = effects.clone();
            for (round, value) in cell.rounds.values_mut().flatten() {
                *value /= effects.get(round).unwrap_or(&1.0);
            }
        }
        let slowest = effects.values().copied().fold(f64::NAN, f64::max);
        let fastest = effects.values().copied().fold(f64::NAN, f64::min);
        self.drift = if slowest.is_finite() && fastest > 0.0 { slowest / fastest } else { 1.0 };
    }

    fn place(&mut self, cell: &'a Cell, sorted: Sorted<'a>) {
        if sorted.visits.is_empty() || sorted.wrong {
            if !sorted.faulted {
                self.unmeasured.push(cell.id.clone());
            }
            return;
        }
        let visits: Vec<&VisitRecord> = sorted.visits.into_values().collect();
        let mut rounds: BTreeMap<Phase, Vec<(u32, f64)>> = BTreeMap::new();
        for visit in &visits {
            for (phase, samples) in &visit.phases {
                let times: Vec<f64> = usable(&samples.cpu_ns).collect();
                if let Some(median) = weigh_stats::median(&times) {
                    rounds.entry(*phase).or_default().push((visit.round, median));
                }
            }
        }
        let Sorted { stop, caveats, .. } = sorted;
        let factors = BTreeMap::new();
        self.cells.push(Measured { cell, visits, rounds, factors, stop, caveats });
    }
}
