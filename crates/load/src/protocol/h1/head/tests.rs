//! The content of heads, the heads that are rejected, and that neither depends on how the bytes are split.

use proptest::prelude::*;

use super::{Head, HeadLimits, fields, parse};
use crate::fault::{HttpFault, HttpFaultKind};
use crate::protocol::coding::Coding;

const LIMITS: HeadLimits = HeadLimits { bytes: 4096, fields: 16 };

fn whole(bytes: &[u8]) -> Result<Option<Head>, HttpFault> {
    parse(bytes, &mut 0, &LIMITS)
}

fn head(lines: &str) -> Head {
    let bytes = format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n");
    whole(bytes.as_bytes()).unwrap_or_else(|fault| panic!("{fault:?}")).expect("whole")
}

fn kind(bytes: &[u8]) -> HttpFaultKind {
    whole(bytes).expect_err("a fault").kind
}

fn field_kind(lines: &str) -> HttpFaultKind {
    kind(format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n").as_bytes())
}

#[test]
fn a_usual_head_is_read() {
    let bytes = b"HTTP/1.1 404 Not Found\r\nServer: nginx/1.24.0\r\ncontent-LENGTH:  1024 \r\n\
                  Content-Type: text/html\r\nContent-Encoding: gzip\r\nConnection: keep-alive\r\n\r\nbody: x\r\n\r\n";
    let read = whole(bytes).expect("good").expect("whole");
    let expected = Head {
        status: 404,
        minor: 1,
        length: Some(1024),
        chunked: false,
        keep: true,
        coding: Coding::Gzip,
        bytes: bytes.len() - b"body: x\r\n\r\n".len(),
    };
    assert_eq!(read, expected);
}

#[test]
fn bare_line_feeds_a_missing_reason_and_no_fields_are_fine() {
    let heads: [&[u8]; 3] =
        [b"HTTP/1.1 200\n\n", b"HTTP/1.1 200 \r\n\r\n", b"HTTP/1.1 204 No\xe9 Content\n\r\n"];
    for bytes in heads {
        assert_eq!(whole(bytes).expect("good").expect("whole").bytes, bytes.len());
    }
    let mixed = b"HTTP/1.1 200 OK\nContent-Length: 5\r\nConnection: close\n\nhello\n\n";
    let read = whole(mixed).expect("good").expect("whole");
    assert_eq!((read.length, read.keep, read.bytes), (Some(5), false, mixed.len() - 7));
}

#[test]
fn connections_stay_by_version_and_options() {
    let keep = |minor: u8, lines: &str| {
        let bytes = format!("HTTP/1.{minor} 200 OK\r\n{lines}\r\n");
        whole(bytes.as_bytes()).expect("good").expect("whole").keep
    };
    assert!(keep(1, ""));
    assert!(keep(2, "Connection: upgrade\r\n"));
    assert!(!keep(1, "Connection: upgrade, Close\r\n"));
    assert!(!keep(1, "Connection: keep-alive\r\nConnection: close\r\n"));
    assert!(!keep(0, ""));
    assert!(keep(0, "connection: Keep-Alive\r\n"));
    assert!(!keep(0, "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n"));
}

#[test]
fn lengths_that_agree_are_one_and_others_are_ambiguous() {
    assert_eq!(head("Content-Length: 7\r\nContent-Length: 7").length, Some(7));
    assert_eq!(head("Content-Length: 7 , 07").length, Some(7));
    assert_eq!(head("Content-Length: 18446744073709551615").length, Some(u64::MAX));
    assert_eq!(field_kind("Content-Length: 7\r\nContent-Length: 8"), HttpFaultKind::AmbiguousLength);
    assert_eq!(field_kind("Content-Length: 7, 8"), HttpFaultKind::AmbiguousLength);
    assert_eq!(field_kind("Content-Length: 7\r\nTransfer-Encoding: chunked"), HttpFaultKind::AmbiguousLength);
    assert_eq!(field_kind("Transfer-Encoding: chunked\r\nContent-Length: 7"), HttpFaultKind::AmbiguousLength);
    for length in ["", "-1", "+1", "0x1", "1 1", "1,", "18446744073709551616", "99999999999999999999999"] {
        assert_eq!(field_kind(&format!("Content-Length: {length}")), HttpFaultKind::BadHead, "{length}");
    }
}

#[test]
fn chunked_is_the_only_transfer_coding() {
    assert!(head("Transfer-Encoding: CHUNKED").chunked);
    assert!(head("Transfer-Encoding: identity, chunked").chunked);
    assert!(!head("Transfer-Encoding: identity").chunked);
    for coding in ["", "gzip, chunked", "chunked, chunked", "chunked, identity", "chunked;a=b", "xchunked"] {
        assert_eq!(field_kind(&format!("Transfer-Encoding: {coding}")), HttpFaultKind::BadHead, "{coding}");
    }
}

#[test]
fn content_codings_are_told_apart() {
    let coding = |value: &str| head(&format!("Content-Encoding: {value}")).coding;
    assert_eq!(head("Content-Type: text/plain").coding, Coding::Identity);
    let known = [
        ("", Coding::Identity),
        ("identity", Coding::Identity),
        ("GZip", Coding::Gzip),
        ("x-gzip", Coding::Gzip),
        ("deflate", Coding::Deflate),
        ("br", Coding::Brotli),
        ("zstd", Coding::Zstd),
        ("zst", Coding::Other),
        ("gzip, br", Coding::Other),
        ("gzip\r\nContent-Encoding: gzip", Coding::Other),
        ("gzip\r\nContent-Encoding: ", Coding::Gzip),
    ];
    for (value, expected) in known {
        assert_eq!(coding(value), expected, "{value}");
    }
}

#[test]
fn what_is_no_status_line_is_garbage_from_its_first_wrong_byte() {
    let wrong = [
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
        "<html>",
        "X",
        "HTTP/2",
        "HTTP/1.x",
        "HTTP/1.1  200",
        "HTTP/1.1 020",
        "HTTP/1.1 2000",
        "http/1.1 200 OK",
        "HTTP/1.1 20 OK\r\n\r\n",
    ];
    for bytes in wrong {
        assert_eq!(kind(bytes.as_bytes()), HttpFaultKind::Garbage, "{bytes}");
    }
    for length in 0.."HTTP/1.1 200 OK\r\n\r".len() {
        assert_eq!(whole(&b"HTTP/1.1 200 OK\r\n\r"[..length]), Ok(None), "{length}");
    }
}

#[test]
fn lines_that_two_readers_could_take_differently_are_refused() {
    let wrong = [
        "Server: a\r\n folded",
        "Server: a\r\n\tfolded",
        "Content-Length : 5",
        ": nameless",
        "no colon",
        "Content\0Length: 5",
        "Server: a\0b",
        "Server: a\rContent-Length: 5",
        "Sérver: a",
        "Server: a\r\r",
    ];
    for lines in wrong {
        assert_eq!(field_kind(lines), HttpFaultKind::BadHead, "{lines:?}");
    }
    assert_eq!(kind(b"HTTP/1.1 200 O\rK\r\n\r\n"), HttpFaultKind::BadHead);
    assert_eq!(kind(b"HTTP/1.1 200 O\0K\r\n\r\n"), HttpFaultKind::BadHead);
}

#[test]
fn bytes_and_fields_are_bounded() {
    let fields = |count: usize| format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(count));
    assert!(whole(fields(16).as_bytes()).expect("good").is_some());
    assert_eq!(kind(fields(17).as_bytes()), HttpFaultKind::HeadTooLong);

    let padded = |bytes: usize| {
        let around = "HTTP/1.1 200 OK\r\na: \r\n\r\n".len();
        format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "b".repeat(bytes - around)).into_bytes()
    };
    assert!(whole(&padded(4096)).expect("good").is_some());
    assert_eq!(whole(&padded(4097)[..4095]), Ok(None));
    assert_eq!(kind(&padded(4097)[..4096]), HttpFaultKind::HeadTooLong);
    assert_eq!(kind(&padded(4097)), HttpFaultKind::HeadTooLong);
}

