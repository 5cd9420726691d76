//! Fairness: slow clients take a content, while others ask for a light page of the same PHP pool, at a fixed rate. What becomes of the
//! light ones?
//!
//! Their response times count from the moment at which they were due. One that has no answer when the block ends is unanswered: it
//! is counted, and slower than every one that has an answer.

use std::path::Path;
use std::time::Duration;

use weigh_load::fault::HttpFaultKind;
use weigh_load::plan::{Length, Limits, LoadPlan, Request, Stream};
use weigh_load::result::{ClassResult, LoadResult, Slice};
use weigh_stats::hist::Packed;

use super::block;
use super::forecast::WATCHED_SECONDS;
use super::meters::Metered;
use super::visit::DeliveryRequest;
use super::watch::WatchReadings;
use weigh_model::cell::Slow;
use weigh_model::record::DeliveryVisit;
use weigh_model::record::fairness::{Fairness, LightMoment};
use weigh_rig::fpm::Pool;

/// Classes, streams and requests of both kinds have the same names.
const LIGHT: &str = "light";
const SLOW: &str = "slow";
/// Light requests per second, over this many connections at most: a visitor does not wait for the one before.
const RATE: &str = "constant:50";
const VISITORS: u32 = 16;
/// Bytes that a slow client's kernel takes ahead of it.
const RECEIVE_BUFFER: u32 = 16 << 10;
/// Seconds that what is in flight at the end is still waited for.
const DRAIN: f64 = 0.1;
/// Seconds of a slice of the response times over time: a dozen light requests.
const SLICE: f64 = 0.25;
/// How long workers may take to notice that their clients have gone.
const SETTLING: Duration = Duration::from_secs(2);

/// What is asked for: the content by slow clients, where there are any, and the light page.
pub fn plan(
    asked: &DeliveryRequest<'_>,
    slow: &Slow,
    (content, light): (Vec<String>, String),
    authority: Option<&Path>,
) -> LoadPlan {
    let mut plan = block::plan(asked, content, authority);
    let light = Request {
        name: LIGHT.into(),
        class: LIGHT.into(),
        headers: vec![block::user_agent()],
        stream: u32::from(slow.clients > 0),
        url: light,
        ..Request::default()
    };
    let visitors =
        Stream { name: LIGHT.into(), arrival: RATE.into(), connections: VISITORS, ..Stream::default() };
    for request in &mut plan.requests {
        request.name = SLOW.into();
        request.class = SLOW.into();
    }
    for stream in &mut plan.streams {
        stream.name = SLOW.into();
        stream.connections = slow.clients;
        stream.read_rate = Some(slow.read_rate);
        stream.receive_buffer = Some(RECEIVE_BUFFER);
    }
    if slow.clients == 0 {
        plan.requests.clear();
        plan.streams.clear();
    }
    plan.requests.push(light);
    plan.streams.push(visitors);
    LoadPlan {
        length: Length { requests: None, seconds: Some(WATCHED_SECONDS) },
        limits: Limits { drain_seconds: DRAIN, ..plan.limits },
        slice_seconds: SLICE,
        ..plan
    }
}

/// The visit. What was in flight at the end is not a fault: slow clients are meant to be.
pub fn visit(mut result: LoadResult, slow: &Slow, metered: Metered, seen: &WatchReadings) -> DeliveryVisit {
    let class = |name: &str| result.classes.iter().find(|c| c.name == name).cloned().unwrap_or_default();
    let (light, slow_class): (ClassResult, ClassResult) = (class(LIGHT), class(SLOW));
    let is_wrong = |kind: HttpFaultKind| kind != HttpFaultKind::Timeout;
    let failed =
        result.faults.iter().filter(|f| f.request == LIGHT && is_wrong(f.kind)).map(|f| f.count).sum();
    let fairness = Fairness {
        narrow: slow.narrow,
        due: light.counts.scheduled,
        answered: light.counts.completed,
        failed,
        response: Packed::of(&light.times.response),
        slow_completed: slow_class.counts.completed,
        slow_bytes: slow_class.counts.wire_bytes,
        busy: seen.moments(),
        light: light_over_time(&result.slices, slow_class.counts.completed),
        php_pss: seen.pss_bytes,
    };
    result.faults.retain(|fault| is_wrong(fault.kind));
    // If the light page is not available, that is what went wrong.
    let preflights = &mut result.preflights;
    if let Some(at) = preflights.iter().position(|p| p.fault.is_some() || !(200..300).contains(&p.status)) {
        preflights.swap(0, at);
    }
    DeliveryVisit {
        requests: light.counts.completed,
        metered: light.counts.sent.saturating_add(slow_class.counts.sent),
        fairness: Some(fairness),
        ..block::base(result, &light.times, &metered, |total| total)
    }
}

/// Light requests by slice. A slice has the times of every class: none where a slow client completed its download.
fn light_over_time(slices: &[Slice], slow_completed: u64) -> Vec<LightMoment> {
    let moment = |slice: &Slice| {
        let times = slice.response.unpack().ok();
        let times = times.as_ref();
        LightMoment {
            at: slice.start,
            seconds: slice.seconds,
            answered: slice.completed,
            p50: times.and_then(|times| times.quantile(0.5)),
            longest: times.and_then(|times| times.max()),
        }
    };
    if slow_completed > 0 { Vec::new() } else { slices.iter().map(moment).collect() }
}

/// Waits until the pool's workers have noticed that their clients are gone; whether they have.
pub fn settles(pool: &Pool) -> bool {
    let deadline = std::time::Instant::now() + SETTLING;
    while std::time::Instant::now() < deadline {
        // Where the status takes a worker, that one is counted.
        let own = u32::from(pool.gauge().is_none());
        if pool.status().is_ok_and(|status| status.active <= own) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[cfg(test)]
mod tests {
    use weigh_stats::hist::Hist;

    use super::*;

    #[test]
    fn light_requests_over_time_are_those_of_the_slices_unless_a_download_is_among_them() {
        let mut times = Hist::default();
        [10_000_000, 20_000_000, 400_000_000].into_iter().for_each(|ns| times.record(ns));
        let slice = |start: f64, completed: u64, response: Packed| Slice {
            start,
            seconds: SLICE,
            completed,
            response,
            ..Slice::default()
        };
        let slices = [slice(0.0, 3, Packed::of(&times)), slice(SLICE, 0, Packed::default())];
        let told = light_over_time(&slices, 0);
        assert_eq!((told.len(), told[0].answered, told[1].at), (2, 3, SLICE));
        assert!((told[0].p50.unwrap() - 0.02).abs() < 1e-4, "{told:?}");
        assert!((told[0].longest.unwrap() - 0.4).abs() < 1e-3, "{told:?}");
        assert_eq!((told[1].answered, told[1].p50, told[1].longest), (0, None, None));
        assert!(light_over_time(&slices, 1).is_empty());
    }
}
