//! Single frames of HTTP/2 that violate the rules.

use weigh_load::fault::HttpFaultKind::{self, Http2, Overlong, Timeout, Truncated};

use crate::frames::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, OK, PADDED, PING, PRIORITY,
    PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE, WITH_PRIORITY, answer, data, field, frame, head, last,
    setting,
};
use crate::kind::{Kind, http2, send};

type Bytes = fn(u32) -> Vec<u8>;

pub fn kinds() -> Vec<Kind> {
    let all = [sizes(), streams(), settings(), windows(), bodies(), legal()].concat();
    all.into_iter().map(|(name, ends, bytes)| http2(name, &ends, move |id| vec![send(bytes(id))])).collect()
}

type Row = (&'static str, Vec<HttpFaultKind>, Bytes);

/// Frames with an invalid length for their kind (RFC 9113, 4.2 and 6).
fn sizes() -> Vec<Row> {
    vec![
        ("PING of 7 bytes", vec![Http2], |_| frame(PING, 0, 0, &[7; 7])),
        ("PING of 9 bytes", vec![Http2], |_| frame(PING, 0, 0, &[7; 9])),
        ("SETTINGS of 5 bytes", vec![Http2], |_| frame(SETTINGS, 0, 0, &[0; 5])),
        ("SETTINGS acknowledged with some", vec![Http2], |_| frame(SETTINGS, ACK, 0, &[0; 6])),
        ("WINDOW_UPDATE of 3 bytes", vec![Http2], |_| frame(WINDOW_UPDATE, 0, 0, &[1; 3])),
        ("RST_STREAM of 3 bytes", vec![Http2], |id| frame(RST_STREAM, 0, id, &[0; 3])),
        ("PRIORITY of 4 bytes", vec![Http2, Timeout], |id| frame(PRIORITY, 0, id, &[0; 4])),
        ("GOAWAY of 7 bytes", vec![Http2], |_| frame(GOAWAY, 0, 0, &[0; 7])),
        ("DATA of 16 KB and a byte", vec![Http2], |id| [head(id), data(id, &[0; (16 << 10) + 1])].concat()),
        ("HEADERS of 16 KB and a byte", vec![Http2], |id| {
            frame(HEADERS, END_HEADERS, id, &[0x88; (16 << 10) + 1])
        }),
        ("a frame of 16 MB", vec![Http2], |_| vec![0xff, 0xff, 0xff, 0xee, 0, 0, 0, 0, 0]),
        ("padding longer than DATA", vec![Http2], |id| {
            [head(id), frame(DATA, PADDED, id, &[9, 1, 2])].concat()
        }),
        ("padding longer than HEADERS", vec![Http2], |id| {
            frame(HEADERS, PADDED | END_HEADERS, id, &[9, 0x88])
        }),
        ("padded DATA of no byte", vec![Http2], |id| [head(id), frame(DATA, PADDED, id, &[])].concat()),
        ("HEADERS shorter than their priority", vec![Http2], |id| {
            frame(HEADERS, WITH_PRIORITY | END_HEADERS, id, &[0, 0])
        }),
    ]
}

/// Frames on a stream that they cannot have (RFC 9113, 5.1).
fn streams() -> Vec<Row> {
    vec![
        ("PING of a stream", vec![Http2], |id| frame(PING, 0, id, &[7; 8])),
        ("SETTINGS of a stream", vec![Http2], |id| frame(SETTINGS, 0, id, &[])),
        ("GOAWAY of a stream", vec![Http2], |id| frame(GOAWAY, 0, id, &[0; 8])),
        ("DATA of the connection", vec![Http2], |_| data(0, b"x")),
        ("HEADERS of the connection", vec![Http2], |_| head(0)),
        ("RST_STREAM of the connection", vec![Http2], |_| frame(RST_STREAM, 0, 0, &[0; 4])),
        ("PRIORITY of the connection", vec![Http2], |_| frame(PRIORITY, 0, 0, &[0; 5])),
        ("CONTINUATION of nothing", vec![Http2], |id| frame(CONTINUATION, END_HEADERS, id, OK)),
        ("HEADERS, then DATA before their end", vec![Http2], |id| {
            [frame(HEADERS, 0, id, OK), data(id, b"x")].concat()
        }),
        ("CONTINUATION of another stream", vec![Http2], |id| {
            [frame(HEADERS, 0, id, OK), frame(CONTINUATION, END_HEADERS, id + 2, OK)].concat()
        }),
        ("a frame between HEADERS and CONTINUATION", vec![Http2], |id| {
            [frame(HEADERS, 0, id, OK), frame(PING, 0, 0, &[7; 8])].concat()
        }),
        ("DATA of an idle stream", vec![Http2], |_| data(99, b"x")),
        ("WINDOW_UPDATE of an idle stream", vec![Http2], |_| frame(WINDOW_UPDATE, 0, 99, &[0, 0, 0, 1])),
        ("a stream that depends on itself", vec![Http2, Timeout], |id| {
            frame(PRIORITY, 0, id, &[&id.to_be_bytes()[..], &[1]].concat())
        }),
        ("a stream promised", vec![Http2], |id| {
            frame(PUSH_PROMISE, END_HEADERS, id, b"\0\0\0\x02\x82\x84\x86")
        }),
        ("a stream promised with an odd number", vec![Http2], |id| {
            frame(PUSH_PROMISE, END_HEADERS, id, b"\0\0\0\x03\x82\x84\x86")
        }),
    ]
}

/// Settings outside their range (RFC 9113, 6.5.2).
fn settings() -> Vec<Row> {
    vec![
        ("ENABLE_PUSH of 2", vec![Http2], |_| setting(2, 2)),
        ("INITIAL_WINDOW_SIZE over 2 GB", vec![Http2], |_| setting(4, 1 << 31)),
        ("MAX_FRAME_SIZE under 16 KB", vec![Http2], |_| setting(5, 100)),
        ("MAX_FRAME_SIZE over 16 MB", vec![Http2], |_| setting(5, 1 << 24)),
        ("MAX_CONCURRENT_STREAMS of 0, and no answer", vec![Http2, Timeout], |_| setting(3, 0)),
        ("MAX_CONCURRENT_STREAMS of 0, and an answer", vec![Http2, Timeout], |id| {
            [setting(3, 0), answer(id, b"ok")].concat()
        }),
    ]
}

/// Flow-control windows outside their range (RFC 9113, 6.9).
fn windows() -> Vec<Row> {
    vec![
        ("WINDOW_UPDATE of 0", vec![Http2], |_| frame(WINDOW_UPDATE, 0, 0, &[0; 4])),
        ("WINDOW_UPDATE of 0 of the stream", vec![Http2], |id| frame(WINDOW_UPDATE, 0, id, &[0; 4])),
        ("a window over 2 GB", vec![Http2], |_| frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff])),
        ("a body beyond the window of the stream", vec![Timeout, Http2], |id| {
            [head(id), data(id, &[b'x'; 16 << 10]).repeat(65)].concat()
        }),
    ]
}

