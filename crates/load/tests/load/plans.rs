//! Plans for tests, and their results.

use std::sync::atomic::AtomicBool;

use weigh_load::plan::{Length, Limits, LoadPlan, Protocol, Request, Stream};
use weigh_load::result::{Counts, LoadResult};

/// This many GETs of one URL in a closed model over two connections.
pub fn gets(protocol: Protocol, url: &str, requests: u64) -> LoadPlan {
    LoadPlan {
        requests: vec![Request {
            name: "page".into(),
            url: url.into(),
            headers: vec![("Accept-Encoding".into(), "gzip".into())],
            class: "pages".into(),
            ..Request::default()
        }],
        streams: vec![Stream { connections: 2, ..Stream::default() }],
        protocol,
        length: Length { requests: Some(requests), seconds: None },
        limits: Limits { request_seconds: 20.0, drain_seconds: 20.0, ..Limits::default() },
        ..LoadPlan::default()
    }
}

/// Runs a plan that must not be refused.
pub fn run(plan: &LoadPlan) -> LoadResult {
    weigh_load::run(plan, &mut |_| {}, &AtomicBool::new(false)).unwrap()
}

/// The totals over all classes.
pub fn counts(result: &LoadResult) -> Counts {
    let mut all = Counts::default();
    result.classes.iter().for_each(|class| all.add(&class.counts));
    all
}

/// A body that no codec can compress.
pub fn noise(length: usize) -> Vec<u8> {
    (0..length as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}
