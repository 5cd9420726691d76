//! Records of an established TLS session: encrypted correctly but with contents that no server sends, and records that
//! are not encrypted.

use weigh_load::fault::HttpFaultKind::{self, EmptyReply, Reset, Timeout, Tls, Truncated};

use crate::frames;
use crate::kind::{FOR_EVER, Kind, flood, http1, http2, send};
use crate::secure::Secure;
use crate::server::Step;

const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;
const DATA: u8 = 23;
/// Records of a flood: over 100 MB in records of a kilobyte, where 16 MB without content are accepted.
const MANY: usize = 130_000;

pub fn kinds() -> Vec<Kind> {
    let http1: Vec<Kind> = sealed()
        .into_iter()
        .map(|(name, ends, tls, records, times)| {
            let begun = || send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello");
            http1(name, &ends, vec![begun(), Step::Seal(records, times)]).over(tls).lasting()
        })
        .collect();
    let http2: Vec<Kind> = sealed()
        .into_iter()
        .map(|(name, ends, tls, records, times)| {
            let steps = move |id| {
                vec![send(frames::head(id)), send(frames::data(id, b"o")), Step::Seal(records.clone(), times)]
            };
            http2(name, &ends, steps).over(tls)
        })
        .collect();
    let bounded = |kind: Kind| match kind.name.starts_with("sealed tickets") {
        true => kind.saying("16 MB of records without content"),
        false => kind,
    };
    [http1, http2, unsealed()].concat().into_iter().map(bounded).collect()
}

type Row = (&'static str, Vec<HttpFaultKind>, Secure, Vec<(u8, Vec<u8>)>, usize);

/// NewSessionTicket (RFC 8446, 4.6.1): a lifetime, an age, a nonce, a ticket of that many bytes, and no extensions.
fn ticket(bytes: u16) -> Vec<u8> {
    let body =
        [&[0, 0, 0x1c, 0x20, 1, 2, 3, 4, 1, 9][..], &bytes.to_be_bytes(), &vec![7; bytes.into()], &[0, 0]]
            .concat();
    [&[4, 0], &(body.len() as u16).to_be_bytes()[..], &body].concat()
}

fn sealed() -> Vec<Row> {
    use Secure::{Good, Old};
    let key_update = |asks: u8| vec![24, 0, 0, 1, asks];
    vec![
        ("sealed records without content, without end", vec![Tls], Good, vec![(DATA, vec![])], MANY),
        ("sealed tickets without end", vec![Tls], Good, vec![(HANDSHAKE, ticket(1000))], MANY),
        ("sealed tickets of 16 KB without end", vec![Tls], Good, vec![(HANDSHAKE, ticket(16_000))], 3000),
        ("forty sealed tickets, and silence", vec![Timeout], Good, vec![(HANDSHAKE, ticket(250))], 40),
        ("a key update", vec![Timeout, Tls], Good, vec![(HANDSHAKE, key_update(0))], 1),
        ("an alert", vec![Tls], Good, vec![(ALERT, vec![2, 80])], 1),
        ("a warning", vec![Tls, Timeout], Good, vec![(ALERT, vec![1, 90])], 1),
        ("warnings of user_canceled without end", vec![Tls], Good, vec![(ALERT, vec![1, 90])], MANY),
        ("an alert of one byte", vec![Tls], Good, vec![(ALERT, vec![2])], 1),
        (
            "a handshake message that ends nowhere",
            vec![Tls],
            Good,
            vec![(HANDSHAKE, vec![4, 0, 255, 255]), (HANDSHAKE, vec![0; 16_000])],
            6,
        ),
        ("a greeting in the middle", vec![Tls], Good, vec![(HANDSHAKE, vec![1, 0, 0, 4, 1, 1, 1, 1])], 1),
        ("a request for a certificate", vec![Tls], Good, vec![(HANDSHAKE, vec![13, 0, 0, 3, 0, 0, 0])], 1),
        ("a sealed record of an unknown type", vec![Tls], Good, vec![(99, b"what".to_vec())], 1),
        ("a request to begin again", vec![Timeout, Tls], Old, vec![(HANDSHAKE, vec![0, 0, 0, 0])], 1),
        ("requests to begin again without end", vec![Tls], Old, vec![(HANDSHAKE, vec![0, 0, 0, 0])], MANY),
        (
            "sealed records of TLS 1.2 without content, without end",
            vec![Tls],
            Old,
            vec![(DATA, vec![])],
            MANY,
        ),
        ("warnings of TLS 1.2 without end", vec![Tls], Old, vec![(ALERT, vec![1, 100])], MANY),
    ]
}

fn unsealed() -> Vec<Kind> {
    let begun = || send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe");
    let beneath = |step: Step| Step::Beneath(Box::new(step));
    let secure =
        |name: &str, ends: &[HttpFaultKind], steps| http1(name, ends, steps).over(Secure::Good).fresh();
    vec![
        secure(
            "a record that no key has sealed",
            &[Tls],
            vec![begun(), beneath(send(b"\x17\x03\x03\x00\x20llo, this is no sealed record...")), FOR_EVER],
        ),
        secure(
            "a plain alert in the middle",
            &[Tls],
            vec![begun(), beneath(send(b"\x15\x03\x03\0\x02\x02\x50")), FOR_EVER],
        ),
        secure(
            "plain HTTP in the middle",
            &[Tls],
            vec![begun(), beneath(send("llo, this is plain HTTP")), FOR_EVER],
        ),
        secure("zeros in the middle", &[Tls], vec![begun(), beneath(flood([0; 1000]))]),
        secure(
            "a record longer than any",
            &[Tls],
            vec![begun(), beneath(send(b"\x17\x03\x03\xff\xff")), beneath(flood([0; 1000]))],
        ),
        secure(
            "a part of a record, and silence",
            &[Timeout],
            vec![begun(), beneath(send(b"\x17\x03\x03\x01\0llo")), FOR_EVER],
        ),
        secure(
            "a part of a record, and the end",
            &[Truncated],
            vec![begun(), beneath(send(b"\x17\x03\x03\x01\0llo")), Step::Cut],
        ),
        secure("cut without close_notify inside a body", &[Truncated], vec![begun(), Step::Cut]),
        secure("cut without close_notify before an answer", &[EmptyReply], vec![Step::Cut]),
        secure(
            "cut without close_notify where the end tells the length",
            &[Tls],
            vec![send("HTTP/1.1 200 OK\r\n\r\nhello"), Step::Cut],
        ),
        secure(
            "cut without close_notify behind an answer",
            &[],
            vec![send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), Step::Cut],
        ),
        secure("reset inside a body beneath TLS", &[Reset], vec![begun(), beneath(Step::Reset)]),
    ]
}
