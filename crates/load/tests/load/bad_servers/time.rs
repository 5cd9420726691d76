//! Servers that take their time.

use std::net::SocketAddr;
use std::time::Duration;

use socket2::{Domain, Socket, Type};
use weigh_load::fault::FaultKind;
use weigh_load::plan::{Check, Limits, LoadPlan};

use super::load::{PREFLIGHT, REQUESTS, counts, kinds, load, one_bad, plan, verify};
use super::server::{Server, Step, chunked, response};

fn hasty(server: &Server, check: Check) -> LoadPlan {
    let limits = Limits { request_seconds: 0.4, ..Limits::default() };
    LoadPlan { limits, ..plan(server.address, check) }
}

fn ends_by_the_clock(bad: &[Step]) {
    let good = [Step::Send(response("", b"hello"))];
    for check in [verify(), Check::Discard] {
        let fault = one_bad(|server| hasty(server, check.clone()), &good, bad);
        assert_eq!(fault.kind, FaultKind::Timeout);
        assert_eq!(fault.example.message, "no last byte within 0.4 s");
    }
}

#[test]
fn a_slow_drip_ends_by_the_clock_wherever_it_is() {
    let pause = Duration::from_millis(50);
    ends_by_the_clock(&[Step::Drip(response("", b"hello"), pause)]);
    let body = b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n".to_vec();
    ends_by_the_clock(&[Step::Send(body), Step::Drip(vec![b'x'; 5000], pause)]);
    ends_by_the_clock(&[Step::Drip(b"HTTP/1.1 100 Continue\r\n\r\n".repeat(3), pause)]);
    let chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    ends_by_the_clock(&[Step::Send(chunks), Step::Drip(b"1\r\nx\r\n".repeat(20), pause)]);
}

#[test]
fn a_server_that_says_nothing_ends_by_the_clock() {
    ends_by_the_clock(&[Step::Wait(Duration::from_secs(2))]);
}

#[test]
fn a_drip_that_is_fast_enough_is_a_response_like_any_other() {
    let page = "all the same";
    for good in [response("Server: drip\r\n", page.as_bytes()), chunked(&["all ", "the ", "same"])] {
        let server = Server::start(move |_| vec![Step::Drip(good.clone(), Duration::from_micros(100))]);
        let result = load(&plan(server.address, verify())).expect("a good preflight");
        assert_eq!(counts(&result).compared, REQUESTS, "{:?}", result.faults);
    }
}

#[test]
fn a_server_that_accepts_no_more_lets_connections_time_out() {
    // What the kernel takes into its short queue stands and is never answered; whatever comes after that does not stand.
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
    plan.limits = Limits { connect_seconds: 0.3, request_seconds: 0.3, ..Limits::default() };
    let result = load(&plan).expect("a good preflight");
    let [(FaultKind::ConnectTimeout, unconnected), (FaultKind::Timeout, unanswered)] = kinds(&result)[..]
    else {
        panic!("{:?}", result.faults);
    };
    assert!(unconnected >= 4 && (1..=4).contains(&unanswered), "{:?}", result.faults);
    assert!(counts(&result).completed >= 11);
    assert_eq!(result.faults[0].example.message, "no connection within 0.3 s");
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
    assert_eq!(kinds(&result), [(FaultKind::ConnectRefused, REQUESTS - 11)]);
    assert_eq!(counts(&result).completed, 11);
}
