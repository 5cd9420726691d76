//! Chunks that break the rules.

use weigh_load::fault::FaultKind;

use super::load::{REQUESTS, counts, ends_in, load, plan, verify};
use super::server::{Server, Step, chunked};

const HEAD: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

fn good() -> Vec<u8> {
    chunked(&["hello ", "world"])
}

fn sent(chunks: &str) -> [Step; 1] {
    [Step::Send(format!("{HEAD}{chunks}").into_bytes())]
}

#[test]
fn bad_chunk_sizes_are_named() {
    for chunks in
        ["-6\r\nhello ", "xyz\r\n", "\r\n", "0x6\r\nhello ", "6 6\r\nhello ", "10000000000000000\r\n"]
    {
        // A second number after the size stands where an extension may, and is passed over: what follows must fit.
        let chunks = if chunks.starts_with("6 6") { "6 6\r\nhello world" } else { chunks };
        ends_in(FaultKind::BadChunk, &good(), &sent(chunks));
    }
}

#[test]
fn chunks_longer_or_shorter_than_their_size_are_named() {
    ends_in(FaultKind::BadChunk, &good(), &sent("5\r\nhello world\r\n0\r\n\r\n"));
    ends_in(FaultKind::BadChunk, &good(), &sent("d\r\nhello world\r\n0\r\n\r\n"));
}

#[test]
fn endless_extensions_and_trailers_are_cut() {
    for begin in ["6;", "6", "0\r\n"] {
        let head = Step::Send(format!("{HEAD}{begin}").into_bytes());
        let flood = if begin == "6" { "0" } else { "name: value" };
        ends_in(FaultKind::BadChunk, &good(), &[head, Step::Flood(flood.as_bytes().to_vec())]);
    }
}

#[test]
fn bytes_after_the_last_chunk_are_too_many() {
    let fault = ends_in(FaultKind::Overlong, &good(), &sent("6\r\nhello \r\n5\r\nworld\r\n0\r\n\r\nmore"));
    assert_eq!(fault.example.message, "4 bytes after the end of the response");
}

#[test]
fn the_same_body_in_other_chunks_is_the_same() {
    let server = Server::start(|number| {
        let parts: &[&str] = match number % 4 {
            0 => &["hello world"],
            1 => &["hello ", "world"],
            2 => &["h", "e", "l", "l", "o", " ", "w", "o", "r", "l", "d"],
            _ => &["hello", " world"],
        };
        vec![Step::Send(chunked(parts))]
    });
    let result = load(&plan(server.address, verify())).expect("a good preflight");
    assert_eq!(counts(&result).compared, REQUESTS, "{:?}", result.faults);
}
