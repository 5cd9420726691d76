//! Who carries out visits: one executor a runtime, and one deliverer. A worker process is one; tests bring their own.

mod client;
mod delivery;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::interrupt::Interrupt;
use weigh_model::protocol::{CheckRequest, Checked, Description, Fault, FaultKind, Visit, VisitRequest};

pub use client::{TransactRequest, Transactor};
pub use delivery::{Deliverer, DeliveryRequest, Standing};

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The cell has no number.
    Fault(Fault),
    /// The user wants the run to end; the cell is as if it had not been visited.
    Interrupted,
}

/// Carries out requests, one at a time. It fills in the requests' ids itself.
pub trait Executor {
    /// What the worker is, and what it can measure.
    ///
    /// # Errors
    /// [`Failure`]: it cannot be started, or does not speak the protocol.
    fn describe(&mut self) -> Result<Description, Failure>;

    /// Measures one cell once, within `limit` of wall time.
    ///
    /// # Errors
    /// [`Failure`].
    fn visit(&mut self, request: &VisitRequest, limit: Duration) -> Result<Visit, Failure>;

    /// Decodes an output independently, within `limit` of wall time.
    ///
    /// # Errors
    /// [`Failure`].
    fn check(&mut self, request: &CheckRequest, limit: Duration) -> Result<Checked, Failure>;

    /// Ends what it started; it may be asked again afterwards.
    fn end(&mut self) {}
}

/// The executors of a run.
pub struct Pool {
    runtimes: BTreeMap<String, Box<dyn Executor>>,
    checker: Option<Box<dyn Executor>>,
    deliverer: Option<Box<dyn Deliverer>>,
    transactor: Option<Box<dyn Transactor>>,
    interrupt: Interrupt,
}

impl Pool {
    /// No executors yet.
    pub fn new(interrupt: Interrupt) -> Pool {
        Pool { runtimes: BTreeMap::new(), checker: None, deliverer: None, transactor: None, interrupt }
    }

    /// Adds the executor of the runtime of that name.
    pub fn add(&mut self, runtime: impl Into<String>, executor: Box<dyn Executor>) {
        self.runtimes.insert(runtime.into(), executor);
    }

    /// Sets the executor that decodes independently: a native worker of its own, so that checking leaves no
    /// trace in the memory of those that are measured. Without one, nothing is checked independently.
    pub fn set_checker(&mut self, executor: Box<dyn Executor>) {
        self.checker = Some(executor);
    }

    /// Sets who carries out deliveries.
    pub fn set_deliverer(&mut self, deliverer: Box<dyn Deliverer>) {
        self.deliverer = Some(deliverer);
    }

    /// Who carries out deliveries.
    ///
    /// # Errors
    /// A fault of kind [`FaultKind::Missing`] when the pool has nobody for that.
    pub fn deliverer(&mut self) -> Result<&mut (dyn Deliverer + 'static), Failure> {
        self.deliverer.as_deref_mut().ok_or_else(|| nobody("deliveries"))
    }

    /// Sets who carries out transactions with stores.
    pub fn set_transactor(&mut self, transactor: Box<dyn Transactor>) {
        self.transactor = Some(transactor);
    }

    /// Who carries out transactions with stores.
    ///
    /// # Errors
    /// A fault of kind [`FaultKind::Missing`] when the pool has nobody for that.
    pub fn transactor(&mut self) -> Result<&mut (dyn Transactor + 'static), Failure> {
        self.transactor.as_deref_mut().ok_or_else(|| nobody("transactions"))
    }

    /// The flag that ends a run between visits.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// The executor of a runtime.
    ///
    /// # Errors
    /// A fault of kind [`FaultKind::Missing`] when the pool has none of that name.
    pub fn runtime(&mut self, name: &str) -> Result<&mut (dyn Executor + 'static), Failure> {
        let missing = || Fault {
            kind: FaultKind::Missing,
            message: format!("there is no worker for the runtime {name}"),
            remedy: None,
        };
        self.runtimes.get_mut(name).map(|e| &mut **e).ok_or_else(|| Failure::Fault(missing()))
    }

    /// The independent decoder's executor.
    pub fn checker(&mut self) -> Option<&mut (dyn Executor + 'static)> {
        self.checker.as_deref_mut()
    }

    /// Ends every worker.
    pub fn end(&mut self) {
        self.runtimes.values_mut().chain(self.checker.as_mut()).for_each(|e| e.end());
        self.deliverer.iter_mut().for_each(|d| d.end());
        self.transactor.iter_mut().for_each(|t| t.end());
    }
}

fn nobody(what: &str) -> Failure {
    let message = format!("there is nobody to carry out {what}");
    Failure::Fault(Fault { kind: FaultKind::Missing, message, remedy: None })
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.end();
    }
}
