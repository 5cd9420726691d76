//! Runs against such servers, and checks that apply to all of them.

use std::sync::atomic::AtomicBool;

use weigh_load::fault::HttpFaultKind;
use weigh_load::plan::{Check, Limits, LoadPlan, Protocol};
use weigh_load::result::{Counts, LoadResult};
use weigh_load::{Refusal, run};

use crate::plans;

/// Requests that the preflight sends before the load begins.
pub const PREFLIGHT: u64 = 3;

/// Requests of a load, unless a test says otherwise.
pub const REQUESTS: u64 = 24;

/// The load's request that fails, unless a test says otherwise.
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

/// Runs a plan.
pub fn load(plan: &LoadPlan) -> Result<LoadResult, Refusal> {
    run(plan, &mut |_| {}, &AtomicBool::new(false))
}

/// The results of the only class. Every scheduled request has ended in one way, and the parts add up to the whole.
pub fn counts(result: &LoadResult) -> Counts {
    assert_eq!(result.classes.len(), 1);
    let counts = result.classes[0].counts;
    let ended = counts.completed + counts.faulted + counts.dropped + counts.abandoned;
    assert_eq!(counts.scheduled, ended, "{result:?}");
    assert_eq!(result.faults.iter().map(|fault| fault.count).sum::<u64>(), counts.faulted, "{result:?}");
    assert_eq!(result.classes[0].times.response.count(), counts.completed, "{result:?}");
    counts
}

/// Kinds of failures with their numbers, in order.
pub fn kinds(result: &LoadResult) -> Vec<(HttpFaultKind, u64)> {
    result.faults.iter().map(|fault| (fault.kind, fault.count)).collect()
}
