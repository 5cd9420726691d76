//! One visit to a delivery from request to verdict: how many requests, what counts as an answer, and the record of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use weigh_load::caveats::BUSY_SHARE;
use weigh_load::result::{Checked, FaultCount};

use super::forecast::pass_seconds;
use super::state::State;
use crate::executor::DeliveryRequest;
use crate::planner::forecast::block_requests;
use weigh_model::caveat::Caveat;
use weigh_model::cell::Cell;
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::Plan;
use weigh_model::plan::negotiation;
use weigh_model::protocol::{Fault, FaultKind, Phase, Samples};
use weigh_model::record::fairness::Fairness;
use weigh_model::record::{DeliveryVisit, VisitRecord};

/// A first block is made this many times shorter than nominal figures say: they may be far off.
const CAUTION: f64 = 4.0;

/// The request for one visit.
pub fn request<'a>(
    plan: &'a Plan,
    state: &State,
    (index, round): (usize, u32),
    payload: &'a Payload,
    (blob, limit): (&'a Path, Duration),
) -> DeliveryRequest<'a> {
    let cell = &plan.cells[index];
    let measured = state.cells[index].visits.last().and_then(|v| pass_seconds(cell, v));
    let seconds = measured.unwrap_or(cell.expected_seconds * CAUTION);
    let connections = cell.delivery.as_ref().map_or(1, |d| d.connections);
    let seed = plan.seed ^ (u64::from(round) << 32 | index as u64);
    let negotiate = negotiation::is_due(plan, index, |i| state.cells[i].fault.is_some())
        && !state.cells[index]
            .visits
            .iter()
            .any(|v| v.delivery.as_ref().is_some_and(|d| d.negotiation.is_some()));
    let requests = block_requests(seconds, connections);
    DeliveryRequest { cell, payload, blob, requests, seed, limit, negotiate }
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
        Some(digest) if *digest == payload.sha256 || is_outside => {}
        Some(_) => {
            return fault(FaultKind::RoundTrip, format!("what came is not the payload {}", payload.name));
        }
        // Bodies that differ from each other have no digest in common; each that is looked at is decoded.
        None if is_outside && first.checked == Checked::Samples => {}
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
        return judge_fairness(cell, fairness);
    }
    if visit.requests == 0 || faulted(visit) > visit.requests {
        let example = visit.faults.first();
        let what = example.map_or("no response".to_owned(), |f| f.example.message.clone());
        return fault(example.map_or(FaultKind::Response, |f| f.kind.into()), what);
    }
    if (visit.cpu_ns().is_none() && !is_outside) || !visit.seconds.is_finite() {
        return fault(FaultKind::Missing, "the CPU time of server and PHP cannot be read".into());
    }
    Ok(())
}

/// A block with slow clients may end without any answer to a light request: that is a finding. It must have had some that were due.
fn judge_fairness(cell: &Cell, fairness: &Fairness) -> Result<(), Fault> {
    if fairness.due == 0 {
        let message = format!("{}: no light request was due", cell.id);
        return Err(Fault { kind: FaultKind::Response, message, remedy: None });
    }
    Ok(())
}

fn faulted(visit: &DeliveryVisit) -> u64 {
    visit.faults.iter().fold(0, |all, f| all.saturating_add(f.count))
}

/// The visit as a record. Its times are the caller's to fill in.
pub fn to_record(visit: DeliveryVisit, cell: &Cell, payload: &Payload, round: u32) -> VisitRecord {
    // A block with slow clients is one sample: it is not divided among responses of two kinds.
    let is_whole = visit.fairness.is_some();
    let a_response = |total: f64| match is_whole {
        true => vec![total],
        false => visit.a_response(total).into_iter().collect(),
    };
    let total_cpu = visit.server_cpu_ns.unwrap_or(0).saturating_add(visit.php_cpu_ns.unwrap_or(0)) as f64;
    let cpu_ns = if is_whole { Some(total_cpu) } else { visit.cpu_ns() };
    let samples = Samples {
        batch: if is_whole { 1 } else { u32::try_from(visit.requests).unwrap_or(u32::MAX) },
        cpu_ns: cpu_ns.into_iter().collect(),
        wall_ns: a_response(visit.seconds * 1e9),
        preempted: visit.switches.map_or(0, |s| s.involuntary),
    };
    VisitRecord {
        cell: cell.id.clone(),
        round,
        at: 0.0,
        took: 0.0,
        decoded_bytes: payload.bytes,
        encoded_bytes: if is_whole { visit.preflight.body_bytes } else { visit.body() },
        dictionary_bytes: 0,
        sha256_encoded: String::new(),
        verified: true,
        independent: None,
        phases: BTreeMap::from([(Phase::Serve, samples)]),
        peak_bytes: BTreeMap::new(),
        delivery: Some(Box::new(visit)),
        client: None,
    }
}

/// What to keep in mind of a visit that counts.
pub fn caveats(visit: &DeliveryVisit) -> Vec<Caveat> {
    let busy =
        (visit.client_share >= BUSY_SHARE).then_some(Caveat::GeneratorLimit { share: visit.client_share });
    let faulted = faulted(visit);
    let faulty = visit.faults.first().map(|first| Caveat::FaultyResponses {
        faulted,
        requests: visit.requests.saturating_add(faulted),
        example: first.example.message.clone(),
    });
    let deep = visit.fairness.as_ref().filter(|fairness| !fairness.narrow).map(|_| Caveat::DeepBuffers);
    busy.into_iter().chain(faulty).chain(deep).collect()
}
