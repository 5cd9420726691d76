//! Who carries out visits to client cells: the real one starts stores and PHP workers; tests bring their own.

use std::path::Path;
use std::time::Duration;

use super::{Failure, Standing};
use weigh_model::cell::Cell;
use weigh_model::payload::Payload;
use weigh_model::plan::Plan;
use weigh_model::record::ClientVisit;

/// One block of transactions to carry out.
#[derive(Clone, Copy, Debug)]
pub struct TransactRequest<'a> {
    /// What is done, by whom, with which store.
    pub cell: &'a Cell,
    /// What is stored.
    pub payload: &'a Payload,
    /// Its file.
    pub blob: &'a Path,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Wall time that it may take; an answer that is late is a fault.
    pub limit: Duration,
}

/// Carries out blocks of transactions, one at a time. It keeps the stores that it started until it is told to end.
pub trait Transactor {
    /// The versions of the stores and PHPs of a plan; one that does not answer is left out, and its cells become faults.
    fn versions(&mut self, plan: &Plan) -> Vec<Standing>;

    /// Measures one cell once.
    ///
    /// # Errors
    /// [`Failure`]: a store or a worker does not start or does not answer as it should, or the user wants the run to end.
    fn transact(&mut self, request: &TransactRequest<'_>) -> Result<ClientVisit, Failure>;

    /// Ends what it started; it may be asked again afterwards.
    fn end(&mut self) {}
}
