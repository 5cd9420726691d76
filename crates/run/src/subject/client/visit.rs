//! One visit to a client cell from observation to verdict: what counts as an answer, and the record of it.

use std::collections::BTreeMap;

use crate::executor::VisitOrder;
use weigh_model::cell::Cell;
use weigh_model::protocol::{Fault, FaultKind, Phase, Samples};
use weigh_model::record::{ClientVisit, VisitRecord};

/// Judges a visit: a wrong value is a fault, never a number.
///
/// # Errors
/// [`FaultKind::RoundTrip`] when a read gave another value than was written, [`FaultKind::Response`] when half of the transactions
/// failed or none was made.
pub fn judge(cell: &Cell, visit: &ClientVisit) -> Result<(), Fault> {
    let fault =
        |kind, what: String| Err(Fault { kind, message: format!("{}: {what}", cell.id), remedy: None });
    let example = || visit.faults.first().map_or("nothing was answered".to_owned(), |f| f.message.clone());
    if visit.reads.wrong > 0 {
        let what = format!(
            "{} of {} reads gave another value than was written",
            visit.reads.wrong, visit.reads.count
        );
        return fault(FaultKind::RoundTrip, what);
    }
    if visit.transactions() == 0 || 2 * visit.failed() > visit.transactions() {
        return fault(FaultKind::Response, example());
    }
    if visit.cpu_ns().is_none() || !visit.seconds().is_finite() || visit.seconds() <= 0.0 {
        return fault(FaultKind::Missing, "the time of its transactions cannot be read".into());
    }
    Ok(())
}

pub fn record(visit: ClientVisit, order: &VisitOrder<'_>) -> VisitRecord {
    let samples = Samples {
        batch: u32::try_from(visit.transactions()).unwrap_or(u32::MAX),
        cpu_ns: visit.cpu_ns().into_iter().collect(),
        wall_ns: visit.a_transaction(visit.seconds() * 1e9).into_iter().collect(),
        preempted: visit.switches.involuntary,
    };
    VisitRecord {
        decoded_bytes: order.payload.size(),
        encoded_bytes: visit.stored_bytes.unwrap_or(0),
        verified: true,
        phases: BTreeMap::from([(Phase::Transact, samples)]),
        client: Some(Box::new(visit)),
        ..VisitRecord::of(&order.cell().id, order.round)
    }
}
