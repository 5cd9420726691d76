//! Heads that break the rules.

use weigh_load::fault::FaultKind;

use super::load::{REQUESTS, counts, ends_in, load, plan, verify};
use super::server::{Server, Step, response};

fn good() -> Vec<u8> {
    response("", b"hello")
}

fn sent(text: &str) -> [Step; 1] {
    [Step::Send(text.as_bytes().to_vec())]
}

#[test]
fn endless_headers_are_too_long() {
    let head = Step::Send(b"HTTP/1.1 200 OK\r\n".to_vec());
    let fault =
        ends_in(FaultKind::HeadTooLong, &good(), &[head.clone(), Step::Flood(b"X-More: of it\r\n".to_vec())]);
    assert_eq!(fault.example.message, "no end of the head within 16384 bytes");
    ends_in(FaultKind::HeadTooLong, &good(), &[head, Step::Flood(vec![b'x'])]);
}

#[test]
fn too_many_headers_are_too_long() {
    let head = format!("HTTP/1.1 200 OK\r\n{}Content-Length: 5\r\n\r\nhello", "a: b\r\n".repeat(256));
    let fault = ends_in(FaultKind::HeadTooLong, &good(), &sent(&head));
    assert_eq!(fault.example.message, "more than 256 fields");
}

#[test]
fn a_flood_of_informational_responses_is_cut() {
    for interim in ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"] {
        let flood = [Step::Flood(interim.as_bytes().to_vec())];
        let fault = ends_in(FaultKind::Informational, &good(), &flood);
        assert_eq!(fault.example.message, "more than 16 informational responses");
    }
}

#[test]
fn some_informational_responses_are_fine() {
    let interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n".repeat(16);
    let server = Server::start(move |number| {
        let before = if number % 2 == 1 { interim.clone() } else { Vec::new() };
        vec![Step::Send(before), Step::Send(good())]
    });
    let result = load(&plan(server.address, verify())).expect("a good preflight");
    assert_eq!(counts(&result).compared, REQUESTS, "{:?}", result.faults);
}

#[test]
fn a_length_and_chunks_together_are_ambiguous() {
    let both =
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let fault = ends_in(FaultKind::AmbiguousLength, &good(), &sent(both));
    assert_eq!(fault.example.message, "Content-Length 5 and Transfer-Encoding in one response");
    let two = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello";
    ends_in(FaultKind::AmbiguousLength, &good(), &sent(two));
}

#[test]
fn garbage_before_the_status_line_is_named() {
    for garbage in ["\r\n", "\0\x1b[2J", "<b>Warning</b>: headers already sent\n", "HTTP/1.1 OK\r\n"] {
        let bad = format!("{garbage}{}", String::from_utf8(good()).expect("text"));
        let fault = ends_in(FaultKind::Garbage, &good(), &sent(&bad));
        assert!(!fault.example.message.contains(|c: char| c.is_control()), "{:?}", fault.example.message);
    }
    ends_in(FaultKind::Garbage, &good(), &[Step::Flood(vec![0; 1000])]);
}

#[test]
fn heads_that_two_readers_could_take_differently_are_refused() {
    for line in
        ["Content-Length : 5", " folded: 5", "a: b\0c", "a: b\rContent-Length: 5", "Transfer-Encoding: gzip"]
    {
        let bad = format!("HTTP/1.1 200 OK\r\nServer: a\r\n{line}\r\n\r\nhello");
        ends_in(FaultKind::BadHead, &good(), &sent(&bad));
    }
    for length in ["-5", "5x", "18446744073709551616", ""] {
        let bad = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nhello");
        ends_in(FaultKind::BadHead, &good(), &sent(&bad));
    }
}
