//! Responses of HTTP/1 that are closed or reset at each stage, each over a connection of its own. `cuts` of the other
//! tests does this after every byte.

use weigh_load::fault::HttpFaultKind::{EmptyReply, Reset, Truncated};

use crate::kind::{Kind, also_over_tls, http1, send};
use crate::server::{Step, response};

pub fn kinds() -> Vec<Kind> {
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let stages = [
        ("before the first byte", String::new()),
        ("inside the status", "HTTP/1.1 2".into()),
        ("after the status line", "HTTP/1.1 200 OK\r\n".into()),
        ("inside a field", "HTTP/1.1 200 OK\r\nContent-Le".into()),
        ("after an interim response", "HTTP/1.1 103 Early Hints\r\n\r\n".into()),
        ("before the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".into()),
        ("inside the body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel".into()),
        ("before the first chunk", chunks.into()),
        ("inside a chunk size", format!("{chunks}1")),
        ("inside a chunk", format!("{chunks}b\r\nhello")),
        ("between two chunks", format!("{chunks}2\r\nhe\r\n")),
        ("inside the trailers", format!("{chunks}5\r\nhello\r\n0\r\nX: ")),
    ];
    let closed = |(stage, sent): &(&str, String)| {
        let ends = if sent.is_empty() { EmptyReply } else { Truncated };
        http1(format!("closed {stage}"), &[ends], vec![send(sent), Step::Close]).fresh()
    };
    let reset = |(stage, sent): &(&str, String)| {
        http1(format!("reset {stage}"), &[Reset], vec![send(sent), Step::Reset]).fresh()
    };
    let finished = |(stage, sent): &(&str, String)| {
        let ends = if sent.is_empty() { EmptyReply } else { Truncated };
        http1(format!("half closed {stage}"), &[ends], vec![send(sent), Step::Finish]).fresh()
    };
    let all = stages.iter().map(closed).chain(stages.iter().map(reset)).collect();
    let half = [&stages[0], &stages[3], &stages[6]].map(finished);
    let good = vec![send(response("", b"hello")), Step::Finish];
    let late = http1("half closed after the response", &[], good).fresh();
    [also_over_tls(all), half.to_vec(), vec![late]].concat()
}
