//! Servers that send endlessly: checks beyond failures and time, which the table of hostile servers checks.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use weigh_load::caveats::{Caveat, caveats};
use weigh_load::plan::{Length, Limits, LoadPlan, Protocol};
use weigh_load::result::LoadResult;
use weigh_load::run;

use crate::bad_servers::load::verify;
use crate::frames::{answer, data, frame, head, setting};
use crate::plans::{self, counts};
use crate::server::{RequestSeen, Server, Step};

/// Requests with good responses: three of the preflight, and five.
const GOOD: u64 = 8;
/// Extra time of a run on a busy machine, in addition to its limits.
const BESIDE: Duration = Duration::from_secs(60);

/// A server of HTTP/2 that answers the first requests well, and then treats a request's stream like this.
fn after_good(then: impl Fn(u32) -> Vec<Step> + Send + Sync + 'static) -> Server {
    Server::http2(move |RequestSeen { number, stream }| match number {
        _ if number < GOOD => vec![Step::Send(answer(stream, b"ok"))],
        _ => then(stream),
    })
}

/// A body with one byte per frame, endless.
fn endless(stream: u32) -> Vec<Step> {
    vec![Step::Send(head(stream)), Step::Flood(data(stream, b"x"))]
}

/// One second of load, with a limit of one second per response and half a second for the drain.
fn plan(address: SocketAddr, protocol: Protocol) -> LoadPlan {
    LoadPlan {
        length: Length { requests: None, seconds: Some(1.0) },
        limits: Limits { request_seconds: 1.0, drain_seconds: 0.5, ..Limits::default() },
        check: verify(),
        ..plans::gets(protocol, &format!("http://{address}/page"), 1)
    }
}

/// Runs a plan without an end until the server has been asked this often.
fn until_asked(plan: &LoadPlan, server: &Server, times: u64) -> LoadResult {
    let mut plan = plan.clone();
    (plan.length.seconds, plan.limits.request_seconds) = (Some(600.0), 600.0);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while server.requests() < times {
                thread::sleep(Duration::from_millis(5));
            }
            stop.store(true, Ordering::SeqCst);
        });
        run(&plan, &mut |_| {}, &stop).unwrap()
    })
}

#[test]
fn an_interrupt_ends_a_run_under_a_flood_that_has_begun() {
    let server = after_good(endless);
    let begun = Instant::now();
    let result = until_asked(&plan(server.address, Protocol::Http2), &server, GOOD + 1);
    assert!(begun.elapsed() < BESIDE, "{:?}", begun.elapsed());
    assert_eq!(counts(&result).completed, 5);
}

#[test]
fn one_connection_under_a_flood_does_not_keep_the_others_from_their_answers() {
    // The sixth request of the load is never answered; others go on over the other connection.
    let bad = AtomicUsize::new(0);
    let server = after_good(move |stream| match bad.fetch_add(1, Ordering::SeqCst) {
        0 => endless(stream),
        _ => vec![Step::Send(answer(stream, b"ok"))],
    });
    let mut plan = plan(server.address, Protocol::Http2);
    plan.streams[0].connections = 2;
    let all = counts(&until_asked(&plan, &server, GOOD + 8));
    // The last one may not be answered before the end of the drain.
    assert!(all.completed >= 11 && (1..=2).contains(&all.faulted), "{all:?}");
}

/// A plan over HTTP/2 with a second per response.
fn hasty(server: &Server, length: Length, arrival: &str) -> LoadPlan {
    let mut plan = plan(server.address, Protocol::Http2);
    plan.length = length;
    plan.streams[0].arrival = arrival.into();
    plan.limits.request_seconds = 1.0;
    plan
}

/// Every way to end a load.
fn lengths() -> [(Length, &'static str); 3] {
    let seconds = Length { requests: None, seconds: Some(0.6) };
    [(Length { requests: Some(8), seconds: None }, "closed"), (seconds, "closed"), (seconds, "constant:100")]
}

#[test]
fn a_server_that_takes_no_stream_is_named() {
    // SETTINGS_MAX_CONCURRENT_STREAMS (3) of 0, after a response.
    for (length, arrival) in lengths() {
        let server = after_good(|stream| vec![Step::Send([setting(3, 0), answer(stream, b"ok")].concat())]);
        let begun = Instant::now();
        let result = run(&hasty(&server, length, arrival), &mut |_| {}, &AtomicBool::new(false)).unwrap();
        let all = counts(&result);
        assert!(begun.elapsed() < BESIDE, "{:?}", begun.elapsed());
        assert!(all.faulted > 0 && all.dropped == 0, "{arrival}: {all:?}");
        let said = &result.faults[0].example.message;
        assert!(said.contains("SETTINGS_MAX_CONCURRENT_STREAMS is 0"), "{said}");
        is_not_the_generators(&result);
    }
}

#[test]
fn a_server_that_gives_no_window_for_a_body_is_waited_for_and_named() {
    // SETTINGS_INITIAL_WINDOW_SIZE (4) of 0 and of 1: request bodies cannot be sent, and each request times out.
    for (window, (length, arrival)) in [0, 1].into_iter().flat_map(|window| lengths().map(|l| (window, l))) {
        let none = move |stream| vec![Step::Send([setting(4, window), answer(stream, b"ok")].concat())];
        let silent = move |_| vec![Step::Send(frame(6, 0, 0, &[7; 8]))];
        let server = Server::http2(move |RequestSeen { number, stream }| match number {
            _ if number < GOOD => none(stream),
            _ => silent(stream),
        });
        let mut plan = hasty(&server, length, arrival);
        plan.requests[0].method = "POST".into();
        plan.requests[0].body = vec![b'x'; 100_000];
        let begun = Instant::now();
        let result = run(&plan, &mut |_| {}, &AtomicBool::new(false)).unwrap();
        assert!(begun.elapsed() < BESIDE, "{:?}", begun.elapsed());
        let all = counts(&result);
        assert!(all.faulted > 0, "{arrival}: {all:?}");
        assert_eq!(result.faults[0].kind, weigh_load::fault::HttpFaultKind::Timeout, "{:?}", result.faults);
        is_not_the_generators(&result);
    }
}

/// No caveat says that the generator was the limit. On a busy machine it may say that it was late, but the rate was
/// met.
fn is_not_the_generators(result: &LoadResult) {
    let blamed: Vec<Caveat> = caveats(result, true)
        .into_iter()
        .filter(|caveat| matches!(caveat, Caveat::SaturatedClient { .. } | Caveat::LateClient { .. }))
        .collect();
    assert!(blamed.is_empty(), "{blamed:?}");
}
