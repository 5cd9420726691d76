//! Heads of HTTP/1 that violate the rules, or reach the limits.

use std::time::Duration;

use weigh_load::fault::HttpFaultKind::{
    AmbiguousLength, BadHead, Garbage, HeadTooLong, Informational, Overlong, Status,
};

use crate::kind::{Kind, flood, http1, send};
use crate::server::{Step, response};

pub fn kinds() -> Vec<Kind> {
    [long(), fields(), lengths(), status_lines(), interim(), odd()].concat()
}

fn long() -> Vec<Kind> {
    let begun = || send("HTTP/1.1 200 OK\r\n");
    let many = format!("HTTP/1.1 200 OK\r\n{}Content-Length: 5\r\n\r\nhello", "a: b\r\n".repeat(256));
    vec![
        http1("fields without end", &[HeadTooLong], vec![begun(), flood("X-More: of it\r\n")])
            .saying("no end of the head within 16384 bytes"),
        http1("a field name without end", &[HeadTooLong], vec![begun(), flood("x")]),
        http1("a field value without end", &[HeadTooLong], vec![begun(), send("X: "), flood("y")]),
        http1("a reason without end", &[HeadTooLong], vec![send("HTTP/1.1 200 "), flood("O")]),
        http1("bare line feeds without end", &[Garbage], vec![flood("\n")]),
        http1("257 fields", &[HeadTooLong], vec![send(many)]).saying("more than 256 headers"),
        http1(
            "an interim response without end",
            &[HeadTooLong],
            vec![send("HTTP/1.1 103 Hints\r\n"), flood("Link: </a>\r\n")],
        ),
    ]
}

/// A good response except for this line in its head.
fn with(line: &str) -> Vec<Step> {
    vec![send(format!("HTTP/1.1 200 OK\r\nServer: a\r\n{line}\r\n\r\nhello"))]
}

