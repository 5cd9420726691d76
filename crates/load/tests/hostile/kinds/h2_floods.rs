//! Endless frames of HTTP/2, before a response and inside one.

use weigh_load::fault::HttpFaultKind::{self, Flood, HeadTooLong, Http2, Informational, Timeout};

use crate::frames::{
    ACK, CONTINUATION, DATA, END_HEADERS, GOAWAY, HEADERS, OK, PADDED, PING, PRIORITY, PUSH_PROMISE,
    RST_STREAM, SETTINGS, WINDOW_UPDATE, field, frame, head, setting,
};
use crate::kind::{Kind, also_over_tls, flood, http2, send};

type Frame = fn(u32) -> Vec<u8>;

/// Each alone, instead of a response.
fn alone() -> Vec<(&'static str, Vec<HttpFaultKind>, Frame)> {
    vec![
        ("PING", vec![Flood], |_| frame(PING, 0, 0, &[7; 8])),
        ("PING acknowledged", vec![Flood], |_| frame(PING, ACK, 0, &[7; 8])),
        ("WINDOW_UPDATE", vec![Flood], |_| frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])),
        ("WINDOW_UPDATE of the stream", vec![Flood], |id| frame(WINDOW_UPDATE, 0, id, &[0, 0, 0, 1])),
        ("PRIORITY", vec![Flood], |id| frame(PRIORITY, 0, id, &[0, 0, 0, 0, 1])),
        ("PRIORITY of other streams", vec![Flood], |_| frame(PRIORITY, 0, 99, &[0, 0, 0, 0, 1])),
        ("SETTINGS", vec![Flood], |_| frame(SETTINGS, 0, 0, &[])),
        ("SETTINGS with a hundred of them", vec![Flood], |_| {
            frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100].repeat(100))
        }),
        ("SETTINGS that change the window", vec![Flood], |_| {
            [setting(4, 1 << 20), setting(4, 1 << 10)].concat()
        }),
        ("SETTINGS acknowledged", vec![Flood, Http2], |_| frame(SETTINGS, ACK, 0, &[])),
        ("an unknown frame", vec![Flood], |_| frame(0xee, 0, 0, b"what is it")),
        ("an unknown frame of 16 KB", vec![Flood], |_| frame(0xee, 0, 0, &[0; 16 << 10])),
        ("an unknown frame of the stream", vec![Flood], |id| frame(0xee, 0, id, b"what is it")),
        ("1xx", vec![Informational, Flood], |id| frame(HEADERS, END_HEADERS, id, b"\x08\x03103")),
        ("DATA before a head", vec![Http2, Flood], |id| frame(DATA, 0, id, b"x")),
        ("RST_STREAM", vec![Http2, Flood], |id| frame(RST_STREAM, 0, id, &[0, 0, 0, 2])),
        ("RST_STREAM of idle streams", vec![Http2, Flood], |_| frame(RST_STREAM, 0, 99, &[0, 0, 0, 2])),
        ("GOAWAY", vec![Flood, Http2], |_| frame(GOAWAY, 0, 0, &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0])),
        ("PUSH_PROMISE", vec![Http2, Flood], |id| {
            frame(PUSH_PROMISE, END_HEADERS, id, b"\0\0\0\x02\x82\x84\x86")
        }),
        ("HEADERS of idle streams", vec![Http2, Flood], |_| frame(HEADERS, END_HEADERS, 99, OK)),
        ("HEADERS without their end", vec![Http2, Flood], |id| frame(HEADERS, 0, id, OK)),
        ("HEADERS of a server's stream", vec![Http2, Flood], |_| frame(HEADERS, END_HEADERS, 2, OK)),
    ]
}

/// After the start of a response.
fn inside() -> Vec<(&'static str, Vec<HttpFaultKind>, Frame)> {
    vec![
        ("empty DATA", vec![Flood, Http2], |id| frame(DATA, 0, id, &[])),
        // Frames of a stream whose time is over advance nothing.
        ("DATA of a byte", vec![Timeout, Flood], |id| frame(DATA, 0, id, b"x")),
        // Once its stream was given up, what goes on is of none: on a quick machine a flood.
        ("DATA of 16 KB", vec![Timeout, Flood], |id| frame(DATA, 0, id, &[b'x'; 16 << 10])),
        ("DATA of padding alone", vec![Http2, Flood], |id| {
            frame(DATA, PADDED, id, &[&[255][..], &[0; 255]].concat())
        }),
        ("DATA of closed streams", vec![Flood, Http2], |id| frame(DATA, 0, id.saturating_sub(2).max(1), b"")),
        ("a second head", vec![Http2, Flood], |id| frame(HEADERS, END_HEADERS, id, OK)),
        ("PING inside a body", vec![Flood], |_| frame(PING, 0, 0, &[7; 8])),
    ]
}

/// Heads with endless CONTINUATION frames.
fn continued() -> Vec<Kind> {
    let more = |payload: &'static [u8]| {
        move |id| vec![send(frame(HEADERS, 0, id, OK)), flood(frame(CONTINUATION, 0, id, payload))]
    };
    let large = field("x", &"y".repeat(100)).repeat(100);
    vec![
        http2("CONTINUATION of nothing without end", &[HeadTooLong, Flood], more(b"")),
        http2("CONTINUATION of a byte without end", &[HeadTooLong, Http2], more(b"\x88")),
        http2("CONTINUATION of fields without end", &[Http2, HeadTooLong], move |id| {
            vec![send(frame(HEADERS, 0, id, OK)), flood(frame(CONTINUATION, 0, id, &large))]
        }),
    ]
}

pub fn kinds() -> Vec<Kind> {
    let alone = alone().into_iter().map(|(name, ends, again)| {
        http2(format!("{name} without end"), &ends, move |id| vec![flood(again(id))])
    });
    let inside = inside().into_iter().map(|(name, ends, again)| {
        http2(format!("{name} without end"), &ends, move |id| vec![send(head(id)), flood(again(id))])
    });
    also_over_tls(alone.chain(inside).chain(continued()).collect())
}
