//! Records sorted by cell: what was observed of each, round by round.

use std::collections::{BTreeMap, HashMap};

use weigh_stats::{Drawings, Figure};

use crate::analysis::model::FaultRow;
use crate::analysis::{CONFIDENCE, QUANTILE};
use weigh_model::caveat::Caveat;
use weigh_model::cell::Cell;
use weigh_model::plan::Plan;
use weigh_model::protocol::{FaultKind, Phase};
use weigh_model::record::{Record, StopReason, VisitRecord};

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
    /// Round values by phase: (round, median CPU nanoseconds a pass), ascending by round.
    pub rounds: BTreeMap<Phase, Vec<(u32, f64)>>,
    /// The figure of each phase, see [`QUANTILE`].
    pub figures: BTreeMap<Phase, Figure>,
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

    /// All CPU times of a phase.
    pub fn samples(&self, phase: Phase) -> impl Iterator<Item = f64> {
        self.visits.iter().filter_map(move |v| v.phases.get(&phase)).flat_map(|s| usable(&s.cpu_ns))
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
    gathered.sum_up(plan.seed);
    gathered.compare_rounds();
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

    /// Sums up the rounds of every cell, over the same drawings of rounds for all.
    fn sum_up(&mut self, seed: u64) {
        let rounds = self.cells.iter().flat_map(|c| c.visits.iter().map(|v| v.round));
        let drawings = Drawings::of(rounds, seed);
        for cell in &mut self.cells {
            let figure = |(phase, rounds): (&Phase, &Vec<(u32, f64)>)| {
                Some((*phase, Figure::of(rounds, QUANTILE, CONFIDENCE, &drawings)?))
            };
            cell.figures = cell.rounds.iter().filter_map(figure).collect();
        }
    }

    /// How far apart the slowest and the fastest round are, over all cells.
    fn compare_rounds(&mut self) {
        let units: Vec<Vec<(u32, f64)>> = self
            .cells
            .iter()
            .flat_map(|c| c.cell.subject.headline().iter().map(|phase| c.rounds(*phase).to_vec()))
            .collect();
        let effects = weigh_stats::block_effects(&units);
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
        let Sorted { stop, mut caveats, .. } = sorted;
        // What was recorded of one visit is said again of all.
        caveats.retain(|caveat| !caveat.is_of_visits());
        caveats.extend(weigh_model::record::caveats(&visits));
        let figures = BTreeMap::new();
        self.cells.push(Measured { cell, visits, rounds, figures, stop, caveats });
    }
}