fn bodies() -> Vec<Row> {
    vec![
        ("a body longer than its length", vec![Overlong], |id| {
            [lengthy(id, "2"), last(id, b"okay")].concat()
        }),
        ("a body shorter than its length", vec![Truncated], |id| {
            [lengthy(id, "9"), last(id, b"ok")].concat()
        }),
        ("a head alone with a length", vec![Truncated, Http2], |id| {
            let payload = [OK, &field("content-length", "9")].concat();
            frame(HEADERS, END_HEADERS | END_STREAM, id, &payload)
        }),
        ("a stream without end", vec![Timeout], |id| [head(id), data(id, b"ok")].concat()),
        ("trailers that do not end the stream", vec![Http2], |id| {
            [head(id), data(id, b"ok"), frame(HEADERS, END_HEADERS, id, &field("x", "y"))].concat()
        }),
    ]
}

/// A head with a length.
fn lengthy(id: u32, length: &str) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, id, &[OK, &field("content-length", length)].concat())
}

fn legal() -> Vec<Row> {
    vec![
        ("a padded answer", vec![], |id| {
            let body = [&[200][..], b"ok", &[0; 200]].concat();
            [head(id), frame(DATA, PADDED | END_STREAM, id, &body)].concat()
        }),
        ("an answer with trailers", vec![], |id| {
            let end = frame(HEADERS, END_HEADERS | END_STREAM, id, &field("x", "y"));
            [head(id), data(id, b"ok"), end].concat()
        }),
        ("an answer in parts with frames between", vec![], |id| {
            let between = [frame(PING, 0, 0, &[7; 8]), frame(0xee, 0, 0, b"?"), setting(3, 100)].concat();
            [head(id), data(id, b"o"), between.clone(), data(id, b""), between, last(id, b"k")].concat()
        }),
        ("a head in parts", vec![], |id| {
            [frame(HEADERS, 0, id, &[]), frame(CONTINUATION, END_HEADERS, id, OK), last(id, b"ok")].concat()
        }),
        ("windows of nothing for requests", vec![], |id| [setting(4, 0), answer(id, b"ok")].concat()),
        ("an unknown setting", vec![], |id| [setting(0xabcd, 7), answer(id, b"ok")].concat()),
        // Violations that the library ignores: none counts as a response.
        ("a head on a closed stream", vec![], |id| [answer(id, b"ok"), head(id)].concat()),
        ("a body on a closed stream", vec![], |id| [answer(id, b"ok"), data(id, b"more")].concat()),
        ("a server that enables push", vec![], |id| [setting(2, 1), answer(id, b"ok")].concat()),
        ("a window of the stream over 2 GB", vec![], |id| {
            [frame(WINDOW_UPDATE, 0, id, &[0x7f, 0xff, 0xff, 0xff]), answer(id, b"ok")].concat()
        }),
        ("trailers with a status", vec![], |id| {
            [head(id), data(id, b"ok"), frame(HEADERS, END_HEADERS | END_STREAM, id, OK)].concat()
        }),
    ]
}
