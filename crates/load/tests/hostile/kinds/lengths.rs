//! Bodies of HTTP/1 whose length differs from the head, and other bodies than the good one.

use weigh_load::fault::HttpFaultKind::{Length, Mismatch, Overlong, Reset, Status, Timeout, Truncated};

use crate::kind::{FOR_EVER, Kind, also_over_tls, flood, http1, send};
use crate::server::{Step, response};

/// A head with this length, and the five bytes of the good body.
fn lying(length: impl std::fmt::Display) -> Step {
    send(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\nhello"))
}

const UNTIL_CLOSE: &str = "HTTP/1.1 200 OK\r\n\r\n";

pub fn kinds() -> Vec<Kind> {
    [also_over_tls(framing()), others()].concat()
}

fn framing() -> Vec<Kind> {
    vec![
        http1("a length that is too short", &[Overlong], vec![lying(3)])
            .saying("2 bytes after the end of the response"),
        http1("a length of 0 with a body", &[Overlong], vec![lying(0)]),
        http1("a length that is too long, and the end", &[Truncated], vec![lying(9), Step::Close])
            .saying("closed 4 bytes before the end of the body"),
        http1("a length that is too long, and silence", &[Timeout], vec![lying(9)]),
        http1("a length beyond all memory, and the end", &[Truncated], vec![lying(u64::MAX), Step::Close]),
        http1(
            "a length beyond all memory, and a reset",
            &[Reset, Truncated],
            vec![lying(u64::MAX), Step::Reset],
        ),
        http1(
            "a length beyond all memory, and all of it",
            &[Timeout],
            vec![lying(u64::MAX), flood([b'x'; 1000])],
        ),
        http1("no length, and no end", &[Timeout], vec![send(UNTIL_CLOSE), send("hello"), FOR_EVER]),
        http1("no length, and bytes without end", &[Timeout], vec![send(UNTIL_CLOSE), flood([b'x'; 1000])]),
        http1("no length, and an end", &[], vec![send(UNTIL_CLOSE), send("hello"), Step::Close]),
        http1("HTTP/1.0 with an end", &[], vec![send("HTTP/1.0 200 OK\r\n\r\nhello"), Step::Close]),
    ]
}

fn others() -> Vec<Kind> {
    let is = |body: &[u8]| vec![send(response("", body))];
    let status = |status: &str| vec![send(format!("HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\nhello"))];
    vec![
        http1("a flipped bit", &[Mismatch], is(b"hellp")).first(&[]).read(),
        http1("another body of that length", &[Mismatch], is(b"other")).first(&[]).read(),
        http1("an empty body", &[Length], is(b"")).first(&[]),
        http1("a shorter body", &[Length], is(b"hell")).first(&[]),
        http1("a longer body", &[Length], is(b"hello!")).first(&[]),
        http1("a body of 8 MB", &[Length, Mismatch], is(&vec![b'x'; 8 << 20])).first(&[]),
        http1("status 503", &[Status], status("503 Service Unavailable")).first(&[]),
        http1("status 301", &[Status], status("301 Moved Permanently")).first(&[]),
        http1("status 206", &[Status], status("206 Partial Content")).first(&[]),
        http1("an end that comes too early", &[Length], vec![send(UNTIL_CLOSE), send("hell"), Step::Close])
            .first(&[]),
    ]
}
