//! Bodies that are framed well and hold the wrong thing.

use weigh_codec::{Params, codecs};
use weigh_load::fault::FaultKind;
use weigh_load::plan::{Limits, LoadPlan};
use weigh_load::result::FaultCount;

use super::load::{BAD, PREFLIGHT, REQUESTS, counts, ends_in, load, one_bad, plan, verify};
use super::server::{Server, Step, response};

const PAGE: &[u8] = b"It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness.";

fn gzip(level: i32, body: &[u8]) -> Vec<u8> {
    let codec = codecs::find("zlib").expect("it is one of ours");
    let mut wire = Vec::new();
    codec.coder(&Params::level(level)).expect("a level").encode(body, &mut wire).expect("it encodes");
    wire
}

fn zipped(wire: &[u8]) -> Vec<u8> {
    response("Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n", wire)
}

fn strict(server: &Server) -> LoadPlan {
    let limits = Limits { decoded_bytes: 1 << 20, ..Limits::default() };
    LoadPlan { limits, ..plan(server.address, verify()) }
}

fn instead_of(good: Vec<u8>, bad: Vec<u8>) -> FaultCount {
    one_bad(strict, &[Step::Send(good)], &[Step::Send(bad)])
}

#[test]
fn a_bomb_is_decoded_no_further_than_the_limit() {
    let bomb = gzip(9, &vec![0; 64 << 20]);
    assert!(bomb.len() < 128 << 10);
    let fault = instead_of(zipped(&gzip(6, PAGE)), zipped(&bomb));
    assert_eq!(fault.kind, FaultKind::Bomb, "{fault:?}");
}

#[test]
fn a_bomb_in_the_preflight_stops_the_run() {
    let bomb = zipped(&gzip(9, &vec![0; 64 << 20]));
    let server = Server::start(move |_| vec![Step::Send(bomb.clone())]);
    let refusal = load(&strict(&server)).expect_err("nothing can be verified");
    assert!(refusal.0.contains("bomb"), "{refusal}");
}

#[test]
fn another_content_coding_is_named() {
    let fault = instead_of(response("", PAGE), zipped(PAGE));
    assert_eq!(fault.kind, FaultKind::ContentCoding, "{fault:?}");
    let fault = instead_of(zipped(&gzip(6, PAGE)), response("Content-Encoding: br\r\n", PAGE));
    assert_eq!(fault.kind, FaultKind::ContentCoding, "{fault:?}");
}

#[test]
fn a_body_that_is_not_in_its_content_coding_is_corrupt() {
    let wire = gzip(6, PAGE);
    let half = &wire[..wire.len() / 2];
    let mut flipped = wire.clone();
    flipped[wire.len() / 2] ^= 0x10;
    for bad in [PAGE, half, &flipped] {
        let fault = instead_of(zipped(&wire), zipped(bad));
        assert_eq!(fault.kind, FaultKind::Corrupt, "{fault:?}");
    }
}

#[test]
fn a_coding_that_names_what_the_body_is_not_stops_the_run() {
    let server = Server::start(|_| vec![Step::Send(zipped(PAGE))]);
    let refusal = load(&strict(&server)).expect_err("nothing can be verified");
    assert!(refusal.0.contains("corrupt"), "{refusal}");
}

#[test]
fn another_payload_is_a_mismatch_and_another_encoding_of_it_is_not() {
    let mut other = PAGE.to_vec();
    other[7] ^= 1;
    let fault = instead_of(zipped(&gzip(6, PAGE)), zipped(&gzip(6, &other)));
    assert_eq!(fault.kind, FaultKind::Mismatch, "{fault:?}");

    let wires = [gzip(6, PAGE), gzip(0, PAGE)];
    assert_ne!(wires[0], wires[1]);
    let server = Server::start(move |n| vec![Step::Send(zipped(&wires[usize::from(n == PREFLIGHT + BAD)]))]);
    let result = load(&plan(server.address, verify())).expect("a good preflight");
    assert_eq!(counts(&result).completed, REQUESTS, "{:?}", result.faults);
}

#[test]
fn another_status_is_named_even_where_bodies_are_not_looked_at() {
    let busy = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\nhello".to_vec();
    ends_in(FaultKind::Status, &response("", b"hello"), &[Step::Send(busy)]);
}
