//! Who carries out visits to deliveries: the real one starts servers and PHP and drives load; tests bring their own.

use std::path::Path;
use std::time::Duration;

use super::Failure;
use weigh_model::cell::Cell;
use weigh_model::payload::Payload;
use weigh_model::plan::Plan;
use weigh_model::record::DeliveryVisit;

/// One block of requests to carry out.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryRequest<'a> {
    /// What is delivered, and how.
    pub cell: &'a Cell,
    /// The content; its digest is the one that decoded bodies must have.
    pub payload: &'a Payload,
    /// The content's file.
    pub blob: &'a Path,
    /// How many requests, at least one a connection.
    pub requests: u64,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Wall time that it may take; an answer that is late is a fault.
    pub limit: Duration,
    /// The matrix of requests is asked for after the block.
    pub negotiate: bool,
}

/// What stands under deliveries now, for comparison with the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The server's or the runtime's name in the plan.
    pub name: String,
    /// Its version as queried now.
    pub version: String,
}

/// Carries out deliveries, one at a time. It keeps what it started until it is told to end.
pub trait Deliverer {
    /// The versions of the servers and PHPs of a plan; one that does not answer is left out, and its cells become faults.
    fn versions(&mut self, plan: &Plan) -> Vec<Standing>;

    /// Measures one cell once.
    ///
    /// # Errors
    /// [`Failure`]: the server or PHP does not start or does not answer as it should, or the user wants the run to end.
    fn deliver(&mut self, request: &DeliveryRequest<'_>) -> Result<DeliveryVisit, Failure>;

    /// Ends what it started; it may be asked again afterwards.
    fn end(&mut self) {}
}
