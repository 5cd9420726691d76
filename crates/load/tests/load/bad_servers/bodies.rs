//! Bodies that are not as long as their heads say.

use std::time::Duration;

use weigh_load::fault::FaultKind;
use weigh_load::plan::{Check, Limits, LoadPlan};

use super::load::{PREFLIGHT, REQUESTS, counts, ends_in, kinds, load, one_bad, plan, verify};
use super::server::{Server, Step, response};

fn good() -> Vec<u8> {
    response("", b"hello")
}

/// A head that says this length, and the five bytes of the good body.
fn lying(length: usize) -> Step {
    Step::Send(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nhello").into_bytes())
}

fn hasty(server: &Server, check: Check) -> LoadPlan {
    let limits = Limits { request_seconds: 0.3, ..Limits::default() };
    LoadPlan { limits, ..plan(server.address, check) }
}

#[test]
fn a_length_that_is_too_short_leaves_bytes_over() {
    let fault = ends_in(FaultKind::Overlong, &good(), &[lying(3)]);
    assert_eq!(fault.example.message, "2 bytes after the end of the response");
}

#[test]
fn a_length_that_is_too_long_ends_when_the_server_closes() {
    let fault = ends_in(FaultKind::Truncated, &good(), &[lying(9), Step::Close]);
    assert_eq!(fault.example.message, "closed 4 bytes before the end of the body");
}

#[test]
fn a_length_that_is_too_long_ends_by_the_clock_otherwise() {
    for check in [verify(), Check::Discard] {
        let fault = one_bad(|server| hasty(server, check.clone()), &[Step::Send(good())], &[lying(9)]);
        assert_eq!(fault.kind, FaultKind::Timeout);
    }
}

#[test]
fn a_length_beyond_all_memory_is_only_a_number() {
    let bad = [lying(usize::MAX), Step::Close];
    ends_in(FaultKind::Truncated, &good(), &bad);
    let chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhello".to_vec();
    ends_in(FaultKind::Truncated, &good(), &[Step::Send(chunk), Step::Close]);
}

#[test]
fn bytes_that_answer_nothing_are_never_taken_for_a_response() {
    // They come when the next request is already on its way, which they would answer.
    let late = PREFLIGHT + 10;
    let server = Server::start(move |number| match number {
        n if n == late => {
            vec![
                Step::Send(good()),
                Step::Wait(Duration::from_millis(50)),
                Step::Send(b"strange".to_vec()),
                Step::Close,
            ]
        }
        _ => vec![Step::Send(good())],
    });
    let mut plan = plan(server.address, verify());
    plan.streams[0].connections = 1;
    let result = load(&plan).expect("a good preflight");
    assert_eq!(kinds(&result), [(FaultKind::Garbage, 1)]);
    assert_eq!(counts(&result).completed, REQUESTS - 1);
}

#[test]
fn a_body_that_ends_with_its_connection_is_whole() {
    let body = b"HTTP/1.1 200 OK\r\n\r\nhello";
    for check in [verify(), Check::Discard] {
        // All at once: the bytes and the end may reach the client in the same breath.
        let server = Server::start(|_| vec![Step::Send(body.to_vec()), Step::Close]);
        let mut plan = plan(server.address, check.clone());
        plan.length.requests = Some(300);
        let result = load(&plan).expect("a good preflight");
        assert_eq!(counts(&result).completed, 300, "{:?}", result.faults);
        assert_eq!(server.connections(), PREFLIGHT + 300);
    }
}

#[test]
fn a_body_that_ends_with_its_connection_too_early_has_another_length() {
    let head = b"HTTP/1.1 200 OK\r\n\r\n";
    let good = [Step::Send([head, &b"hello"[..]].concat()), Step::Close];
    let bad = [Step::Send([head, &b"hell"[..]].concat()), Step::Close];
    let fault = one_bad(|server| plan(server.address, verify()), &good, &bad);
    assert_eq!(fault.kind, FaultKind::Length);
}
