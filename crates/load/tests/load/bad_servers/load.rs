//! Runs against such servers, and what has to hold of every one of them.

use std::sync::atomic::AtomicBool;

use weigh_load::fault::{Fault, FaultKind};
use weigh_load::plan::{Check, Limits, LoadPlan, Protocol};
use weigh_load::result::{Counts, FaultCount, LoadResult};
use weigh_load::{Refusal, run};

use super::server::{Server, Step};
use crate::plans;

/// Requests that the preflight sends before the load begins.
pub const PREFLIGHT: u64 = 3;

/// Requests of a load, unless a test says otherwise.
pub const REQUESTS: u64 = 24;

/// The load's request that goes wrong, unless a test says otherwise.
pub const BAD: u64 = 10;

/// A load of [`REQUESTS`] over two connections that are kept.
pub fn plan(address: impl std::fmt::Display, check: Check) -> LoadPlan {
    LoadPlan {
        limits: Limits { request_seconds: 20.0, head_bytes: 16 << 10, ..Limits::default() },
        check,
        ..plans::gets(Protocol::Http11, &format!("http://{address}/page"), REQUESTS)
    }
}

/// Every response is verified.
pub fn verify() -> Check {
    Check::Verify { decode_every: 1, vary_by: Vec::new() }
}

/// Carries a plan out.
pub fn load(plan: &LoadPlan) -> Result<LoadResult, Refusal> {
    run(plan, &mut |_| {}, &AtomicBool::new(false))
}

/// What the only class came to. Every request that was due has ended in one way, and the parts make up the whole.
pub fn counts(result: &LoadResult) -> Counts {
    assert_eq!(result.classes.len(), 1);
    let counts = result.classes[0].counts;
    let ended = counts.completed + counts.faulted + counts.dropped + counts.abandoned;
    assert_eq!(counts.scheduled, ended, "{result:?}");
    assert_eq!(result.faults.iter().map(|fault| fault.count).sum::<u64>(), counts.faulted, "{result:?}");
    assert_eq!(result.classes[0].times.response.count(), counts.completed, "{result:?}");
    counts
}

/// The fault of a load of [`REQUESTS`] in which the only other outcome is completion.
pub fn only_fault(plan: &LoadPlan) -> Fault {
    let result = load(plan).expect("a good preflight");
    let counts = counts(&result);
    let ended = (counts.completed, counts.faulted, counts.retried);
    assert_eq!(ended, (REQUESTS - 1, 1, 0), "{:?}", result.faults);
    result.faults[0].example.clone()
}

/// Kinds of the faults with their numbers, in order.
pub fn kinds(result: &LoadResult) -> Vec<(FaultKind, u64)> {
    result.faults.iter().map(|fault| (fault.kind, fault.count)).collect()
}

/// A load with one request that is answered by `bad`, and by `good` otherwise, in the preflight too. Gives the fault that
/// came of it after making sure that every other request has completed.
pub fn one_bad(plan: impl Fn(&Server) -> LoadPlan, good: &[Step], bad: &[Step]) -> FaultCount {
    let (good, bad) = (good.to_vec(), bad.to_vec());
    let answers = move |number| if number == PREFLIGHT + BAD { bad.clone() } else { good.clone() };
    let server = Server::start(answers);
    let result = load(&plan(&server)).expect("the preflight is answered well");
    let counts = counts(&result);
    assert_eq!((counts.completed, counts.faulted), (REQUESTS - 1, 1), "{:?}", result.faults);
    assert_eq!(counts.retried, 0);
    assert_eq!(server.requests(), PREFLIGHT + REQUESTS);
    let fault = result.faults.into_iter().next().expect("there is one");
    assert_eq!(fault.request, "page");
    fault
}

/// As [`one_bad`], with verification and without: both must tell the same kind.
pub fn one_bad_either_way(good: &[u8], bad: &[Step]) -> FaultCount {
    let good = [Step::Send(good.to_vec())];
    let verified = one_bad(|server| plan(server.address, verify()), &good, bad);
    let discarded = one_bad(|server| plan(server.address, Check::Discard), &good, bad);
    assert_eq!(verified.kind, discarded.kind);
    verified
}

/// That `bad` in place of a good response ends in a fault of this kind, whether bodies are verified or not.
#[track_caller]
pub fn ends_in(kind: FaultKind, good: &[u8], bad: &[Step]) -> FaultCount {
    let fault = one_bad_either_way(good, bad);
    assert_eq!(fault.kind, kind, "{fault:?}");
    fault
}
