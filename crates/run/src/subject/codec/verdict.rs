//! What a visit must satisfy before it counts: a wrong answer is a fault, never a number.

use weigh_model::cell::Cell;
use weigh_model::payload::Payload;
use weigh_model::protocol::{Checked, Fault, FaultKind, Samples, Visit, VisitRequest};

fn fault(kind: FaultKind, message: String) -> Fault {
    Fault { kind, message, remedy: None }
}

/// Judges a visit. `bytes`: the cell encodes the payload's bytes, so that the worker's digest of what came back
/// must be the payload's; else it encodes a value, whose serialization is the worker's own.
///
/// # Errors
/// [`FaultKind::Garbage`] when the reply does not hold together, [`FaultKind::RoundTrip`] when the source did not
/// come back.
pub fn judge(
    cell: &Cell,
    payload: &Payload,
    bytes: bool,
    request: &VisitRequest,
    visit: &Visit,
) -> Result<(), Fault> {
    let garbage = |what: String| Err(fault(FaultKind::Garbage, format!("{}: {what}", cell.id)));
    let fits = match payload.family {
        true => visit.decoded.len() == request.items.len(),
        false => visit.decoded.is_empty() == request.items.is_empty(),
    };
    if visit.decoded.len() != visit.encoded.len() || !fits {
        return garbage(format!(
            "the reply has {} encoded and {} decoded items for {} in the payload",
            visit.encoded.len(),
            visit.decoded.len(),
            request.items.len()
        ));
    }
    for phase in &request.phases {
        if let Some(what) = visit.phases.get(phase).map_or(Some("is missing"), wrong_samples) {
            return garbage(format!("the reply's phase {} {what}", format!("{phase:?}").to_lowercase()));
        }
    }
    if request.verify && !visit.verified {
        return garbage("the reply was to be verified and was not".into());
    }
    if bytes && (visit.decoded != request.items || visit.sha256_decoded != request.sha256) {
        let message = format!("{}: what came back is not the payload {}", cell.id, payload.name);
        return Err(fault(FaultKind::RoundTrip, message));
    }
    Ok(())
}

fn wrong_samples(samples: &Samples) -> Option<&'static str> {
    let times = || samples.cpu_ns.iter().chain(&samples.wall_ns);
    if samples.cpu_ns.is_empty() || samples.cpu_ns.len() != samples.wall_ns.len() {
        Some("has no pairs of CPU and wall time")
    } else if samples.batch == 0 {
        Some("has a batch of 0")
    } else if !times().all(|t| t.is_finite() && *t >= 0.0) {
        Some("has a time that is none")
    } else {
        None
    }
}

/// Compares what an independent decoder made of the output with what the cell's own codec saw.
///
/// # Errors
/// [`FaultKind::Independent`].
pub fn agree(cell: &Cell, visit: &Visit, checked: &Checked) -> Result<(), Fault> {
    if checked.sha256 == visit.sha256_decoded {
        return Ok(());
    }
    let message = format!("{}: {} decodes the output to other bytes", cell.id, checked.decoder);
    Err(fault(FaultKind::Independent, message))
}
