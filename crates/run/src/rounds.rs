//! The loop of a run: rounds of visits until no cell is live.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};

use super::clock::Clock;
use super::dir::RunDir;
use super::forecast::{self, Admission};
use super::observer::{Observer, Upcoming};
use super::order::{order, ranks};
use super::state::State;
use super::stop;
use crate::executor::{Executor, Failure, PartsDone, Version, VisitOrder};
use crate::subject;
use weigh_model::caveat::Caveat;
use weigh_model::plan::Plan;
use weigh_model::protocol::FaultKind;
use weigh_model::record::steal::Steal;
use weigh_model::record::{Record, StopReason, VisitRecord};
use weigh_os::interrupt::Interrupt;
use weigh_os::meter::CpuTimes;

/// A share of stolen time from which on it is worth a caveat.
const STEAL: f64 = 0.01;

/// Server, PHP and load generator each have a processor of their own; a store and its workers have theirs.
const OWN_CORES: u32 = 3;

/// What any visit may take, however quick it is expected to be: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much longer than its estimate a visit may take beyond that.
const SLOWER: f64 = 20.0;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOutcome {
    /// It ended by itself; else it was interrupted and can be resumed.
    pub complete: bool,
    pub rounds: u32,
    /// Seconds of wall time, interruptions left out.
    pub seconds: f64,
    pub measured: usize,
    pub faulted: usize,
    /// Cells for which the budget did not suffice.
    pub unmeasured: usize,
}

/// Executes the plan of `dir`, or goes on with it, until every cell is done or the interrupt is set. What the
/// executor started is ended in any case.
///
/// # Errors
/// The run directory cannot be written, its records are another run's, or a runtime is not the one planned.
/// Everything recorded until then stays, and the run can be resumed.
pub fn run(
    dir: &mut RunDir,
    executor: &mut dyn Executor,
    interrupt: &Interrupt,
    clock: &dyn Clock,
    observer: &mut dyn Observer,
) -> Result<RunOutcome> {
    let plan = dir.plan().clone();
    let state = State::rebuild(&plan, dir.records())?;
    if state.complete {
        return Ok(outcome(&state, state.elapsed));
    }
    let base = state.elapsed;
    let meter = clock.cpu_times();
    let begun = clock.now();
    let parts = observer.parts();
    let mut course =
        Course { dir, plan: &plan, state, interrupt, clock, observer, begun, base, meter, parts };
    let result = course.all(executor);
    executor.end();
    result
}

fn outcome(state: &State, seconds: f64) -> RunOutcome {
    let faulted = state.cells.iter().filter(|c| c.fault.is_some()).count();
    let measured = state.cells.iter().filter(|c| c.fault.is_none() && !c.visits.is_empty()).count();
    let unmeasured = state.cells.len() - faulted - measured;
    RunOutcome { complete: state.complete, rounds: state.round, seconds, measured, faulted, unmeasured }
}

/// A run that goes on.
struct Course<'a> {
    dir: &'a mut RunDir,
    plan: &'a Plan,
    state: State,
    interrupt: &'a Interrupt,
    clock: &'a dyn Clock,
    observer: &'a mut dyn Observer,
    begun: Duration,
    base: f64,
    meter: Option<CpuTimes>,
    parts: Arc<PartsDone>,
}

