//! Servers that handle connections badly, before or during any request.

use std::time::Duration;

use weigh_load::fault::HttpFaultKind::{
    ConnectRefused, ConnectTimeout, EmptyReply, Garbage, HeadTooLong, Informational, Reset, Status, Timeout,
};

use crate::kind::{FOR_EVER, Kind, When, drip, flood, http1, send};
use crate::server::{Step, response};

pub fn kinds() -> Vec<Kind> {
    [greetings(), accepts(), uploads()].concat()
}

fn greetings() -> Vec<Kind> {
    let busy = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    vec![
        http1("a greeting of SSH", &[Garbage], vec![send("SSH-2.0-OpenSSH_9.2\r\n")])
            .saying(r"SSH-2.0-OpenSSH_9.2\r\n"),
        http1("a greeting of SMTP", &[Garbage], vec![send("220 mail.example ESMTP\r\n")]),
        http1("a greeting of HTTP/2", &[Garbage], vec![send(b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64")]),
        http1("a greeting of TLS", &[Garbage], vec![send(b"\x15\x03\x03\x00\x02\x02\x28")]),
        http1("a greeting without end", &[Garbage], vec![flood("SSH-2.0-OpenSSH_9.2\r\n")]),
        http1("503 before the request", &[Status], vec![send(busy), Step::Hear, Step::Close]).first(&[]),
        http1(
            "an interim greeting without end",
            &[Informational],
            vec![flood("HTTP/1.1 102 Processing\r\n\r\n")],
        ),
        http1("a greeting that drips", &[Timeout], vec![drip("HTTP/1.1 100 Continue\r\n\r\n".repeat(3))]),
    ]
    .into_iter()
    .map(Kind::greeting)
    .collect()
}

fn accepts() -> Vec<Kind> {
    let closing = |step: Step| vec![step, send(response("Connection: close\r\n", b"hello")), Step::Close];
    let only_after = |kind: Kind| kind.fresh().only(&[When::After]);
    vec![
        http1("closed when accepted", &[EmptyReply, Reset], vec![Step::Close]).greeting(),
        http1("reset when accepted", &[Reset], vec![Step::Reset]).greeting(),
        http1("half closed when accepted", &[EmptyReply], vec![Step::Finish, FOR_EVER]).greeting(),
        http1("accepted, and never read", &[Timeout], vec![FOR_EVER]).greeting(),
        // A connection that is accepted while it ends is closed.
        only_after(http1("listens no more", &[ConnectRefused, EmptyReply, Reset], closing(Step::Retire))),
        only_after(http1("accepts no more", &[ConnectTimeout, Timeout], closing(Step::Stall))),
        only_after(http1(
            "accepts late",
            &[],
            vec![Step::Wait(Duration::from_millis(50)), send(response("", b"hello")), Step::Close],
        )),
    ]
}

/// Servers that do not read.
fn uploads() -> Vec<Kind> {
    let body = || vec![b'x'; 2 << 20];
    let early = |step: Step| vec![step, Step::Wait(Duration::from_millis(300))];
    vec![
        http1("an upload that is never read", &[Timeout], vec![FOR_EVER]).greeting().asked_with(body()),
        http1("an upload that is reset", &[Reset], vec![Step::Hear, Step::Reset])
            .greeting()
            .asked_with(body()),
        http1("an upload that is answered and not read", &[], early(send(response("", b"hello"))))
            .greeting()
            .asked_with(body()),
        http1(
            "an upload under a flood of interim responses",
            &[Informational],
            vec![flood("HTTP/1.1 100 Continue\r\n\r\n")],
        )
        .greeting()
        .asked_with(body()),
        http1(
            "an upload under fields without end",
            &[HeadTooLong],
            vec![send("HTTP/1.1 200 OK\r\n"), flood("X: y\r\n")],
        )
        .greeting()
        .asked_with(body()),
    ]
}
