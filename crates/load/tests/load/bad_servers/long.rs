//! Long bodies that arrive in parts: an event waits for many bytes, and nothing may be missed or delayed by that.

use std::time::Duration;

use weigh_load::fault::HttpFaultKind;
use weigh_load::plan::{Check, Limits, LoadPlan};

use super::load::{BAD, PREFLIGHT, REQUESTS, counts, kinds, load, plan, verify};
use crate::server::{Server, Step, response};

const LENGTH: usize = 700_000;
const PAUSE: Duration = Duration::from_millis(5);

/// A response with a body of [`LENGTH`] bytes, sent in pieces that end here.
fn parts(ends: &[usize]) -> Vec<Step> {
    let body: Vec<u8> = (0..LENGTH).map(|n| (n % 251) as u8).collect();
    let whole = response("", &body);
    let head = whole.len() - LENGTH;
    let mut steps = Vec::new();
    let mut begin = 0;
    for end in ends {
        steps.extend([Step::Send(whole[begin..head + end].to_vec()), Step::Wait(PAUSE)]);
        begin = head + end;
    }
    steps
}

/// With a time limit that is exceeded if the client waits for bytes that do not arrive.
fn single(server: &Server, check: Check) -> LoadPlan {
    let limits = Limits { request_seconds: 2.0, ..Limits::default() };
    let mut plan = LoadPlan { limits, ..plan(server.address, check) };
    plan.streams[0].connections = 1;
    plan
}

#[test]
fn parts_of_any_length_make_up_the_whole() {
    let ways: [&[usize]; 5] = [
        &[LENGTH],
        &[0, 1, 70_000, LENGTH],
        &[300_000, LENGTH - 1, LENGTH],
        &[262_144, 524_288, LENGTH],
        &[400_000, 640_000, 641_000, 642_000, 699_000, LENGTH],
    ];
    for check in [verify(), Check::Discard] {
        let server = Server::start(move |number| parts(ways[number as usize % ways.len()]));
        let result = load(&single(&server, check)).expect("a good preflight");
        let counts = counts(&result);
        assert_eq!((counts.completed, counts.faulted), (REQUESTS, 0), "{:?}", result.faults);
        assert_eq!(counts.wire_bytes - counts.head_bytes, REQUESTS * LENGTH as u64);
    }
}

#[test]
fn a_short_response_after_a_long_one_is_seen_at_once() {
    let server = Server::start(|number| match number % 2 {
        0 => parts(&[100_000, LENGTH]),
        _ => vec![Step::Send(response("", b"short"))],
    });
    let result = load(&single(&server, Check::Discard)).expect("a good preflight");
    assert_eq!(counts(&result).completed, REQUESTS, "{:?}", result.faults);
    let shortest = result.classes[0].times.response.quantile(0.1).expect("there are times");
    assert!(shortest < 1.0, "{shortest}");
}

#[test]
fn what_came_before_the_end_of_the_connection_is_counted() {
    for (end, kind) in [(Step::Close, HttpFaultKind::Truncated), (Step::Wait(PAUSE), HttpFaultKind::Timeout)]
    {
        let server = Server::start(move |number| match number {
            n if n == PREFLIGHT + BAD => [parts(&[100_000, 650_000]), vec![end.clone()]].concat(),
            _ => parts(&[LENGTH]),
        });
        let result = load(&single(&server, verify())).expect("a good preflight");
        assert_eq!(kinds(&result), [(kind, 1)]);
        if kind == HttpFaultKind::Truncated {
            assert_eq!(result.faults[0].example.message, "closed 50000 bytes before the end of the body");
        }
        assert_eq!(counts(&result).completed, REQUESTS - 1);
    }
}