impl Course<'_> {
    fn all(&mut self, executor: &mut dyn Executor) -> Result<RunOutcome> {
        let live = self.state.live();
        if !live.is_empty() {
            same_versions(self.plan, &executor.versions(self.plan, &live))?;
            if !self.dir.records().is_empty() {
                self.append(Record::Resumed { at: self.clock.epoch() })?;
            }
            // The round that an interruption cut short is completed first.
            let mut round = self.state.round.max(1);
            while !self.state.live().is_empty() {
                if !self.round(round, executor)? {
                    self.dir.sync()?;
                    return Ok(outcome(&self.state, self.elapsed()));
                }
                for (cell, reason) in stop::decide(self.plan, &self.state, round) {
                    self.stop(cell, round, reason)?;
                }
                self.dir.sync()?;
                round += 1;
            }
        }
        self.end()
    }

    /// Visits every live cell that this round has not seen yet; `false` when interrupted.
    fn round(&mut self, round: u32, executor: &mut dyn Executor) -> Result<bool> {
        let live: Vec<usize> =
            self.state.live().into_iter().filter(|&i| self.state.cells[i].fault.is_none()).collect();
        let expected = forecast::expected(self.plan, &self.state);
        let new: Vec<bool> = self.state.cells.iter().map(|c| c.visits.is_empty()).collect();
        let ranks = self.plan.policy.in_order.then(|| ranks(self.plan));
        let order = order(&live, (&expected, &new), ranks.as_deref(), self.plan.seed, round);
        let seen = order.iter().filter(|&&i| self.state.cells[i].was_in(round)).count();
        if seen < order.len() {
            self.observer.round_begun(round, order.len());
        }
        for (place, &cell) in order.iter().enumerate() {
            if self.state.cells[cell].was_in(round) {
                continue;
            }
            if self.interrupt.is_set() {
                return Ok(false);
            }
            let elapsed = self.elapsed();
            let expected = forecast::expected(self.plan, &self.state);
            match forecast::admit(self.plan, &self.state, cell, &expected, elapsed) {
                Admission::Go => {}
                Admission::Later => continue,
                Admission::Never => {
                    self.stop(cell, round - 1, StopReason::Budget)?;
                    continue;
                }
            }
            self.observer.visiting(&Upcoming {
                cell: &self.plan.cells[cell],
                round,
                place: place + 1,
                of: order.len(),
                elapsed,
                remaining: forecast::remaining(self.plan, &self.state, &expected, elapsed),
            });
            let meter = self.clock.cpu_times();
            match self.visit(cell, round, expected[cell], executor) {
                Ok(mut visit) => {
                    visit.steal = visit.steal.or_else(|| self.steal_since(meter));
                    self.count(cell, elapsed, visit)?;
                }
                Err(Failure::Fault(fault)) => {
                    let id = self.plan.cells[cell].id.clone();
                    self.append(Record::Fault { cell: id, round, fault })?;
                    self.stop(cell, round, StopReason::Fault)?;
                }
                Err(Failure::Interrupted) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Visits a cell and judges what came of it: a wrong answer is a fault, never a number.
    fn visit(
        &self,
        index: usize,
        round: u32,
        expected: f64,
        executor: &mut dyn Executor,
    ) -> Result<VisitRecord, Failure> {
        let cell = &self.plan.cells[index];
        let Some(payload) = self.plan.payloads.iter().find(|p| p.name == cell.payload) else {
            let message = format!("{}: no such payload in the plan", cell.payload);
            return Err(Failure::fault(FaultKind::Payload, message));
        };
        let blob = self.dir.path().join(&payload.blob);
        let limit = PATIENCE + Duration::try_from_secs_f64(expected * SLOWER).unwrap_or(PATIENCE);
        let (plan, state, parts) = (self.plan, &self.state, &*self.parts);
        let visit =
            executor.visit(&VisitOrder { plan, state, index, round, payload, blob: &blob, limit, parts })?;
        subject::find_subject(cell).judge(cell, payload, &visit).map_err(Failure::Fault)?;
        Ok(visit)
    }

    /// Records a visit, and a caveat when its output is not the one of the rounds before.
    fn count(&mut self, cell: usize, begun: f64, mut visit: VisitRecord) -> Result<()> {
        visit.at = self.elapsed();
        visit.took = visit.at - begun;
        let id = visit.cell.clone();
        let first = self.state.cells[cell].visits.first();
        let unstable = first.is_some_and(|first| !first.is_same_output(&visit));
        self.append(Record::Visit(visit))?;
        if unstable {
            self.caveat(Some(id.clone()), Caveat::Unstable { cell: id })?;
        }
        Ok(())
    }

    fn stop(&mut self, cell: usize, round: u32, reason: StopReason) -> Result<()> {
        self.append(Record::Stop { cell: self.plan.cells[cell].id.clone(), round, reason })
    }

    /// Records a caveat, unless that cell or the run has one of its kind.
    fn caveat(&mut self, cell: Option<String>, caveat: Caveat) -> Result<()> {
        let kind = std::mem::discriminant(&caveat);
        let same = |(c, k): &(Option<String>, Caveat)| *c == cell && std::mem::discriminant(k) == kind;
        if self.state.caveats.iter().any(same) {
            return Ok(());
        }
        self.append(Record::Caveat { cell, caveat })
    }

    fn end(&mut self) -> Result<RunOutcome> {
        if let Some(share) = self.steal_since(self.meter).map(|s| s.share()).filter(|&share| share > STEAL) {
            self.caveat(None, Caveat::Steal { share })?;
        }
        let machine = &self.dir.file().machine;
        let cores = machine.physical_cores.unwrap_or(machine.cores);
        if let Some(governor) = machine.governor.clone().filter(|g| g != "performance") {
            self.caveat(None, Caveat::FrequencyScaling { governor })?;
        }
        if subject::of_plan(self.plan).has_counterparts(self.plan) && cores < OWN_CORES {
            self.caveat(None, Caveat::SharedCores { cores })?;
        }
        if self.state.resumed > 0 {
            self.caveat(None, Caveat::Resumed { times: self.state.resumed })?;
        }
        let seconds = self.elapsed();
        self.append(Record::End { at: self.clock.epoch(), rounds: self.state.round, seconds })?;
        self.dir.sync()?;
        self.dir.finish();
        Ok(outcome(&self.state, seconds))
    }

    fn steal_since(&self, before: Option<CpuTimes>) -> Option<Steal> {
        self.clock.cpu_times()?.since(before?)
    }

    fn append(&mut self, record: Record) -> Result<()> {
        self.dir.append(record.clone())?;
        self.state.apply(&record)?;
        self.observer.recorded(&record);
        Ok(())
    }

    fn elapsed(&self) -> f64 {
        self.base + self.clock.now().saturating_sub(self.begun).as_secs_f64()
    }
}

/// A run has one version of everything, whenever its parts were measured.
pub fn same_versions(plan: &Plan, now: &[Version]) -> Result<()> {
    let changed = |what: &str, planned: &str, now: &str| {
        bail!("{what} was {planned} when this run was planned and is {now} now; start a new run")
    };
    let servers = plan.servers.iter().map(|s| (&s.name, &s.version));
    let stores = plan.stores.iter().filter(|s| s.binary.is_some()).map(|s| (&s.name, &s.version));
    let planned = plan.runtimes.iter().map(|r| (&r.name, &r.version)).chain(servers).chain(stores);
    for (name, version) in planned {
        if let Some(other) = now.iter().find(|n| n.name == *name && n.version != *version) {
            return changed(name, version, &other.version);
        }
    }
    for runtime in &plan.runtimes {
        let now = now.iter().find(|n| n.name == runtime.name).map(|n| &n.libraries);
        for (name, library) in now.into_iter().flatten() {
            if let Some(planned) = runtime.libraries.get(name).filter(|planned| *planned != library) {
                return changed(name, planned, library);
            }
        }
    }
    Ok(())
}