#[test]
fn messages_show_the_servers_bytes_escaped_and_bounded() {
    let fault = whole(b"HTTP/1.1 200 OK\r\n\x1b[2Jevil\r\n\r\n").expect_err("a fault");
    assert_eq!(fault.message, r"a line that is not a header: `\x1b[2Jevil`");
    let long = format!("HTTP/1.1 200 OK\r\n {}\r\n\r\n", "x".repeat(2000));
    assert!(whole(long.as_bytes()).expect_err("a fault").message.chars().count() < 100);
}

#[test]
fn fields_come_in_order_with_trimmed_values() {
    let head = b"HTTP/1.1 200 OK: fine\r\nServer:  a b \nVary:\r\n\r\n";
    let read: Vec<(&[u8], &[u8])> = fields(head).collect();
    assert_eq!(read, [(&b"Server"[..], &b"a b"[..]), (b"Vary", b"")]);
}

#[test]
fn a_drip_looks_at_every_byte_once() {
    let mut bytes = b"HTTP/1.1 200 OK\r\na: ".to_vec();
    let mut scanned = 0;
    for _ in 0..100 {
        assert_eq!(parse(&bytes, &mut scanned, &LIMITS), Ok(None));
        assert_eq!(scanned, bytes.len());
        bytes.push(b'b');
    }
}

