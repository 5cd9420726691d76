//! Servers that violate the TLS handshake, or present an untrusted certificate; for HTTP/1 and, if it differs, HTTP/2.

use weigh_load::fault::HttpFaultKind::{self, ConnectTimeout, Garbage, Http2, Reset, Timeout, Tls};

use crate::frames;
use crate::kind::{FOR_EVER, Kind, drip, flood, http1, http2, send};
use crate::secure::Secure;
use crate::server::{Step, response};
use crate::wire::Change;

pub fn kinds() -> Vec<Kind> {
    [certificates(), greetings(), flights(), spoken()].concat()
}

/// A server with good responses, over TLS of this kind, each request over a connection of its own.
fn shown(name: &str, ends: &[HttpFaultKind], tls: Secure) -> Kind {
    http1(name, ends, vec![send(response("", b"hello"))]).over(tls).fresh().only(&[crate::kind::When::First])
}

fn certificates() -> Vec<Kind> {
    let http2 = |name: &str, ends: &[HttpFaultKind], tls| {
        let answer = |id| vec![send(frames::answer(id, b"ok"))];
        http2(name, ends, answer).over(tls).fresh().only(&[crate::kind::When::First])
    };
    vec![
        shown("a certificate signed by itself", &[Tls], Secure::Stranger),
        shown("a certificate that has expired", &[Tls], Secure::Expired),
        shown("a certificate for another name", &[Tls], Secure::Misnamed),
        shown("TLS 1.2 alone", &[], Secure::Old),
        http2("a certificate signed by itself", &[Tls], Secure::Stranger),
        http2("no protocol by ALPN", &[Http2], Secure::Mute),
        http2("another protocol by ALPN", &[Tls, Http2], Secure::Backward),
        http2("HTTP/2 over TLS 1.2", &[], Secure::Old),
        shown("tickets of 16 MB in the handshake", &[Tls], Secure::Generous),
        http2("tickets of 16 MB in the handshake", &[Tls], Secure::Generous),
    ]
}

/// The bytes instead of the server's greeting; each connection has one request.
fn greeting(name: &str, ends: &[HttpFaultKind], said: Vec<Step>) -> Kind {
    let steps = [vec![Step::Hear], said].concat();
    http1(name, ends, steps).greeting().over(Secure::Good)
}

fn record(kind: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16).to_be_bytes();
    [&[kind, 3, 3], &length[..], payload].concat()
}

fn greetings() -> Vec<Kind> {
    let silent = FOR_EVER;
    let alert = |level: u8, what: u8| send(record(21, &[level, what]));
    vec![
        greeting("HTTP in place of TLS", &[Tls], vec![send("HTTP/1.1 400 Bad Request\r\n\r\n\0\u{1b}[2J")]),
        greeting("zeros in place of TLS without end", &[Tls], vec![flood([0; 1000])]),
        greeting("an alert in place of a greeting", &[Tls], vec![alert(2, 40), silent.clone()]),
        greeting("close_notify in place of a greeting", &[Tls], vec![alert(1, 0), Step::Close]),
        greeting("warnings without end", &[Tls], vec![flood(record(21, &[1, 90]))]),
        greeting("empty records without end", &[Tls], vec![flood(record(22, &[]))]),
        greeting("change_cipher_spec without end", &[Tls], vec![flood(record(20, &[1]))]),
        greeting("an unknown record", &[Tls], vec![send(record(99, b"what is it")), silent.clone()]),
        greeting("a record of 64 KB", &[Tls], vec![send(record(22, &[0; 65535])), silent.clone()]),
        greeting(
            "data before the handshake",
            &[Tls],
            vec![send(record(23, b"HTTP/1.1 200 OK")), silent.clone()],
        ),
        greeting(
            "a message of 16 MB",
            &[Tls],
            vec![send(record(22, b"\x02\xff\xff\xff")), flood(record(22, &[0; 1000]))],
        ),
        greeting(
            "the client's greeting in return",
            &[Tls],
            vec![send(record(22, b"\x01\0\0\x04aaaa")), silent.clone()],
        ),
        greeting(
            "a request to begin again in place of a greeting",
            &[Tls, ConnectTimeout],
            vec![send(record(22, b"\0\0\0\0")), silent.clone()],
        ),
        greeting("closed behind the client's greeting", &[Tls], vec![Step::Close]),
        greeting("reset behind the client's greeting", &[Reset], vec![Step::Reset]),
        greeting("silence behind the client's greeting", &[ConnectTimeout], vec![silent]),
        greeting("a record that drips", &[ConnectTimeout], vec![drip(record(22, &[2; 200]))]),
        greeting("records of a byte that drip", &[ConnectTimeout], vec![drip(record(22, &[2]).repeat(9))]),
    ]
}

fn flights() -> Vec<Kind> {
    let fly = |name: &str, ends: &[HttpFaultKind], change: Change, then: Vec<Step>| {
        let steps = [vec![Step::Fly(change)], then].concat();
        http1(name, ends, steps).greeting().over(Secure::Good)
    };
    fn spoil(mut flight: Vec<u8>, at: usize) -> Vec<u8> {
        flight[at] ^= 1;
        flight
    }
    let half: Change = |flight| flight[..flight.len() / 2].to_vec();
    vec![
        fly("half of the flight, and silence", &[ConnectTimeout], half, vec![FOR_EVER]),
        fly("half of the flight, and the end", &[Tls, Reset], half, vec![Step::Close]),
        fly("half of the flight, and a reset", &[Reset], half, vec![Step::Reset]),
        fly("half of the flight, and zeros", &[Tls], half, vec![flood([0; 1000])]),
        fly("a part of a record's header", &[ConnectTimeout], |flight| flight[..3].to_vec(), vec![FOR_EVER]),
        fly(
            "the flight with a flipped bit at its end",
            &[Tls],
            |flight| {
                let at = flight.len() - 20;
                spoil(flight, at)
            },
            vec![FOR_EVER],
        ),
        fly(
            "the flight with a flipped bit in its greeting",
            &[Tls],
            |flight| spoil(flight, 20),
            vec![FOR_EVER],
        ),
        fly("the flight of another version", &[Tls], |flight| spoil(flight, 10), vec![FOR_EVER]),
        fly("the flight twice", &[Tls], |flight| flight.repeat(2), vec![FOR_EVER]),
        fly(
            "the flight in another order",
            &[Tls],
            |flight| {
                let first = 5 + usize::from(u16::from_be_bytes([flight[3], flight[4]]));
                [&flight[first..], &flight[..first]].concat()
            },
            vec![FOR_EVER],
        ),
        fly("the whole flight, and silence", &[Timeout, ConnectTimeout], |flight| flight, vec![FOR_EVER]),
    ]
}

/// One protocol where the other is expected.
fn spoken() -> Vec<Kind> {
    vec![
        http1("TLS on a plain port", &[Garbage], vec![send(record(22, b"\x02\0\0\x04aaaa")), FOR_EVER]),
        http2("TLS on a plain port", &[Http2], |_| vec![send(record(22, b"\x02\0\0\x04aaaa")), FOR_EVER])
            .greeting(),
        http1(
            "a plain port where TLS is asked for",
            &[Tls, Timeout, ConnectTimeout],
            vec![send("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), Step::Close],
        )
        .greeting()
        .over(Secure::Good),
    ]
}
