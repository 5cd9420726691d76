//! Sorts records by cell and round.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::caveat::Caveat;
use weigh_model::cell::Cell;
use weigh_model::client::Client;
use weigh_model::plan::Plan;
use weigh_model::protocol::{Fault, FaultKind, Samples};
use weigh_model::record::{Record, StopReason, VisitRecord};
use weigh_model::thin;
use weigh_stats::median;

/// All records of a run, sorted.
#[derive(Default)]
pub struct Gathered<'a> {
    /// Cells with at least one visit and without a wrong result, in the plan's order.
    pub cells: Vec<Measured<'a>>,
    pub faults: Vec<FaultRow>,
    /// Cells with neither visit nor fault.
    pub unmeasured: Vec<String>,
    /// Caveats recorded for the run.
    pub caveats: Vec<Caveat>,
    /// How often the run was resumed.
    pub resumed: u32,
    pub rounds: u32,
    /// Seconds of wall time seen.
    pub seconds: f64,
    /// Whether the end of the run was recorded.
    pub complete: bool,
}

/// One cell with what was observed of it.
pub struct Measured<'a> {
    pub cell: &'a Cell,
    /// One per round, ascending; if a round was measured again after an interruption, the last.
    pub visits: Vec<&'a VisitRecord>,
    /// Why it was no longer visited.
    pub stop: Option<StopReason>,
    pub caveats: Vec<Caveat>,
    /// The plan's seed, for intervals.
    pub seed: u64,
    /// Whether the program does not start the store that it uses.
    pub is_others: bool,
}

impl<'a> Measured<'a> {
    pub fn last(&self) -> Option<&'a VisitRecord> {
        self.visits.last().copied()
    }

    /// (round, median CPU time) of samples, ascending by round; for a family, an instance's share.
    pub fn round_medians(&self, of: fn(&VisitRecord) -> Option<&Samples>) -> Vec<(u32, f64)> {
        let visits = self.visits.iter().filter_map(|v| Some((v, of(v)?)));
        visits
            .filter_map(|(visit, samples)| {
                let middle = median(&usable(&samples.cpu_ns).collect::<Vec<_>>())?;
                Some((visit.round, visit.share(middle)))
            })
            .collect()
    }
}

/// Possible amounts: not negative, and below thirty years if they are nanoseconds.
pub fn usable(amounts: &[f64]) -> impl Iterator<Item = f64> {
    amounts.iter().copied().filter(|amount| (0.0..1e18).contains(amount))
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

/// Whether the store that a cell speaks with was named by its URL.
fn store_is_others(plan: &Plan, cell: &Cell) -> bool {
    let of_cell = |client: &Client| plan.stores.iter().find(|store| store.name == client.store);
    cell.client.as_ref().and_then(of_cell).is_some_and(|store| store.url.is_some())
}

pub fn gather<'a>(plan: &'a Plan, records: &'a [Record]) -> Gathered<'a> {
    let index: HashMap<&str, usize> =
        plan.cells.iter().enumerate().map(|(at, cell)| (cell.id.as_str(), at)).collect();
    let mut sorted: Vec<Sorted> = Vec::new();
    sorted.resize_with(plan.cells.len(), Sorted::default);
    let mut gathered = Gathered::default();
    records.iter().for_each(|record| gathered.take(record, &index, &mut sorted));
    gathered.thin(&mut sorted);
    for (cell, Sorted { visits, stop, mut caveats, faulted, wrong }) in plan.cells.iter().zip(sorted) {
        if !visits.is_empty() && !wrong {
            let visits: Vec<&VisitRecord> = visits.into_values().collect();
            // What was recorded of one visit is said again of all.
            caveats.retain(|caveat| !caveat.is_of_visits());
            caveats.extend(weigh_model::record::caveats(&visits));
            let is_others = store_is_others(plan, cell);
            gathered.cells.push(Measured { cell, visits, stop, caveats, seed: plan.seed, is_others });
        } else if !faulted {
            gathered.unmeasured.push(cell.id.clone());
        }
    }
    gathered
}

impl<'a> Gathered<'a> {
    /// Leaves out rounds where a cell has more than a report is made of: a run that has just ended was not thinned as it was read.
    fn thin(&mut self, sorted: &mut [Sorted<'a>]) {
        let most = |sorted: &[Sorted]| sorted.iter().map(|cell| cell.visits.len()).max().unwrap_or(0);
        let (mut one_of, mut left_out) = (1, 0);
        while most(sorted) > thin::MOST {
            one_of *= 2;
            for Sorted { visits, .. } in &mut *sorted {
                let before = visits.len();
                visits.retain(|round, _| thin::is_kept(*round, one_of));
                left_out += (before - visits.len()) as u64;
            }
        }
        if left_out > 0 {
            self.caveats.push(Caveat::Thinned { one_of, left_out });
        }
    }

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
                    // A wrong result never counts as a number: earlier visits are withdrawn, too.
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
}

/// A planned cell without a number.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FaultRow {
    /// The cell's id.
    pub cell: String,
    /// The round.
    pub round: u32,
    /// Why.
    pub fault: Fault,
}
