//! Connections that end too early: after every byte of a response, and in every phase of an exchange.

use weigh_load::fault::HttpFaultKind;
use weigh_load::plan::Check;
use weigh_load::result::LoadResult;

use super::load::{PREFLIGHT, counts, kinds, load, plan, verify};
use crate::server::{Server, Step, chunked, response};

/// Good responses after the last cut: the run goes on.
const AFTER: u64 = 7;

/// A load over one connection in which the responses are cut after 0, 1, 2, … bytes, and then complete.
fn cut_everywhere(good: &[u8], end: Step, check: Check) -> LoadResult {
    let (good, cuts) = (good.to_vec(), good.len() as u64);
    let answers = move |number: u64| match number.checked_sub(PREFLIGHT) {
        // The first end must not be on a connection that has served before, where it may be a race.
        Some(0) => vec![Step::Send(good.clone()), Step::Close],
        Some(at) if at <= cuts => vec![Step::Send(good[..at as usize - 1].to_vec()), end.clone()],
        _ => vec![Step::Send(good.clone())],
    };
    let server = Server::start(answers);
    let mut plan = plan(server.address, check);
    plan.streams[0].keepalive = false;
    plan.streams[0].connections = 1;
    plan.length.requests = Some(1 + cuts + AFTER);
    let result = load(&plan).expect("a good preflight");
    let counts = counts(&result);
    assert_eq!((counts.completed, counts.faulted), (1 + AFTER, cuts), "{:?}", result.faults);
    result
}

fn responses() -> [Vec<u8>; 2] {
    let interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    [response("Server: a\r\n", b"hello world"), [&interim[..], &chunked(&["hello ", "world"])].concat()]
}

#[test]
fn a_response_closed_after_any_byte_is_truncated() {
    for good in responses() {
        for check in [verify(), Check::Discard] {
            let result = cut_everywhere(&good, Step::Close, check);
            let expected =
                [(HttpFaultKind::EmptyReply, 1), (HttpFaultKind::Truncated, good.len() as u64 - 1)];
            assert_eq!(kinds(&result), expected);
        }
    }
}

#[test]
fn a_response_reset_after_any_byte_is_a_reset() {
    for good in responses() {
        for check in [verify(), Check::Discard] {
            let result = cut_everywhere(&good, Step::Reset, check);
            assert_eq!(kinds(&result), [(HttpFaultKind::Reset, good.len() as u64)]);
        }
    }
}