/// Bytes that are often a head, and otherwise almost one.
fn headlike() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => "[A-Za-z-]{1,12}: {0,2}[ -~]{0,12}\r?\n",
        1 => "(Content-Length|content-length|Transfer-Encoding|Connection): (5|6|chunked|close|5, 5)\r\n",
        1 => "[ -~\r\n\0]{0,6}\n",
    ];
    let start = prop_oneof![8 => "HTTP/1\\.[01] [1-5][0-9]{2}( OK)?\r?\n", 1 => "[HTP/1. \r\n]{0,12}"];
    let end = prop_oneof![4 => "\r?\n", 1 => "[ -~]{0,8}"];
    (start, prop::collection::vec(line, 0..8), end, "[ -~\n]{0,8}")
        .prop_map(|(start, lines, end, rest)| (start + &lines.concat() + &end + &rest).into_bytes())
}

/// The result if the bytes arrive in pieces of the given lengths.
fn in_pieces(bytes: &[u8], pieces: &[usize], limits: &HeadLimits) -> Result<Option<Head>, HttpFaultKind> {
    let (mut there, mut scanned) = (0, 0);
    for piece in pieces.iter().chain([&bytes.len()]) {
        there = bytes.len().min(there + piece);
        match parse(&bytes[..there], &mut scanned, limits) {
            Ok(None) => {}
            Ok(head) => return Ok(head),
            Err(fault) => return Err(fault.kind),
        }
    }
    Ok(None)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_split_gives_the_same_answer(
        bytes in headlike(),
        pieces in prop::collection::vec(0_usize..20, 0..12),
        most in 0_u32..160,
    ) {
        let limits = HeadLimits { bytes: most, fields: 4 };
        let at_once = in_pieces(&bytes, &[], &limits);
        prop_assert_eq!(in_pieces(&bytes, &pieces, &limits), at_once);
        prop_assert_eq!(in_pieces(&bytes, &vec![1; bytes.len()], &limits), at_once);
    }

    #[test]
    fn a_head_ends_at_its_first_empty_line(bytes in headlike()) {
        if let Ok(Some(head)) = whole(&bytes) {
            let text = String::from_utf8_lossy(&bytes[..head.bytes]).replace("\r\n", "\n");
            prop_assert!(text.ends_with("\n\n"));
            prop_assert_eq!(text.matches("\n\n").count(), 1);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = whole(&bytes);
        let _ = whole(&[b"HTTP/1.1 200 OK\r\n".to_vec(), bytes.clone()].concat());
        prop_assert!(fields(&bytes).count() <= bytes.len());
    }
}
