//! One visit to a client cell from observation to verdict: what counts as an answer, and the record of it.

use std::collections::BTreeMap;

use weigh_model::caveat::Caveat;
use weigh_model::cell::Cell;
use weigh_model::payload::Payload;
use weigh_model::protocol::{Fault, FaultKind, Phase, Samples};
use weigh_model::record::{ClientVisit, VisitRecord};

/// The worker's own loop may be this share of its CPU time.
const OWN: f64 = 0.05;

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

/// The visit as a record. Its times are the caller's to fill in.
pub fn to_record(visit: ClientVisit, cell: &Cell, payload: &Payload, round: u32) -> VisitRecord {
    let samples = Samples {
        batch: u32::try_from(visit.transactions()).unwrap_or(u32::MAX),
        cpu_ns: visit.cpu_ns().into_iter().collect(),
        wall_ns: visit.a_transaction(visit.seconds() * 1e9).into_iter().collect(),
        preempted: visit.switches.involuntary,
    };
    VisitRecord {
        cell: cell.id.clone(),
        round,
        at: 0.0,
        took: 0.0,
        decoded_bytes: payload.bytes,
        encoded_bytes: visit.stored_bytes.unwrap_or(0),
        dictionary_bytes: 0,
        sha256_encoded: String::new(),
        verified: true,
        independent: None,
        phases: BTreeMap::from([(Phase::Transact, samples)]),
        peak_bytes: BTreeMap::new(),
        delivery: None,
        client: Some(Box::new(visit)),
    }
}

/// What to keep in mind of a visit that counts.
pub fn caveats(visit: &ClientVisit) -> Vec<Caveat> {
    let failed = visit.faults.first().map(|first| Caveat::FailedTransactions {
        failed: visit.failed(),
        transactions: visit.transactions(),
        example: first.message.clone(),
    });
    let missed = visit.reads.misses as f64 / visit.reads.count.max(1) as f64;
    let evicted = (visit.reads.misses > 0).then_some(Caveat::Evicted { share: missed });
    let dropped = (visit.dropped > 0)
        .then(|| Caveat::Dropped { dropped: visit.dropped, scheduled: visit.dropped + visit.transactions() });
    let client = (visit.client_user_ns + visit.client_system_ns) as f64;
    let share = visit.a_transaction(client).filter(|ns| *ns > 0.0).map(|ns| visit.own_ns / ns);
    let own = share.filter(|share| *share > OWN).map(|share| Caveat::OwnOverhead { share });
    failed.into_iter().chain(evicted).chain(dropped).chain(own).collect()
}
