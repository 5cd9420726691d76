//! Heads of HTTP/2 that violate the rules, and attacks with header compression (RFC 7541).

use weigh_load::fault::HttpFaultKind::{
    self, BadHead, HeadTooLong, Http2, Informational, Overlong, Status, Truncated,
};

use crate::frames::{CONTINUATION, END_HEADERS, END_STREAM, HEADERS, OK, field, frame, last};
use crate::kind::{Kind, http2, send};

/// A response whose head is this block.
fn block(name: &'static str, ends: &[HttpFaultKind], block: Vec<u8>) -> Kind {
    http2(name, ends, move |id| {
        vec![send([frame(HEADERS, END_HEADERS, id, &block), last(id, b"ok")].concat())]
    })
}

fn with(fields: &[(&str, &str)]) -> Vec<u8> {
    [OK.to_vec(), fields.iter().flat_map(|(name, value)| field(name, value)).collect()].concat()
}

pub fn kinds() -> Vec<Kind> {
    [fields(), statuses(), compression(), large()].concat()
}

fn fields() -> Vec<Kind> {
    vec![
        block("a field's name in capitals", &[Http2], with(&[("Server", "x")])),
        block("a field without a name in HPACK", &[Http2], with(&[("", "x")])),
        block("a line feed in a field's value", &[Http2], with(&[("x", "a\nb")])),
        block("NUL in a field's value of HPACK", &[Http2], with(&[("x", "a\0b")])),
        block("a space in a field's name of HPACK", &[Http2], with(&[("x y", "z")])),
        block("connection: close", &[Http2], with(&[("connection", "close")])),
        block("transfer-encoding: chunked", &[Http2], with(&[("transfer-encoding", "chunked")])),
        block("a length that is no number", &[BadHead, Http2], with(&[("content-length", "x")])),
        block("a negative length in HPACK", &[BadHead, Http2], with(&[("content-length", "-2")])),
        block(
            "two lengths in HPACK",
            &[HttpFaultKind::AmbiguousLength, Http2, Overlong, Truncated],
            with(&[("content-length", "2"), ("content-length", "3")]),
        ),
        block("257 fields in HPACK", &[HeadTooLong], with(&[("a", "b"); 257])),
    ]
}

fn statuses() -> Vec<Kind> {
    vec![
        block("no :status", &[Http2], field("server", "x")),
        block("an empty head", &[Http2], Vec::new()),
        block(":status twice", &[Http2], [OK, OK].concat()),
        block(":status behind a field", &[Http2], [field("server", "x"), OK.to_vec()].concat()),
        block(":status of letters", &[Http2], field(":status", "abc")),
        block(":status of two digits", &[Http2], field(":status", "20")),
        block(":status of 99999", &[Http2], field(":status", "99999")),
        // The library ignores it.
        block(":path in a response", &[], with(&[(":path", "/")])),
        block("an unknown pseudo header", &[Http2], with(&[(":strange", "x")])),
        block("another :status", &[Status], vec![0x8d]).first(&[]),
        block("101 in HTTP/2", &[Http2, BadHead, Status], field(":status", "101")),
        http2("1xx that ends the stream", &[Http2], |id| {
            vec![send(frame(HEADERS, END_HEADERS | END_STREAM, id, &field(":status", "103")))]
        }),
        http2("17 interim heads", &[Informational], |id| {
            let interim = frame(HEADERS, END_HEADERS, id, &field(":status", "103")).repeat(17);
            vec![send([interim, crate::frames::answer(id, b"ok")].concat())]
        }),
        http2("16 interim heads", &[], |id| {
            let interim = frame(HEADERS, END_HEADERS, id, &field(":status", "103")).repeat(16);
            vec![send([interim, crate::frames::answer(id, b"ok")].concat())]
        }),
    ]
}

fn compression() -> Vec<Kind> {
    vec![
        block("an index of 0", &[Http2], vec![0x80]),
        block("an index beyond the tables", &[Http2], vec![0x88, 0xff, 0x80, 0x01]),
        block("an index beyond 32 bits", &[Http2], [&[0xff][..], &[0xff; 9], &[0x01]].concat()),
        block("an integer without end", &[Http2], [&[0xff][..], &[0x80; 200]].concat()),
        block("a name longer than the block", &[Http2], vec![0x88, 0, 0x7f, b'x']),
        block("a value cut short", &[Http2], vec![0x88, 0, 1, b'x', 5, b'y']),
        block(
            "Huffman with an end of string in it",
            &[Http2],
            vec![0x88, 0, 0x84, 0xff, 0xff, 0xff, 0xff, 0],
        ),
        block("Huffman with wrong padding", &[Http2], vec![0x88, 0, 0x81, 0x00, 1, b'x']),
        block("a dynamic table of 4 GB", &[Http2], vec![0x3f, 0xe1, 0xff, 0xff, 0xff, 0x0f, 0x88]),
        block("a change of the table behind a field", &[Http2], vec![0x88, 0x20]),
        block("a table of 0, and then the usual", &[], vec![0x20, 0x3f, 0xe1, 0x1f, 0x88]),
        block("a never-indexed field", &[], vec![0x88, 0x10, 1, b'x', 1, b'y']),
    ]
}

/// A field of 4 KB for the dynamic table, and a reference of one byte to it.
fn bomb(references: usize) -> Vec<u8> {
    let value = vec![b'x'; 3900];
    // With incremental indexing: its name, and its length as 127 and the rest in two bytes.
    let rest = value.len() - 127;
    let length = [0x7f, (rest & 0x7f) as u8 | 0x80, (rest >> 7) as u8];
    [&[0x88, 0x40, 1, b'b'][..], &length, &value, &vec![0xbe; references]].concat()
}

fn large() -> Vec<Kind> {
    let fields = |count: usize| field("x", &"y".repeat(100)).repeat(count);
    let (once, often) = (bomb(4), bomb(12_000));
    let many = fields(100);
    vec![
        block("a bomb of HPACK, 16 KB", &[HeadTooLong], once),
        block("a bomb of HPACK, 46 MB", &[HeadTooLong], often),
        block("a head of 16 KB in HPACK", &[HeadTooLong], [OK.to_vec(), fields(157)].concat()),
        http2("a bomb of HPACK in each of 30 frames", &[HeadTooLong, Http2], move |id| {
            let begin = frame(HEADERS, 0, id, &bomb(1));
            let more = frame(CONTINUATION, 0, id, &[0xbe; 16 << 10]).repeat(30);
            vec![
                send([begin, more, frame(CONTINUATION, END_HEADERS, id, &[])].concat()),
                send(last(id, b"ok")),
            ]
        }),
        http2("a head in 100 frames of 10 KB", &[HeadTooLong, Http2], move |id| {
            let begin = frame(HEADERS, 0, id, OK);
            let more = frame(CONTINUATION, 0, id, &many).repeat(100);
            vec![send([begin, more, frame(CONTINUATION, END_HEADERS, id, &[])].concat())]
        }),
        http2("trailers of 100 KB", &[HeadTooLong, Http2], move |id| {
            let begin = [crate::frames::head(id), crate::frames::data(id, b"ok")].concat();
            let trailers = frame(HEADERS, END_STREAM, id, &[]);
            let more = frame(CONTINUATION, 0, id, &fields(100)).repeat(10);
            vec![send([begin, trailers, more, frame(CONTINUATION, END_HEADERS, id, &[])].concat())]
        }),
    ]
}
