//! Why a delivery has no number, or less of one: what the generator saw, put beside what ended and what server and PHP said.

use weigh_load::fault::{HttpFault, HttpFaultKind};

use super::words::bounded;
use crate::executor::Failure;
use crate::loading;
use weigh_model::cell::Cell;
use weigh_model::payload::Payload;
use weigh_model::protocol::{Fault, FaultKind};
use weigh_model::record::DeliveryVisit;

/// What was found beside the block.
#[derive(Debug, Default)]
pub struct Traces {
    /// What ended, and how: `nginx ended: signal: 9 (SIGKILL)`.
    pub ended: Option<String>,
    /// What server and PHP said since the block began.
    pub said: Option<String>,
}

/// Whether all that came is what was asked for: else what stood under it is started afresh.
pub fn is_sound(cell: &Cell, visit: &DeliveryVisit, payload: &Payload) -> bool {
    let first = &visit.preflight;
    visit.faults.is_empty()
        && first.fault.is_none()
        && is_fine(first.status)
        && is_payload(cell, visit, payload)
}

/// A block that is not sound, with its traces. Where something ended the visit is a fault, whatever came before: nobody can say any more
/// what it cost.
pub fn tell(
    result: Result<DeliveryVisit, Failure>,
    cell: &Cell,
    payload: &Payload,
    traces: &Traces,
) -> Result<DeliveryVisit, Failure> {
    match result {
        Ok(visit) => match &traces.ended {
            Some(ended) => {
                let message = traces.said_after(format!("{}: {ended}", cell.id));
                Err(Failure::Fault(Fault::of_delivery(FaultKind::Crash, message)))
            }
            None => Ok(explained(cell, visit, payload, traces)),
        },
        Err(Failure::Fault(fault)) if fault.kind != FaultKind::Start => {
            let (kind, message) = match &traces.ended {
                Some(ended) => (FaultKind::Crash, format!("{}; {ended}", fault.message)),
                None => (fault.kind, fault.message),
            };
            Err(Failure::Fault(Fault::of_delivery(kind, traces.said_after(message))))
        }
        other => other,
    }
}

/// Puts the traces where the judge of a visit looks for a reason.
fn explained(cell: &Cell, mut visit: DeliveryVisit, payload: &Payload, traces: &Traces) -> DeliveryVisit {
    let is_payload = is_payload(cell, &visit, payload);
    let first = &mut visit.preflight;
    if first.fault.is_some() {
        return visit;
    }
    if !is_fine(first.status) {
        let message = traces.said_after(format!("the answer has status {}", first.status));
        first.fault = Some(HttpFault::new(HttpFaultKind::Status, message));
    } else if !is_payload {
        let message = traces.said_after(format!("what came is not the payload {}", payload.name));
        first.fault = Some(HttpFault::new(HttpFaultKind::Mismatch, message));
    } else if let Some(seen) = visit.faults.first_mut() {
        seen.example.message = traces.said_after(std::mem::take(&mut seen.example.message));
    }
    visit
}

impl Traces {
    fn said_after(&self, message: String) -> String {
        self.said.iter().fold(message, |message, said| format!("{message}; its log: {said}"))
    }
}

fn is_fine(status: u16) -> bool {
    (200..300).contains(&status)
}

fn is_payload(cell: &Cell, visit: &DeliveryVisit, payload: &Payload) -> bool {
    let digest = visit.preflight.decoded_sha256.as_ref();
    !cell.asks_for_payload() || digest.is_some_and(|digest| payload.family || *digest == payload.sha256)
}

/// Why a block has no result.
pub fn refused(cell: &Cell, payload: &Payload, failure: &loading::Failure) -> Failure {
    let (kind, what) = match failure {
        loading::Failure::Refused(why) => {
            // The hint after it is for those who measure by hand.
            let why = why.split("; --").next().unwrap_or_default();
            (refusal(why, &payload.name), why.to_owned())
        }
        loading::Failure::Broken(_) => (FaultKind::Crash, failure.to_string()),
    };
    Failure::Fault(Fault::of_delivery(kind, format!("{}: {what}", cell.id)))
}

/// The kind of a refusal after the preflight, `REQUEST: KIND: …`.
fn refusal(why: &str, request: &str) -> FaultKind {
    let kind = why.strip_prefix(request).and_then(|rest| rest.strip_prefix(": ")?.split(':').next());
    let kind = kind.and_then(|word| serde_json::from_value::<HttpFaultKind>(word.into()).ok());
    kind.map_or(FaultKind::Response, FaultKind::from)
}

/// The one line that PHP's scripts answer with when they fail; none for an answer that is something else.
pub fn line_of_php(said: &[u8]) -> Option<String> {
    let line = said.strip_suffix(b"\n").unwrap_or(said);
    (!line.is_empty() && !line.contains(&b'\n')).then(|| bounded(line))
}

#[cfg(test)]
mod tests;