fn fields() -> Vec<Kind> {
    [
        ("a folded field", " folded: 5"),
        ("a field folded with a tab", "\tfolded: 5"),
        ("NUL in a field", "a: b\0c"),
        ("a carriage return in a field", "a: b\rContent-Length: 5"),
        ("an escape character in a field", "a: \x1b[2J"),
        ("a space before the colon", "Content-Length : 5"),
        ("a field without a colon", "Content-Length 5"),
        ("a field without a name", ": 5"),
        ("a space in a field's name", "Content Length: 5"),
        ("a control character in a field's name", "Content\x01Length: 5"),
        ("an unknown transfer coding", "Transfer-Encoding: gzip"),
        ("gzip before chunked", "Transfer-Encoding: gzip, chunked"),
        ("chunked before gzip", "Transfer-Encoding: chunked, gzip"),
        ("chunked twice", "Transfer-Encoding: chunked, chunked"),
        ("chunked with a prefix", "Transfer-Encoding: xchunked"),
        ("chunked with a vertical tab", "Transfer-Encoding: \x0bchunked"),
        ("chunked in two fields", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        ("an empty transfer coding", "Transfer-Encoding: "),
    ]
    .map(|(name, line)| http1(name, &[BadHead], with(line)))
    .to_vec()
}

fn lengths() -> Vec<Kind> {
    let bad = [
        ("a negative length", "-5"),
        ("a length with a sign", "+5"),
        ("a length in hexadecimal", "0x5"),
        ("a length with a letter", "5x"),
        ("a length with a fraction", "5.0"),
        ("a length with a parameter", "5; q=1"),
        ("two lengths without a comma", "5 5"),
        ("a length beyond 64 bits", "18446744073709551616"),
        ("an empty length", ""),
        ("a length of an empty member", "5,"),
        ("a length in quotes", "\"5\""),
    ];
    let bad = bad.map(|(name, length)| http1(name, &[BadHead], with(&format!("Content-Length: {length}"))));
    let both =
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let reverse =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let ambiguous = [
        http1("a length, then chunks", &[AmbiguousLength], vec![send(both)])
            .saying("Content-Length 5 together with Transfer-Encoding"),
        http1("chunks, then a length", &[AmbiguousLength], vec![send(reverse)]),
        http1("two lengths that differ", &[AmbiguousLength], with("Content-Length: 5\r\nContent-Length: 6")),
        http1("two lengths in one field that differ", &[AmbiguousLength], with("Content-Length: 5, 6")),
        http1("the same length twice", &[], with("Content-Length: 5\r\nContent-Length: 5")),
        http1("the same length twice in one field", &[], with("Content-Length: 5, 5")),
        http1("a length with zeros in front", &[], with("Content-Length: 0000000000000000000005")),
    ];
    [bad.to_vec(), ambiguous.to_vec()].concat()
}

fn status_lines() -> Vec<Kind> {
    let rest = "\r\nContent-Length: 5\r\n\r\nhello";
    let bad = [
        ("an empty line before the status", "\r\nHTTP/1.1 200 OK"),
        ("control characters before the status", "\0\x1b[2JHTTP/1.1 200 OK"),
        ("a warning before the status", "<b>Warning</b>: headers already sent\nHTTP/1.1 200 OK"),
        ("a byte order mark before the status", "\u{feff}HTTP/1.1 200 OK"),
        ("no status", "HTTP/1.1 OK"),
        ("a status of two digits", "HTTP/1.1 20 OK"),
        ("a status of four digits", "HTTP/1.1 2000 OK"),
        ("a status under 100", "HTTP/1.1 099 OK"),
        ("a negative status", "HTTP/1.1 -20 OK"),
        ("two spaces before the status", "HTTP/1.1  200 OK"),
        ("a tab before the status", "HTTP/1.1\t200 OK"),
        ("HTTP/2 in words", "HTTP/2.0 200 OK"),
        ("HTTP/0.9 in words", "HTTP/0.9 200 OK"),
        ("HTTP in small letters", "http/1.1 200 OK"),
        ("a version of two digits", "HTTP/1.10 200 OK"),
        ("another protocol's status", "ICY 200 OK"),
        ("a request in place of a response", "GET / HTTP/1.1"),
        ("a body without a head", "<html>hello</html>"),
    ];
    let bad = bad.map(|(name, line)| http1(name, &[Garbage], vec![send(format!("{line}{rest}"))]));
    let more = [
        http1("zeros without end", &[Garbage], vec![flood([0; 1000])]),
        http1("a status without end", &[Garbage], vec![send("HTTP/1.1 2"), flood("0")]),
        http1("NUL in the reason", &[BadHead], vec![send(format!("HTTP/1.1 200 O\0K{rest}"))]),
        http1("a carriage return in the reason", &[BadHead], vec![send(format!("HTTP/1.1 200 O\rK{rest}"))]),
        http1("no reason", &[], vec![send(format!("HTTP/1.1 200{rest}"))]),
        http1("a long reason", &[], vec![send(format!("HTTP/1.1 200 {}{rest}", "O".repeat(8000)))]),
    ];
    [bad.to_vec(), more.to_vec()].concat()
}

fn interim() -> Vec<Kind> {
    let good = response("", b"hello");
    let hint = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n";
    let then_good = |before: String| vec![send([before.as_bytes(), &good].concat())];
    vec![
        http1("100 without end", &[Informational], vec![flood("HTTP/1.1 100 Continue\r\n\r\n")])
            .saying("more than 16 informational responses"),
        http1("103 without end", &[Informational], vec![flood(hint)]),
        http1("199 without end", &[Informational], vec![flood("HTTP/1.1 199 ?\r\n\r\n")]),
        http1("17 interim responses", &[Informational], then_good(hint.repeat(17))),
        http1("16 interim responses", &[], then_good(hint.repeat(16))),
        http1(
            "100 with a body",
            &[Garbage],
            then_good("HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nhello".into()),
        ),
        http1(
            "101 that was not asked for",
            &[Status],
            vec![send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")],
        )
        .first(&[]),
    ]
}

fn odd() -> Vec<Kind> {
    let bodiless = |status: &str| vec![send(format!("HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\nhello"))];
    vec![
        http1("204 with a body", &[Status], bodiless("204 No Content")).first(&[Overlong]),
        http1("304 with a body", &[Status], bodiless("304 Not Modified")).first(&[Overlong]),
        http1("status 999", &[Status], bodiless("999 ?")).first(&[]),
        http1(
            "lines that end with line feeds alone",
            &[],
            vec![send("HTTP/1.1 200 OK\nContent-Length: 5\n\nhello")],
        ),
        http1(
            "bytes over 127 in a field",
            &[],
            vec![send(b"HTTP/1.1 200 OK\r\nX: \xff\xfe\r\nContent-Length: 5\r\n\r\nhello")],
        ),
        http1(
            "a head in two parts",
            &[],
            vec![
                send("HTTP/1.1 200 OK\r\nContent-Le"),
                Step::Wait(Duration::from_millis(20)),
                send("ngth: 5\r\n\r\nhello"),
            ],
        ),
        http1("HTTP/1.9", &[], vec![send("HTTP/1.9 200 OK\r\nContent-Length: 5\r\n\r\nhello")]),
        http1(
            "HTTP/1.0 with chunks",
            &[],
            vec![
                send("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
                Step::Close,
            ],
        ),
    ]
}
