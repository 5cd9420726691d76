//! Spreads a plan over threads: each has a part of every stream, with its own connections and schedule.

use super::part::{Draw, Part};
use super::prepared::{Arsenal, Refusal};
use crate::arrival::{self, Model};
use crate::plan::{Check, Length, Limits, LoadPlan, Protocol, Stream};

/// The arrival models of a plan's streams.
///
/// # Errors
/// What is wrong with one of them, or an empty plan.
pub fn models(plan: &LoadPlan) -> Result<Vec<Box<dyn Model>>, Refusal> {
    if plan.requests.is_empty() || plan.streams.is_empty() {
        return Err(Refusal("the plan has no requests".into()));
    }
    if plan.length.requests.is_none() && plan.length.seconds.is_none() {
        return Err(Refusal("the plan has no end: give it requests or seconds".into()));
    }
    if plan.requests.iter().any(|r| r.stream as usize >= plan.streams.len()) {
        return Err(Refusal("a request belongs to a stream that does not exist".into()));
    }
    let model =
        |s: &Stream| arrival::parse_for(&s.arrival, plan.length.seconds).map_err(|e| Refusal(e.to_string()));
    plan.streams.iter().map(model).collect()
}

/// One thread's parts of the streams. Connections are distributed in turn, so that the numbers per thread differ by at
/// most one.
pub fn parts<'a>(
    plan: &'a LoadPlan,
    arsenal: &Arsenal,
    models: &[Box<dyn Model>],
    index: u32,
) -> Vec<Part<'a>> {
    let part = |at: usize| {
        let (stream, model) = (&plan.streams[at], &models[at]);
        let requests: Vec<(u32, f64)> = (0u32..)
            .zip(&plan.requests)
            .filter(|(_, r)| r.stream as usize == at && r.weight > 0.0)
            .map(|(i, r)| (i, r.weight))
            .collect();
        let count = plan.threads.clamp(1, stream.connections.max(1));
        let takes_part = index < count && !requests.is_empty();
        let most = if takes_part { (stream.connections + count - 1 - index) / count } else { 0 };
        let at_once = if plan.protocol == Protocol::Http2 { stream.streams_per_connection.max(1) } else { 1 };
        let context = arrival::Part {
            index: index.min(count - 1),
            count,
            slots: most * at_once,
            seed: plan.seed ^ (at as u64) << 32,
            seconds: plan.length.seconds,
        };
        let draw = if stream.in_turn {
            Draw::in_turn(&requests.iter().map(|(request, _)| *request).collect::<Vec<_>>(), 1)
        } else {
            Draw::new(&requests, plan.seed.wrapping_mul(u64::from(index) + 1).wrapping_add(at as u64))
        };
        let schedule = model.schedule(&context);
        let is_open = model.is_open() && takes_part;
        Part::new(stream, schedule, is_open, most as usize, arsenal.endpoints.len(), draw)
    };
    (0..plan.streams.len()).map(part).collect()
}

/// The plan of the preflight: one request after the other, over one connection if the load keeps its own, without slow
/// readers. Nothing has to be saved when it is interrupted.
pub fn scouting(plan: &LoadPlan) -> LoadPlan {
    let stream = Stream {
        name: "preflight".into(),
        keepalive: plan.streams.iter().all(|s| s.keepalive),
        ..Stream::default()
    };
    LoadPlan {
        streams: vec![stream],
        limits: Limits { drain_seconds: 0.0, ..plan.limits },
        length: Length::default(),
        check: Check::Verify { decode_every: 1, vary_by: Vec::new() },
        threads: 1,
        cpus: Vec::new(),
        ..plan.clone()
    }
}

/// The only part of such a plan: each of these requests this many times.
pub fn scouting_part<'a>(plan: &'a LoadPlan, arsenal: &Arsenal, requests: &[u32], times: u32) -> Part<'a> {
    let context = arrival::Part { index: 0, count: 1, slots: 1, seed: 0, seconds: None };
    let stream = &plan.streams[0];
    let schedule = arrival::parse(&stream.arrival).expect("it is one of the models").schedule(&context);
    let draw = Draw::in_turn(requests, times);
    Part::new(stream, schedule, false, 1, arsenal.endpoints.len(), draw)
}
