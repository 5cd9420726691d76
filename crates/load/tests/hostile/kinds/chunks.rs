//! Chunks that violate the chunked transfer coding, or reach its limits.

use weigh_load::fault::HttpFaultKind::{BadChunk, Length, Mismatch, Overlong, Timeout, Truncated};

use crate::kind::{Kind, also_over_tls, flood, http1, send};
use crate::server::{Step, chunked};

const HEAD: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

fn sent(chunks: &str) -> Step {
    send(format!("{HEAD}{chunks}"))
}

pub fn kinds() -> Vec<Kind> {
    let good = || chunked(&["hello ", "world"]);
    let all = [bad(), endless(), legal()].concat();
    all.into_iter().map(|kind| kind.instead_of(good())).chain(also_over_tls(floods())).collect()
}

fn bad() -> Vec<Kind> {
    let bad = [
        ("a negative chunk size", "-6\r\nhello "),
        ("a chunk size of letters", "xyz\r\n"),
        ("no chunk size", "\r\n"),
        ("a chunk size with 0x", "0x6\r\nhello "),
        ("a space before the chunk size", " 6\r\nhello "),
        ("a chunk size with a sign", "+6\r\nhello "),
        ("two chunk sizes", "6 6\r\nhello world"),
        ("a chunk size beyond 64 bits", "10000000000000000\r\n"),
        ("a carriage return in a chunk's line", "6\rx\nhello "),
        ("NUL after a chunk size", "6\0\r\nhello "),
        ("a chunk longer than its size", "5\r\nhello world\r\n0\r\n\r\n"),
        ("a chunk shorter than its size", "d\r\nhello world\r\n0\r\n\r\n"),
        ("a carriage return alone after a chunk", "6\r\nhello \r5\r\nworld\r\n0\r\n\r\n"),
        ("a chunk without an end of its line", "6\r\nhello 5\r\nworld\r\n0\r\n\r\n"),
        ("a carriage return in a trailer", "b\r\nhello world\r\n0\r\n\rx"),
    ];
    let bad = bad.map(|(name, chunks)| http1(name, &[BadChunk], vec![sent(chunks)]));
    let more = [
        http1(
            "bytes after the last chunk",
            &[Overlong],
            vec![sent("6\r\nhello \r\n5\r\nworld\r\n0\r\n\r\nmore")],
        )
        .saying("4 bytes after the end of the response"),
        http1("no last chunk, and the end", &[Truncated], vec![sent("b\r\nhello world\r\n"), Step::Close]),
        http1("no last chunk, and silence", &[Timeout], vec![sent("b\r\nhello world\r\n")]),
        http1("no empty line at the end, and silence", &[Timeout], vec![sent("b\r\nhello world\r\n0\r\n")]),
        http1(
            "no empty line at the end, and the end",
            &[Truncated],
            vec![sent("b\r\nhello world\r\n0\r\n"), Step::Close],
        ),
        http1(
            "a chunk beyond all memory, and the end",
            &[Truncated],
            vec![sent("ffffffffffffffff\r\nhello"), Step::Close],
        ),
        http1("only the last chunk", &[Length, Mismatch], vec![sent("0\r\n\r\n")]).first(&[]).read(),
        http1("chunks in another order", &[Mismatch], vec![send(chunked(&["world", "hello "]))])
            .first(&[])
            .read(),
    ];
    [bad.to_vec(), more.to_vec()].concat()
}

fn endless() -> Vec<Kind> {
    vec![
        http1("an extension without end", &[BadChunk], vec![sent("6;"), flood("name: value")]),
        http1("a chunk size without end", &[BadChunk], vec![sent("6"), flood("0")]),
        http1("zeros before a chunk size without end", &[BadChunk], vec![sent("0"), flood("0")]),
        http1("a trailer without end", &[BadChunk], vec![sent("0\r\n"), flood("name: value")]),
        http1("trailers without end", &[BadChunk], vec![sent("0\r\n"), flood("name: value\r\n")]),
        http1(
            "an extension of 5 KB in each chunk",
            &[BadChunk],
            vec![sent(""), flood(format!("1;{}\r\nx\r\n", "e".repeat(5000)))],
        ),
    ]
}

/// They are valid responses until they break.
fn floods() -> Vec<Kind> {
    vec![
        http1("chunks of a byte without end", &[Timeout], vec![sent(""), flood("1\r\nx\r\n".repeat(1000))]),
        http1(
            "chunks with extensions of 3 KB without end",
            &[Timeout],
            vec![sent(""), flood(format!("1;{}\r\nx\r\n", "e".repeat(3000)))],
        ),
        http1(
            "chunks of 64 KB without end",
            &[Timeout],
            vec![sent(""), flood(format!("10000\r\n{}\r\n", "x".repeat(0x10000)))],
        ),
        http1(
            "a chunk beyond all memory, and all of it",
            &[Timeout],
            vec![sent("ffffffffffffffff\r\n"), flood("hello")],
        ),
    ]
}

fn legal() -> Vec<Kind> {
    let bytes: Vec<&str> = "hello world".split_inclusive(|_: char| true).collect();
    vec![
        http1("a chunk for each byte", &[], vec![send(chunked(&bytes))]),
        http1("one chunk", &[], vec![send(chunked(&["hello world"]))]),
        http1("extensions", &[], vec![sent("b;a=b; c=\"d;e\"\r\nhello world\r\n0;last\r\n\r\n")]),
        http1("trailers", &[], vec![sent("b\r\nhello world\r\n0\r\nContent-Length: 7\r\nX: y\r\n\r\n")]),
        http1("line feeds alone", &[], vec![sent("b\nhello world\n0\n\n")]),
        http1("chunk sizes with zeros in front", &[], vec![sent("0000000B\r\nhello world\r\n000\r\n\r\n")]),
    ]
}
