//! The content of chunks, the chunks that are rejected, and that neither depends on how the bytes are split.

use std::convert::Infallible;

use proptest::prelude::*;

use super::{Chunked, Error, MOST_OF_LINE, MOST_OF_TRAILERS, Step};
use crate::fault::{HttpFault, HttpFaultKind};

/// Decodes pieces; returns the body so far, and the last step or the failure.
fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<u8>, Result<Step, HttpFault>) {
    let (mut chunked, mut body) = (Chunked::default(), Vec::new());
    let mut total = Step { consumed: 0, done: false };
    for piece in pieces {
        let fed = chunked.feed(piece, |bytes| {
            body.extend_from_slice(bytes);
            Ok::<(), Infallible>(())
        });
        match fed {
            Ok(step) => total = Step { consumed: total.consumed + step.consumed, done: step.done },
            Err(Error::Chunk(fault)) => return (body, Err(fault)),
            Err(Error::Body(never)) => match never {},
        }
    }
    (body, Ok(total))
}

fn refused(bytes: &[u8]) -> HttpFault {
    let (_, end) = decode([bytes]);
    end.expect_err(&format!("{:?} was accepted", String::from_utf8_lossy(bytes)))
}

#[test]
fn chunks_extensions_and_trailers_are_read_to_the_end_and_no_further() {
    let wire =
        b"5;name=\"a;b\"\r\nhello\r\n00A \t\r\n0123456789\r\n0;x\r\nDigest: abc\r\nother\r\n\r\nHTTP/1.1";
    let (body, end) = decode([&wire[..]]);
    assert_eq!(body, b"hello0123456789");
    assert_eq!(end, Ok(Step { consumed: wire.len() - b"HTTP/1.1".len(), done: true }));
}

#[test]
fn bare_line_feeds_end_lines() {
    let (body, end) = decode([&b"5\nhello\n0\n\n"[..]]);
    assert_eq!((body, end), (b"hello".to_vec(), Ok(Step { consumed: 11, done: true })));
}

#[test]
fn a_body_that_has_ended_takes_no_more() {
    let (body, end) = decode([&b"0\r\n\r\n"[..], b"5\r\nhello\r\n"]);
    assert_eq!((body, end), (Vec::new(), Ok(Step { consumed: 5, done: true })));
}

#[test]
fn a_body_without_its_last_chunk_is_not_done() {
    let wire = b"5\r\nhello\r\n0\r\n\r\n";
    for length in 0..wire.len() {
        let (_, end) = decode([&wire[..length]]);
        assert_eq!(end, Ok(Step { consumed: length, done: false }));
    }
}

#[test]
fn broken_framing_is_refused() {
    let wrong: [&[u8]; 14] = [
        b"\r\n",
        b" 5\r\nhello\r\n",
        b"-5\r\n",
        b"+5\r\n",
        b"0x5\r\n",
        b"g\r\n",
        b";a\r\n",
        b"5 \rhello",
        b"5\rhello",
        b"5\r\nhello!\r\n",
        b"5\r\nhello\rx",
        b"5\r\nhello0\r\n\r\n",
        b"0\r\n\rx",
        b"10000000000000000\r\n",
    ];
    for bytes in wrong {
        assert_eq!(refused(bytes).kind, HttpFaultKind::BadChunk);
    }
    assert_eq!(refused(b"5\r\nhello\x1b\r\n").message, r"a chunk longer than its size at `\x1b\r\n`");
}

#[test]
fn the_largest_size_is_waited_for_and_leading_zeros_do_not_count() {
    let (_, end) = decode([&b"ffffffffffffffff\r\nabc"[..]]);
    assert_eq!(end, Ok(Step { consumed: 21, done: false }));
    let (body, end) = decode([&b"00000000000000000003\r\nabc\r\n0\r\n\r\n"[..]]);
    assert_eq!((body, end.expect("good").done), (b"abc".to_vec(), true));
}

#[test]
fn lines_and_trailers_are_bounded() {
    let line =
        |length: u32| [b"1;", vec![b'x'; length as usize - 4].as_slice(), b"\r\na\r\n0\r\n\r\n"].concat();
    assert!(decode([&line(MOST_OF_LINE)[..]]).1.expect("good").done);
    assert_eq!(refused(&line(MOST_OF_LINE + 1)).kind, HttpFaultKind::BadChunk);
    assert_eq!(refused(&vec![b'0'; MOST_OF_LINE as usize + 1]).kind, HttpFaultKind::BadChunk);

    let trailers = |count: u32| format!("0;last\r\n{}\r\n", "abc: de\n".repeat(count as usize)).into_bytes();
    assert!(decode([&trailers(MOST_OF_TRAILERS / 8 - 1)[..]]).1.expect("good").done);
    assert_eq!(refused(&trailers(MOST_OF_TRAILERS / 8)).kind, HttpFaultKind::BadChunk);

    let many = [b"1;abc\r\nx\r\n".repeat(10_000), b"0\r\n\r\n".to_vec()].concat();
    assert!(decode([&many[..]]).1.expect("good").done);
}

#[test]
fn a_refusal_of_the_body_ends_the_feed() {
    let fed = Chunked::default().feed(b"5\r\nhello\r\n", |_| Err("no"));
    assert!(matches!(fed, Err(Error::Body("no"))));
}

/// Cuts the bytes at every given length.
fn cut<'a>(bytes: &'a [u8], pieces: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut cut: Vec<&[u8]> =
        pieces.iter().map(|&piece| rest.split_off(..piece.min(rest.len())).unwrap_or(b"")).collect();
    cut.push(rest);
    cut
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_was_chunked_comes_back_under_any_split(
        chunks in prop::collection::vec((prop::collection::vec(any::<u8>(), 1..40), "(;[a-z=]{0,8})?", "\r?\n"), 0..6),
        pieces in prop::collection::vec(0_usize..16, 0..24),
    ) {
        let mut wire = Vec::new();
        for (data, extension, feed) in &chunks {
            wire.extend(format!("{:x}{extension}{feed}", data.len()).bytes());
            wire.extend(data);
            wire.extend(feed.bytes());
        }
        wire.extend(b"0\r\nA: b\r\n\r\n");
        let body: Vec<u8> = chunks.iter().flat_map(|(data, _, _)| data.clone()).collect();
        let expected = (body, Ok(Step { consumed: wire.len(), done: true }));
        prop_assert_eq!(&decode(cut(&wire, &pieces)), &expected);
        prop_assert_eq!(&decode(wire.chunks(1)), &expected);
    }

    #[test]
    fn any_bytes_have_one_reading(
        bytes in "[0-9a-g;\r\n \\x00]{0,60}",
        pieces in prop::collection::vec(0_usize..16, 0..12),
    ) {
        let kind = |(body, end): (Vec<u8>, Result<Step, HttpFault>)| (body, end.map_err(|fault| fault.kind));
        let at_once = kind(decode([bytes.as_bytes()]));
        prop_assert_eq!(kind(decode(cut(bytes.as_bytes(), &pieces))), at_once.clone());
        prop_assert_eq!(kind(decode(bytes.as_bytes().chunks(1))), at_once);
    }
}
