//! Servers that accept no further connection.

use std::net::SocketAddr;

use socket2::{Domain, Socket, Type};
use weigh_load::fault::HttpFaultKind;
use weigh_load::plan::Limits;

use super::load::{PREFLIGHT, REQUESTS, counts, kinds, load, plan, verify};
use crate::server::{Server, Step, response};

#[test]
fn a_server_that_accepts_no_more_lets_connections_time_out() {
    // Connections in the kernel's short queue are established but never answered; further ones are not established.
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).expect("a local port");
    socket.listen(1).expect("it is bound");
    let server = Server::on(socket.into(), |number| {
        let answer = [Step::Send(response("", b"hello")), Step::Close];
        let stall = (number == PREFLIGHT + 10).then_some(Step::Stall);
        stall.into_iter().chain(answer).collect()
    });
    let mut plan = plan(server.address, verify());
    plan.streams[0].keepalive = false;
    plan.length.requests = Some(20);
    plan.limits = Limits { connect_seconds: 1.0, request_seconds: 1.0, ..Limits::default() };
    let result = load(&plan).expect("a good preflight");
    let [(HttpFaultKind::ConnectTimeout, unconnected), (HttpFaultKind::Timeout, unanswered)] =
        kinds(&result)[..]
    else {
        panic!("{:?}", result.faults);
    };
    assert!(unconnected >= 4 && (1..=4).contains(&unanswered), "{:?}", result.faults);
    assert!(counts(&result).completed >= 11);
    assert_eq!(result.faults[0].example.message, "not connected within 1 s");
}

#[test]
fn a_server_that_stops_listening_refuses() {
    let server = Server::start(|number| {
        let answer = Step::Send(response("Connection: close\r\n", b"hello"));
        if number == PREFLIGHT + 10 {
            vec![Step::Retire, answer, Step::Close]
        } else {
            vec![answer, Step::Close]
        }
    });
    let mut plan = plan(server.address, verify());
    plan.streams[0].connections = 1;
    let result = load(&plan).expect("a good preflight");
    assert_eq!(kinds(&result), [(HttpFaultKind::ConnectRefused, REQUESTS - 11)]);
    assert_eq!(counts(&result).completed, 11);
}
