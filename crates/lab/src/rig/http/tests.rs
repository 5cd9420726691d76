//! The client against servers of a few lines that mean it no good.

use std::net::TcpListener;

use super::*;
use crate::interrupt::Interrupt;

/// What is said of a server that does this with its one connection, within this time.
fn asked(serve: impl FnOnce(TcpStream) + Send + 'static, limit: Duration) -> Result<Reply, Fault> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = Peer { address: listener.local_addr().unwrap(), security: Security::Plain };
    let server = std::thread::spawn(move || serve(listener.accept().unwrap().0));
    let reply = exchange(
        peer,
        b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        false,
        100,
        (limit, &Interrupt::new()),
    );
    server.join().unwrap();
    reply
}

fn said(text: &'static str) -> Result<Reply, Fault> {
    let serve = |mut stream: TcpStream| {
        let _ = stream.read(&mut [0; 100]);
        let _ = stream.write_all(text.as_bytes());
    };
    asked(serve, Duration::from_secs(30))
}

#[test]
fn an_answer_is_told_with_its_fields() {
    let chunked = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nServer: a\r\nVary: b\r\nVary: c\r\n\
        Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    let reply = said(chunked).unwrap();
    assert_eq!((reply.status, reply.body.as_slice(), reply.length), (200, &b"ok"[..], None));
    assert_eq!(reply.shown_field("server").as_deref(), Some("a"));
    assert_eq!((reply.field("VARY").unwrap(), reply.field("etag")), (b"b, c".to_vec(), None));
}

#[test]
fn one_who_drips_for_ever_is_left_at_the_deadline() {
    let drip = |mut stream: TcpStream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n");
        while stream.write_all(b"x").is_ok() && !matches!(stream.take_error(), Ok(Some(_))) {
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    assert_eq!(asked(drip, Duration::from_millis(500)).unwrap_err().kind, FaultKind::Timeout);
}

#[test]
fn one_who_says_that_it_closes_and_does_not_is_not_waited_for() {
    let stays = move |mut stream: TcpStream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
        let _ = stream.read(&mut [0; 100]);
        // Until the client has gone.
        let _ = stream.read(&mut [0; 100]);
    };
    assert_eq!(asked(stays, Duration::from_secs(600)).unwrap().body, b"ok");
}

#[test]
fn what_is_too_long_or_no_answer_is_a_fault() {
    let long = "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n\
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    for (text, kind) in [
        (long, FaultKind::Overlong),
        ("", FaultKind::EmptyReply),
        ("SSH-2.0-OpenSSH\r\n", FaultKind::Garbage),
    ] {
        assert_eq!(said(text).unwrap_err().kind, kind, "{text}");
    }
    let unbound = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let peer = Peer { address: unbound, security: Security::Plain };
    let fault = exchange(peer, b"", false, 0, (Duration::from_secs(5), &Interrupt::new())).unwrap_err();
    assert_eq!(fault.kind, FaultKind::ConnectFailed);
}

#[test]
fn a_page_that_is_still_compressed_is_refused_and_a_download_is_not() {
    let reply = |fields: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{fields}\r\n", body.len());
        let answer = [head.as_bytes(), body].concat();
        let serve = move |mut stream: TcpStream| {
            let _ = stream.read(&mut [0; 100]);
            let _ = stream.write_all(&answer);
        };
        asked(serve, Duration::from_secs(30)).unwrap().decoded()
    };
    let encoded = |bytes: &[u8]| {
        let mut out = Vec::new();
        let codec = weigh_codec::codecs::find("libdeflate").unwrap();
        codec.coder(&Default::default()).unwrap().encode(bytes, &mut out).unwrap();
        out
    };
    let once = encoded(b"<p>a page</p>");
    let twice = encoded(&once);
    let wrong =
        reply("Content-Type: text/html\r\nContent-Encoding: gzip\r\n", &twice).unwrap_err().to_string();
    assert!(wrong.contains("compressed twice"), "{wrong}");
    let wrong = reply("Content-Type: text/html\r\n", &once).unwrap_err().to_string();
    assert!(wrong.contains("gzip data without Content-Encoding"), "{wrong}");
    let fine = reply("Content-Type: text/html\r\nContent-Encoding: gzip\r\n", &once).unwrap();
    assert_eq!(fine, b"<p>a page</p>");
    assert_eq!(reply("Content-Type: application/gzip\r\n", &once).unwrap(), once);
    let saved = "Content-Type: text/plain\r\nContent-Disposition: attachment\r\nContent-Encoding: gzip\r\n";
    assert_eq!(reply(saved, &twice).unwrap(), once);
}
