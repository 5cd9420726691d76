//! Who carries out visits, whatever is under test: the one interface that the scheduler knows. Each subject has an executor of its own,
//! and tests bring theirs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::state::{History, State};
use weigh_model::cell::Cell;
use weigh_model::payload::Payload;
use weigh_model::plan::Plan;
use weigh_model::protocol::{CheckRequest, Checked, Description, Fault, FaultKind, Visit, VisitRequest};
use weigh_model::record::VisitRecord;
use weigh_os::process::Invocation;

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The cell has no number.
    Fault(Fault),
    /// The user wants the run to end; the cell is as if it had not been visited.
    Interrupted,
}

impl Failure {
    /// A fault without a remedy.
    pub fn fault(kind: FaultKind, message: String) -> Failure {
        Failure::Fault(Fault { kind, message, remedy: None })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct VisitOrder<'a> {
    pub plan: &'a Plan,
    /// What is known of its cells so far.
    pub state: &'a State,
    /// Which cell of the plan.
    pub index: usize,
    /// The round, from 1.
    pub round: u32,
    /// What the cell works on; bodies and values have to have its digest.
    pub payload: &'a Payload,
    pub blob: &'a Path,
    /// Wall time that it may take; an answer that is late is a fault.
    pub limit: Duration,
    /// Where its parts are counted, for whoever watches.
    pub parts: &'a PartsDone,
}

/// How many parts of the visit under way are carried out. A payload of many files may take minutes.
#[derive(Debug, Default)]
pub struct PartsDone {
    done: AtomicUsize,
    all: AtomicUsize,
}

impl PartsDone {
    /// A visit of this many parts begins.
    pub fn begin(&self, all: usize) {
        self.done.store(0, Ordering::Relaxed);
        self.all.store(all, Ordering::Relaxed);
    }

    /// One more is carried out.
    pub fn one(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Those carried out, of how many; none for a visit that is not in parts.
    pub fn get(&self) -> Option<(usize, usize)> {
        let all = self.all.load(Ordering::Relaxed);
        (all > 1).then(|| (self.done.load(Ordering::Relaxed), all))
    }
}

impl<'a> VisitOrder<'a> {
    pub fn cell(&self) -> &'a Cell {
        &self.plan.cells[self.index]
    }

    /// What is known of the cell so far.
    pub fn past(&self) -> &'a History {
        &self.state.cells[self.index]
    }
}

/// What stands under cells now, for comparison with the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// The name in the plan of a runtime, a server or a store.
    pub name: String,
    /// Its version as queried now.
    pub version: String,
    /// Library and version of what it can be used with, as queried now, by name.
    pub libraries: BTreeMap<String, String>,
}

impl Version {
    pub fn of(name: &str, version: String) -> Version {
        Version { name: name.to_owned(), version, libraries: BTreeMap::new() }
    }
}

/// Carries out the visits of a run, one at a time. It keeps what it started until it is told to end.
pub trait Executor {
    /// What the user should know before anything is measured: a line.
    fn remark(&self) -> Option<&str> {
        None
    }

    /// What the `live` cells of a plan stand on, by index. What does not answer is left out, and its cells become faults.
    fn versions(&mut self, plan: &Plan, live: &[usize]) -> Vec<Version>;

    /// Measures one cell once. The record's times in the run are the caller's to fill in; the stolen time too, if it is not there.
    ///
    /// # Errors
    /// [`Failure`]: what stands under the cell does not start or does not answer as it should, or the user wants the run to end.
    fn visit(&mut self, order: &VisitOrder<'_>) -> Result<VisitRecord, Failure>;

    /// One block of a cell by one fresh worker, which is started under something such as a profiler: the worker's CPU seconds, and its
    /// process id. It is not a visit: nothing of it is recorded.
    ///
    /// # Errors
    /// [`Failure`], as of a visit; the cell is none of PHP's.
    fn alone(&mut self, order: &VisitOrder<'_>, _on: &Invocation) -> Result<(f64, u32), Failure> {
        let message = format!("{}: only PHP can be profiled", order.cell().id);
        Err(Failure::fault(FaultKind::Parameter, message))
    }

    /// Ends what it started; it may be asked again afterwards.
    fn end(&mut self) {}
}

/// A worker that measures codecs and says how long they took. It fills in the requests' ids itself.
pub trait CodecWorker: Send {
    /// What the worker is, and what it can measure.
    ///
    /// # Errors
    /// [`Failure`]: it cannot be started, or does not speak the protocol.
    fn describe(&mut self) -> Result<Description, Failure>;

    /// Measures one cell once, within `limit` of wall time.
    fn visit(&mut self, request: &VisitRequest, limit: Duration) -> Result<Visit, Failure>;

    /// Decodes an output independently, within `limit` of wall time.
    fn check(&mut self, request: &CheckRequest, limit: Duration) -> Result<Checked, Failure>;

    /// Ends what it started; it may be asked again afterwards.
    fn end(&mut self) {}
}
