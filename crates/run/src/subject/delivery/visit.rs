//! One visit to a delivery from order to verdict: how many requests, what counts as an answer, and the record of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use weigh_load::result::{Checked, FaultCount};

use super::Deliveries;
use super::forecast::block_requests;
use crate::executor::VisitOrder;
use crate::subject::Subject;
use weigh_model::cell::Cell;
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::negotiation;
use weigh_model::protocol::{Fault, FaultKind, Phase, Samples};
use weigh_model::record::{DeliveryVisit, VisitRecord};

/// A first block is made this many times shorter than nominal figures say: they may be far off.
const CAUTION: f64 = 4.0;

/// One block of requests to carry out.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryRequest<'a> {
    /// What is delivered, and how.
    pub cell: &'a Cell,
    /// The content; its digest is the one that decoded bodies must have.
    pub payload: &'a Payload,
    pub blob: &'a Path,
    /// How many requests, at least one a connection.
    pub requests: u64,
    pub seed: u64,
    /// Wall time that it may take; an answer that is late is a fault.
    pub limit: Duration,
    /// The matrix of requests is asked for after the block.
    pub negotiate: bool,
    /// Memory is read after the block, of a server and of workers that have done nothing else.
    pub fresh: bool,
}

impl<'a> DeliveryRequest<'a> {
    /// The block that an order comes to.
    pub fn of(order: &VisitOrder<'a>) -> DeliveryRequest<'a> {
        let VisitOrder { plan, state, index, payload, blob, limit, .. } = *order;
        let (cell, visits) = (order.cell(), &order.past().visits);
        let measured = visits.last().and_then(|visit| Deliveries.pass_seconds(visit));
        let seconds = measured.unwrap_or(cell.expected_seconds * CAUTION);
        let has_answers =
            |visit: &VisitRecord| visit.delivery.as_ref().is_some_and(|d| d.negotiation.is_some());
        let has_memory =
            |visit: &VisitRecord| visit.delivery.as_ref().is_some_and(|d| d.server_pss.is_some());
        // What slow clients keep is memory too, and there are few blocks of theirs.
        let is_slow = cell.delivery.as_ref().is_some_and(|d| d.slow.is_some());
        DeliveryRequest {
            cell,
            payload,
            blob,
            requests: cell.delivery.as_ref().map_or(1, |delivery| block_requests(seconds, delivery)),
            seed: plan.seed ^ (u64::from(order.round) << 32 | index as u64),
            limit,
            fresh: is_slow || !visits.iter().any(has_memory),
            negotiate: negotiation::is_due(plan, index, |i| state.cells[i].fault.is_some())
                && !visits.iter().any(has_answers),
        }
    }
}

/// Judges a visit: a wrong answer is a fault, never a number.
///
/// # Errors
/// [`FaultKind::RoundTrip`] when a body does not decode to the payload, [`FaultKind::Response`] when there was no answer or
/// one that is none, [`FaultKind::Timeout`] when one did not come in time, [`FaultKind::Missing`] when nobody's CPU time could be read but of
/// a URL, where nobody's can.
pub fn judge(cell: &Cell, payload: &Payload, visit: &DeliveryVisit) -> Result<(), Fault> {
    let fault = |kind, what: String| Err(Fault::of_delivery(kind, format!("{}: {what}", cell.id)));
    // What a URL sends is the business of others: it may change, and what it costs them cannot be read.
    let is_outside = matches!(payload.origin, Origin::Url { .. });
    let first = &visit.preflight;
    if let Some(wrong) = &first.fault {
        return fault(wrong.kind.into(), wrong.message.clone());
    }
    if !(200..300).contains(&first.status) {
        return fault(FaultKind::Response, format!("the answer has status {}", first.status));
    }
    match &first.decoded_sha256 {
        _ if !cell.asks_for_payload() => {}
        // The digests of instances were compared when they came.
        Some(digest) if *digest == payload.sha256 || is_outside || payload.family => {}
        Some(_) => {
            return fault(FaultKind::RoundTrip, format!("what came is not the payload {}", payload.name));
        }
        // Bodies that differ from each other have no digest in common; each that is looked at is decoded.
        None if is_outside && first.checked != Checked::Length => {}
        None => return fault(FaultKind::Response, "the body could not be decoded".into()),
    }
    // One wrong body is a proof, and one wait to the deadline is longer than all else of a block.
    let is_grave =
        |count: &&FaultCount| matches!(count.kind.into(), FaultKind::RoundTrip | FaultKind::Timeout);
    if let Some(wrong) = visit.faults.iter().find(is_grave) {
        return fault(wrong.kind.into(), wrong.example.message.clone());
    }
    if let Some(wrong) = visit.negotiation.as_ref().and_then(|told| told.wrong_body()) {
        return fault(FaultKind::RoundTrip, wrong);
    }
    if let Some(fairness) = &visit.fairness {
        // A block with slow clients may end without any answer to a light request: that is a finding. Some must have been due.
        let message = || format!("{}: no light request was due", cell.id);
        return match fairness.due {
            0 => Err(Fault { kind: FaultKind::Response, message: message(), remedy: None }),
            _ => Ok(()),
        };
    }
    if visit.requests == 0 || visit.faulted() > visit.requests {
        let example = visit.faults.first();
        let what = example.map_or("no response".to_owned(), |f| f.example.message.clone());
        return fault(example.map_or(FaultKind::Response, |f| f.kind.into()), what);
    }
    if (visit.cpu_ns().is_none() && !is_outside) || !visit.seconds.is_finite() {
        return fault(FaultKind::Missing, "the CPU time of server and PHP cannot be read".into());
    }
    Ok(())
}

pub fn record(visit: DeliveryVisit, order: &VisitOrder<'_>) -> VisitRecord {
    // A block with slow clients is one sample: it is not divided among responses of two kinds.
    let is_whole = visit.fairness.is_some();
    let wall_ns = visit.seconds * 1e9;
    let total_cpu = visit.server_cpu_ns.unwrap_or(0).saturating_add(visit.php_cpu_ns.unwrap_or(0)) as f64;
    let (cpu_ns, wall_ns) = match is_whole {
        true => (Some(total_cpu), Some(wall_ns)),
        false => (visit.cpu_ns(), visit.a_response(wall_ns)),
    };
    let samples = Samples {
        batch: if is_whole { 1 } else { u32::try_from(visit.requests).unwrap_or(u32::MAX) },
        cpu_ns: cpu_ns.into_iter().collect(),
        wall_ns: wall_ns.into_iter().collect(),
        preempted: visit.switches.map_or(0, |s| s.involuntary),
    };
    VisitRecord {
        decoded_bytes: order.payload.size(),
        encoded_bytes: if is_whole { visit.preflight.body_bytes } else { visit.body() },
        verified: true,
        phases: BTreeMap::from([(Phase::Serve, samples)]),
        delivery: Some(Box::new(visit)),
        ..VisitRecord::of(&order.cell().id, order.round)
    }
}
