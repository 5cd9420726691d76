//! Bytes that belong to no request, and bodies that end with their connection.

use weigh_load::fault::HttpFaultKind;
use weigh_load::plan::Check;

use super::load::{PREFLIGHT, REQUESTS, counts, kinds, load, plan, verify};
use crate::server::{Server, Step, response};

fn good() -> Vec<u8> {
    response("", b"hello")
}

#[test]
fn bytes_that_answer_nothing_are_never_taken_for_a_response() {
    // They arrive when the next request is already on its way, and would be taken for its response.
    let server = Server::start(move |number| match number == PREFLIGHT + 11 {
        true => vec![Step::Send(b"strange".to_vec()), Step::Close],
        false => vec![Step::Send(good())],
    });
    let mut plan = plan(server.address, verify());
    plan.streams[0].connections = 1;
    let result = load(&plan).expect("a good preflight");
    assert_eq!(kinds(&result), [(HttpFaultKind::Garbage, 1)]);
    assert_eq!(counts(&result).completed, REQUESTS - 1);
}

#[test]
fn a_body_that_ends_with_its_connection_is_whole() {
    let body = b"HTTP/1.1 200 OK\r\n\r\nhello";
    for check in [verify(), Check::Discard] {
        // All at once: the bytes and the end may reach the client together.
        let server = Server::start(|_| vec![Step::Send(body.to_vec()), Step::Close]);
        let mut plan = plan(server.address, check.clone());
        plan.length.requests = Some(300);
        let result = load(&plan).expect("a good preflight");
        assert_eq!(counts(&result).completed, 300, "{:?}", result.faults);
        assert_eq!(server.connections(), PREFLIGHT + 300);
    }
}
