//! What is known of each cell, rebuilt from the records. A run that goes on and one that is taken up again
//! have the same state after the same records.

use std::collections::HashMap;

use anyhow::{Result, bail};

use weigh_model::caveat::Caveat;
use weigh_model::plan::Plan;
use weigh_model::protocol::{Phase, Samples};
use weigh_model::record::{Record, StopReason, VisitRecord};

/// A first call that takes longer, in seconds, is kept as a sample by the workers; before the samples of a quicker
/// one stands an untimed call.
pub const LONG_CALL: f64 = 0.3;

#[derive(Clone, Debug, Default)]
pub struct History {
    /// Its visits, in the order of the rounds.
    pub visits: Vec<VisitRecord>,
    /// The round in which it faulted.
    pub fault: Option<u32>,
    /// Why it is no longer visited.
    pub stop: Option<StopReason>,
}

impl History {
    pub fn is_live(&self) -> bool {
        self.stop.is_none()
    }

    /// Visited in this round, or faulted in it.
    pub fn was_in(&self, round: u32) -> bool {
        self.fault == Some(round) || self.visits.iter().rev().any(|v| v.round == round)
    }

    /// CPU times of every sample of a phase, nanoseconds a pass; wall times where nobody's CPU time could be read.
    pub fn samples(&self, phase: Phase) -> Vec<f64> {
        self.visits
            .iter()
            .filter_map(|v| v.phases.get(&phase))
            .flat_map(|s| times(s).iter().copied())
            .collect()
    }

    /// Median of these times in each round.
    pub fn by_round(&self, phase: Phase) -> Vec<(u32, f64)> {
        let median = |v: &VisitRecord| weigh_stats::summary(times(v.phases.get(&phase)?)).map(|s| s.median);
        self.visits.iter().filter_map(|v| Some((v.round, median(v)?))).collect()
    }

    /// Encoded bytes with a dictionary's, as first seen.
    pub fn stored_bytes(&self) -> Option<u64> {
        self.visits.first().map(|v| v.encoded_bytes + v.dictionary_bytes)
    }
}

/// Every cell's past, and the run's.
#[derive(Clone, Debug, Default)]
pub struct State {
    index: HashMap<String, usize>,
    /// One for each cell of the plan, in its order.
    pub cells: Vec<History>,
    /// The highest round with a visit or a fault; 0 before the first.
    pub round: u32,
    /// Seconds of wall time up to the last visit, interruptions left out.
    pub elapsed: f64,
    /// How often the run was taken up again.
    pub resumed: u32,
    /// Caveats recorded so far, with their cell.
    pub caveats: Vec<(Option<String>, Caveat)>,
    pub complete: bool,
}

impl State {
    /// The state of a run of `plan` after `records`.
    ///
    /// # Errors
    /// A record names a cell that the plan does not have.
    pub fn rebuild(plan: &Plan, records: &[Record]) -> Result<State> {
        let mut state = State::new(plan);
        records.iter().try_for_each(|record| state.apply(record))?;
        Ok(state)
    }

    /// The state of a run of `plan` that has not begun.
    pub fn new(plan: &Plan) -> State {
        State {
            index: plan.cells.iter().enumerate().map(|(i, c)| (c.id.clone(), i)).collect(),
            cells: vec![History::default(); plan.cells.len()],
            ..State::default()
        }
    }

    pub fn apply(&mut self, record: &Record) -> Result<()> {
        match record {
            Record::Visit(visit) => {
                self.round = self.round.max(visit.round);
                self.elapsed = self.elapsed.max(visit.at);
                self.cell(&visit.cell)?.visits.push(visit.clone());
            }
            Record::Fault { cell, round, .. } => {
                self.round = self.round.max(*round);
                self.cell(cell)?.fault = Some(*round);
            }
            Record::Stop { cell, reason, .. } => self.cell(cell)?.stop = Some(reason.clone()),
            Record::Caveat { cell, caveat } => self.caveats.push((cell.clone(), caveat.clone())),
            Record::Resumed { .. } => self.resumed += 1,
            Record::End { seconds, .. } => {
                self.complete = true;
                self.elapsed = *seconds;
            }
        }
        Ok(())
    }

    fn cell(&mut self, id: &str) -> Result<&mut History> {
        match self.index.get(id) {
            Some(&i) => Ok(&mut self.cells[i]),
            None => {
                bail!("the records name {id}, which the plan does not have; they belong to another run")
            }
        }
    }

    /// Indexes of the cells that are still visited.
    pub fn live(&self) -> Vec<usize> {
        (0..self.cells.len()).filter(|&i| self.cells[i].is_live()).collect()
    }
}

/// What samples are judged by.
fn times(samples: &Samples) -> &[f64] {
    if samples.cpu_ns.is_empty() { &samples.wall_ns } else { &samples.cpu_ns }
}

/// CPU seconds of a visit: its samples, and the untimed call before those of a quick cell.
pub fn cpu_seconds(visit: &VisitRecord) -> f64 {
    let total = |s: &Samples| s.cpu_ns.iter().sum::<f64>() * f64::from(s.batch);
    let call = |s: &Samples| weigh_stats::median(&s.cpu_ns).filter(|ns| *ns < LONG_CALL * 1e9).unwrap_or(0.0);
    visit.phases.values().map(|s| total(s) + call(s)).sum::<f64>() * visit.spent() / 1e9
}
