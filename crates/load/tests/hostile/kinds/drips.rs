//! Responses of HTTP/1 that arrive so slowly, byte by byte, that they time out; over TLS each byte is a record.

use std::time::Duration;

use weigh_load::fault::HttpFaultKind::Timeout;

use crate::kind::{FOR_EVER, Kind, also_over_tls, drip, http1, send};
use crate::server::{Step, chunked, response};

pub fn kinds() -> Vec<Kind> {
    let chunks = || send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    let length = || send("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n");
    let fast = |bytes: Vec<u8>| vec![Step::Drip(bytes, Duration::from_micros(100))];
    also_over_tls(vec![
        http1("nothing is said", &[Timeout], vec![FOR_EVER]),
        http1("a head that drips", &[Timeout], vec![drip(response("", b"hello"))])
            .saying("response not complete within 1 s"),
        http1("fields that drip", &[Timeout], vec![send("HTTP/1.1 200 OK\r\n"), drip("X: y\r\n".repeat(9))]),
        http1("interim responses that drip", &[Timeout], vec![drip("HTTP/1.1 100 ?\r\n\r\n".repeat(3))]),
        http1("a body that drips", &[Timeout], vec![length(), drip([b'x'; 5000])]),
        http1(
            "a body until the end that drips",
            &[Timeout],
            vec![send("HTTP/1.1 200 OK\r\n\r\n"), drip([b'x'; 5000])],
        ),
        http1("a chunk size that drips", &[Timeout], vec![chunks(), drip("00000000000000000005")]),
        http1("chunks that drip", &[Timeout], vec![chunks(), drip("1\r\nx\r\n".repeat(20))]),
        http1("a trailer that drips", &[Timeout], vec![chunks(), send("0\r\n"), drip("X: y\r\n".repeat(9))]),
        http1("a drip that is fast enough", &[], fast(response("", b"hello"))),
        http1("chunks that drip fast enough", &[], fast(chunked(&["he", "llo"]))),
    ])
}
