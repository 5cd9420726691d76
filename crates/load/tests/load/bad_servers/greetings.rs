//! Servers that act before they were asked.

use std::net::TcpListener;

use weigh_load::fault::{Fault, FaultKind};
use weigh_load::plan::Check;

use super::load::{PREFLIGHT, only_fault, plan, verify};
use super::server::{Server, Step, response};

/// A load with a connection a request, of which one is greeted like this. Gives the fault that came of it.
fn greeted(greeting: &[Step], check: Check) -> Fault {
    let greeting = greeting.to_vec();
    let greetings = move |number| if number == PREFLIGHT + 10 { greeting.clone() } else { Vec::new() };
    let answers = |_| vec![Step::Send(response("", b"hello"))];
    let listener = TcpListener::bind("127.0.0.1:0").expect("a local port");
    let server = Server::greeting(listener, greetings, answers);
    let mut plan = plan(server.address, check);
    plan.streams[0].keepalive = false;
    plan.limits.request_seconds = 5.0;
    only_fault(&plan)
}

#[test]
fn a_server_of_another_protocol_is_heard_out_at_once() {
    // Nothing follows: whoever waits for more than the greeting waits until the end of the limit.
    for check in [verify(), Check::Discard] {
        let banner = Step::Send(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec());
        let fault = greeted(&[banner], check);
        assert_eq!(fault.kind, FaultKind::Garbage, "{fault:?}");
        assert!(fault.message.contains(r"SSH-2.0-OpenSSH_9.2\r\n"), "{fault:?}");
    }
}

#[test]
fn a_refusal_before_the_request_is_a_response() {
    let busy = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec();
    for check in [verify(), Check::Discard] {
        let fault = greeted(&[Step::Send(busy.clone())], check);
        assert_eq!(fault.kind, FaultKind::Status, "{fault:?}");
    }
}

#[test]
fn a_connection_that_is_reset_at_once_is_a_reset() {
    for check in [verify(), Check::Discard] {
        let fault = greeted(&[Step::Reset], check);
        assert_eq!(fault.kind, FaultKind::Reset, "{fault:?}");
    }
}

#[test]
fn a_connection_that_is_closed_at_once_has_no_reply() {
    // The request that reaches a closed connection is answered with a reset; which of the two is seen first is a race.
    let fault = greeted(&[Step::Close], verify());
    assert!(matches!(fault.kind, FaultKind::EmptyReply | FaultKind::Reset), "{fault:?}");
}
