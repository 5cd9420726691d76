//! Connections of HTTP/2 that do not start as such, or end in the middle.

use weigh_load::fault::HttpFaultKind::{EmptyReply, Flood, Http2, Reset, Timeout, Truncated};

use crate::frames::{
    ACK, END_HEADERS, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS, answer, data, frame, head, setting,
};
use crate::kind::{FOR_EVER, Kind, also_over_tls, drip, flood, http2, send};
use crate::secure::Secure;
use crate::server::Step;

pub fn kinds() -> Vec<Kind> {
    let greetings = greetings();
    let secure = greetings.iter().map(secured).collect();
    [greetings, secure, also_over_tls([ends(), resets(), drips()].concat())].concat()
}

/// The same after the TLS handshake.
fn secured(kind: &Kind) -> Kind {
    let mut kind = kind.clone().over(Secure::Good);
    kind.greeting.iter_mut().for_each(|steps| steps.insert(0, Step::Shake));
    kind
}

fn greetings() -> Vec<Kind> {
    let bad =
        |name: &str, ends: &[_], bytes: Vec<u8>| http2(name, ends, move |_| vec![send(&bytes)]).greeting();
    vec![
        bad(
            "an answer in HTTP/1",
            &[Http2],
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".to_vec(),
        ),
        bad("a greeting of SSH to HTTP/2", &[Http2], b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()),
        bad("PING in place of SETTINGS", &[Http2], frame(PING, 0, 0, &[7; 8])),
        bad("GOAWAY in place of SETTINGS", &[Http2], frame(GOAWAY, 0, 0, &[0; 8])),
        bad("SETTINGS acknowledged in place of SETTINGS", &[Http2, Timeout], frame(SETTINGS, ACK, 0, &[])),
        bad("settings that are not allowed at the begin", &[Http2], setting(4, u32::MAX)),
        bad("MAX_CONCURRENT_STREAMS of 0 behind the first request", &[], setting(3, 0)),
        bad("a table of 4 GB for headers", &[], setting(1, u32::MAX)),
        http2("no SETTINGS, and silence", &[Timeout], |_| vec![FOR_EVER]).greeting(),
        http2("closed in place of SETTINGS", &[EmptyReply, Reset], |_| vec![Step::Close]).greeting(),
        http2("zeros in place of SETTINGS without end", &[Http2], |_| vec![flood([0; 1000])]).greeting(),
        http2("SETTINGS in place of an answer without end", &[Flood], |_| vec![flood(setting(3, 100))])
            .greeting(),
    ]
}

fn ends() -> Vec<Kind> {
    let go_away = |last: u32, code: u8| {
        frame(GOAWAY, 0, 0, &[&last.to_be_bytes()[..], &[0, 0, 0, code], b"\x1b[2Jgo away"].concat())
    };
    vec![
        http2("closed before an answer", &[EmptyReply, Reset], |_| vec![Step::Close]),
        http2("reset before an answer", &[Reset], |_| vec![Step::Reset]),
        http2("closed behind a head", &[Truncated, Reset], |id| vec![send(head(id)), Step::Close]),
        http2("closed inside a frame's header", &[EmptyReply, Reset], |id| {
            vec![send(&head(id)[..4]), Step::Close]
        }),
        http2("closed inside a body", &[Truncated, Reset], |id| {
            vec![send([head(id), data(id, b"o")].concat()), Step::Close]
        }),
        http2("reset inside a body", &[Reset], |id| {
            vec![send([head(id), data(id, b"o")].concat()), Step::Reset]
        }),
        http2("half closed before an answer", &[EmptyReply], |_| vec![Step::Finish, FOR_EVER]),
        http2("GOAWAY with an error", &[EmptyReply, Reset], move |id| {
            vec![send(go_away(id, 2)), Step::Close]
        }),
        http2("GOAWAY of all streams", &[Http2], move |_| vec![send(go_away(0, 0)), Step::Close]),
        http2("GOAWAY, and an answer", &[], move |id| {
            vec![send([go_away(id, 0), answer(id, b"ok")].concat())]
        }),
        http2("GOAWAY, and silence", &[Timeout], move |id| vec![send(go_away(id, 0)), FOR_EVER]),
        http2("GOAWAY with a last stream that grows", &[Http2], move |id| {
            vec![send([go_away(id, 0), go_away(id + 100, 0)].concat()), Step::Close]
        }),
        http2("GOAWAY behind each answer", &[], move |id| {
            vec![send([answer(id, b"ok"), go_away(id, 0)].concat())]
        }),
    ]
}

fn resets() -> Vec<Kind> {
    let reset = |id: u32, code: u8| frame(RST_STREAM, 0, id, &[0, 0, 0, code]);
    vec![
        http2("each stream reset", &[Http2], move |id| vec![send(reset(id, 2))]),
        http2("each stream refused", &[Http2], move |id| vec![send(reset(id, 7))]),
        http2("each stream asked for HTTP/1.1", &[Http2], move |id| vec![send(reset(id, 13))]),
        http2("each stream reset behind its head", &[Http2], move |id| {
            vec![send([head(id), reset(id, 8)].concat())]
        }),
        http2("each stream reset without an error", &[Http2, Truncated], move |id| {
            vec![send([head(id), data(id, b"o"), reset(id, 0)].concat())]
        }),
        http2("each stream reset behind its answer", &[], move |id| {
            vec![send([answer(id, b"ok"), reset(id, 0)].concat())]
        }),
        http2("each stream reset a thousand times", &[Http2], move |id| {
            vec![send(reset(id, 2).repeat(1000))]
        }),
    ]
}

fn drips() -> Vec<Kind> {
    vec![
        http2("nothing is said in HTTP/2", &[Timeout], |_| vec![FOR_EVER]),
        http2("a frame's header that drips", &[Timeout], |id| vec![drip(answer(id, b"ok"))]),
        http2("a head's frame that drips", &[Timeout], |id| {
            vec![send(&frame(HEADERS, END_HEADERS, id, &[0x88; 200])[..9]), drip([0x88; 200])]
        }),
        http2("a body that drips in frames", &[Timeout], |id| {
            vec![send(head(id)), drip(data(id, b"x").repeat(9))]
        }),
        http2("PING that drips", &[Timeout], |_| vec![drip(frame(PING, 0, 0, &[7; 8]).repeat(9))]),
    ]
}
