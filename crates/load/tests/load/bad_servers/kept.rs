//! Kept connections that the server ends.

use std::time::Duration;

use weigh_load::fault::HttpFaultKind;
use weigh_load::plan::{Check, LoadPlan};

use super::load::{BAD, PREFLIGHT, REQUESTS, counts, kinds, load, plan, verify};
use crate::server::{Server, Step, response};

fn good() -> Step {
    Step::Send(response("", b"hello"))
}

fn single(server: &Server, check: Check) -> LoadPlan {
    let mut plan = plan(server.address, check);
    plan.streams[0].connections = 1;
    plan
}

#[test]
fn a_request_under_which_a_kept_connection_was_closed_is_sent_again() {
    for end in [Step::Close, Step::Reset] {
        for check in [verify(), Check::Discard] {
            let end = end.clone();
            let server = Server::start(move |number| {
                vec![if number == PREFLIGHT + BAD { end.clone() } else { good() }]
            });
            let result = load(&single(&server, check)).expect("a good preflight");
            let counts = counts(&result);
            assert_eq!(
                (counts.completed, counts.faulted, counts.retried),
                (REQUESTS, 0, 1),
                "{:?}",
                result.faults
            );
            assert_eq!(counts.sent, REQUESTS);
            assert_eq!(server.requests(), PREFLIGHT + REQUESTS + 1);
        }
    }
}

#[test]
fn a_request_that_may_not_be_carried_out_twice_is_never_sent_again() {
    let server = Server::start(|number| vec![if number == PREFLIGHT + BAD { Step::Close } else { good() }]);
    let mut plan = single(&server, verify());
    plan.requests[0].method = "POST".into();
    let result = load(&plan).expect("a good preflight");
    let counts = counts(&result);
    assert_eq!((counts.completed, counts.faulted, counts.retried), (REQUESTS - 1, 1, 0));
    assert_eq!(kinds(&result), [(HttpFaultKind::EmptyReply, 1)]);
    assert_eq!(server.requests(), PREFLIGHT + REQUESTS);
}

#[test]
fn it_is_sent_again_only_once() {
    let bad = PREFLIGHT + BAD;
    let server = Server::start(move |number| {
        vec![if (bad..bad + 2).contains(&number) { Step::Close } else { good() }]
    });
    let result = load(&single(&server, verify())).expect("a good preflight");
    let counts = counts(&result);
    assert_eq!((counts.completed, counts.faulted, counts.retried), (REQUESTS - 1, 1, 1));
    assert_eq!(kinds(&result), [(HttpFaultKind::EmptyReply, 1)]);
}

#[test]
fn a_response_that_had_begun_is_never_asked_for_again() {
    let server = Server::start(move |number| match number {
        n if n == PREFLIGHT + BAD => vec![Step::Send(b"H".to_vec()), Step::Close],
        _ => vec![good()],
    });
    let result = load(&single(&server, verify())).expect("a good preflight");
    assert_eq!(kinds(&result), [(HttpFaultKind::Truncated, 1)]);
    assert_eq!(counts(&result).retried, 0);
}

#[test]
fn a_connection_that_is_closed_while_idle_is_nobodys_fault() {
    // Each connection is closed between two requests; an open model leaves time for that.
    let server = Server::start(|number| match number % 4 {
        3 => vec![good(), Step::Wait(Duration::from_millis(5)), Step::Close],
        _ => vec![good()],
    });
    let mut plan = single(&server, verify());
    plan.streams[0].arrival = "constant:40".into();
    let result = load(&plan).expect("a good preflight");
    let counts = counts(&result);
    assert_eq!((counts.completed, counts.faulted), (REQUESTS, 0), "{:?}", result.faults);
}

#[test]
fn a_connection_that_the_server_says_it_will_close_is_not_used_again() {
    for fields in ["Connection: close\r\n", "connection: Close, x\r\n"] {
        let server = Server::start(move |_| vec![Step::Send(response(fields, b"hello")), Step::Close]);
        let result = load(&single(&server, verify())).expect("a good preflight");
        let counts = counts(&result);
        assert_eq!((counts.completed, counts.retried), (REQUESTS, 0), "{:?}", result.faults);
        assert_eq!(server.connections(), PREFLIGHT + REQUESTS);
    }
}

#[test]
fn a_connection_whose_request_was_answered_before_it_was_sent_is_not_used_again() {
    // After half a request, the next one would be taken for its rest.
    let body = vec![b'x'; 8 << 20];
    let server = early();
    let mut plan = single_to(server, body);
    plan.length.requests = Some(6);
    let result = load(&plan).expect("a good preflight");
    assert_eq!(counts(&result).completed, 6, "{:?}", result.faults);
}

/// A server that answers a head at once, reads no body, and waits for the client to leave.
fn early() -> std::net::SocketAddr {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a local port");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut begin = [0; 4096];
                let _ = stream.read(&mut begin);
                let _ = stream.write_all(&response("", b"too large"));
                // Reads on slowly, so that the client is still sending when the answer is there.
                std::thread::sleep(Duration::from_millis(100));
                while stream.read(&mut begin).is_ok_and(|read| read > 0) {}
            });
        }
    });
    address
}

fn single_to(address: std::net::SocketAddr, body: Vec<u8>) -> LoadPlan {
    let mut plan = plan(address, verify());
    plan.streams[0].connections = 1;
    plan.requests[0].method = "POST".into();
    plan.requests[0].body = body;
    plan
}
