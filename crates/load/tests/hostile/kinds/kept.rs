//! Kept connections of HTTP/1 on which the server sends more than requested, or less.

use std::time::Duration;

use weigh_load::fault::HttpFaultKind::{Garbage, Overlong, Status};

use crate::kind::{Kind, When, also_over_tls, http1, send};
use crate::server::{Step, response};

pub fn kinds() -> Vec<Kind> {
    let good = || response("", b"hello");
    let closing = || send(response("Connection: close\r\n", b"hello"));
    let busy = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let pause = || Step::Wait(Duration::from_millis(5));
    also_over_tls(vec![
        http1("each response twice", &[Overlong], vec![send(good().repeat(2))]),
        http1(
            "a response and the begin of another",
            &[Overlong],
            vec![send([good(), b"HTTP/1.1 2".to_vec()].concat())],
        ),
        http1("an empty line after a response", &[Overlong], vec![send([good(), b"\r\n".to_vec()].concat())]),
        http1(
            "a word that answers nothing, later",
            &[Garbage, Overlong],
            vec![send(good()), Step::Wait(Duration::from_millis(30)), send("strange"), pause(), Step::Close],
        )
        .only(&[When::After]),
        http1(
            "408 under the next request",
            &[Status, Overlong],
            vec![send(good()), pause(), send(busy), Step::Close],
        )
        .lasting(),
        http1("closed without a word of it", &[], vec![send(good()), Step::Close]),
        http1("closed as it said", &[], vec![closing(), Step::Close]),
        http1("said to close, and kept open", &[], vec![closing()]),
        http1(
            "said to close and to keep",
            &[],
            vec![send(response("Connection: keep-alive, close\r\n", b"hello")), Step::Close],
        ),
        http1(
            "Connection: close by HTTP/1.0 without a word",
            &[],
            vec![send("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello")],
        ),
    ])
}
