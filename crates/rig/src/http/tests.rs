//! The client against servers of a few lines that mean it no good.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::*;
use crate::server::certificate;
use weigh_os::interrupt::Interrupt;

/// What is said of a server that does this with its one connection, within this time.
fn ask_server(serve: impl FnOnce(TcpStream) + Send + 'static, limit: Duration) -> Result<Reply, HttpFault> {
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

fn read_reply(text: &'static str) -> Result<Reply, HttpFault> {
    let serve = |mut stream: TcpStream| {
        let _ = stream.read(&mut [0; 100]);
        let _ = stream.write_all(text.as_bytes());
    };
    ask_server(serve, Duration::from_secs(30))
}

#[test]
fn an_answer_is_told_with_its_fields() {
    let chunked = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nServer: a\r\nVary: b\r\nVary: c\r\n\
        Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    let reply = read_reply(chunked).unwrap();
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
    assert_eq!(ask_server(drip, Duration::from_millis(500)).unwrap_err().kind, HttpFaultKind::Timeout);
}

#[test]
fn one_who_says_that_it_closes_and_does_not_is_not_waited_for() {
    let stays = move |mut stream: TcpStream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
        let _ = stream.read(&mut [0; 100]);
        // Until the client has gone.
        let _ = stream.read(&mut [0; 100]);
    };
    assert_eq!(ask_server(stays, Duration::from_secs(600)).unwrap().body, b"ok");
}

#[test]
fn what_is_too_long_or_no_answer_is_a_fault() {
    let long = "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n\
        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    for (text, kind) in [
        (long, HttpFaultKind::Overlong),
        ("", HttpFaultKind::EmptyReply),
        ("SSH-2.0-OpenSSH\r\n", HttpFaultKind::Garbage),
    ] {
        assert_eq!(read_reply(text).unwrap_err().kind, kind, "{text}");
    }
    let unbound = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let peer = Peer { address: unbound, security: Security::Plain };
    let fault = exchange(peer, b"", false, 0, (Duration::from_secs(5), &Interrupt::new())).unwrap_err();
    assert_eq!(fault.kind, HttpFaultKind::ConnectFailed);
}

/// A server over TLS that shakes hands late and answers at once, on each connection as often as it is asked; how often it was connected to.
fn late_to_shake_hands(keeps: bool, delay: Duration) -> (SocketAddr, Arc<AtomicUsize>) {
    let folder = tempfile::tempdir().unwrap();
    let made = certificate::make(folder.path()).unwrap();
    let chain = vec![CertificateDer::from_pem_file(&made.chain).unwrap()];
    let key = PrivateKeyDer::from_pem_file(&made.key).unwrap();
    let config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
    let (listener, config) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::new(config));
    let (address, connections) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counter = connections.clone();
    std::thread::spawn(move || {
        for tcp in listener.incoming().flatten() {
            counter.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(delay);
            let session = rustls::ServerConnection::new(config.clone()).unwrap();
            let mut stream = StreamOwned::new(session, tcp);
            while stream.read(&mut [0; 4000]).is_ok_and(|n| n > 0) {
                let close = if keeps { "" } else { "Connection: close\r\n" };
                let _ = stream
                    .write_all(format!("HTTP/1.1 200 OK\r\n{close}Content-Length: 2\r\n\r\nok").as_bytes());
                if !keeps {
                    stream.conn.send_close_notify();
                    let _ = stream.flush();
                    break;
                }
            }
        }
    });
    (address, connections)
}

#[test]
fn the_time_to_the_first_byte_has_no_handshake_in_it() {
    let delay = Duration::from_millis(500);
    let location = Location::parse("https://localhost/").unwrap();
    for (keeps, wanted) in [(true, 1), (false, 3)] {
        let (address, connections) = late_to_shake_hands(keeps, delay);
        let mut kept = KeptConnection::new(Peer { address, security: Security::Own });
        let replies: Vec<Reply> = (0..3).map(|_| kept.get(&location, "identity").unwrap()).collect();
        // Of three, the best: neighbours may delay any of them.
        let best = replies.iter().map(|reply| reply.first_byte).min().unwrap();
        assert!(best < delay / 2, "{best:?}");
        assert_eq!((replies[2].body.as_slice(), connections.load(Ordering::SeqCst)), (&b"ok"[..], wanted));
    }
    let (address, _) = late_to_shake_hands(true, delay);
    let peer = Peer { address, security: Security::Own };
    let alone = get_from(peer, &location, "identity").unwrap();
    assert!(alone.first_byte < delay / 2 || alone.first_byte < alone.took - delay / 2, "{alone:?}");
    assert!(alone.took >= delay, "all of a connection of its own");
}

#[test]
fn a_kept_connection_that_was_closed_meanwhile_is_opened_anew() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = Peer { address: listener.local_addr().unwrap(), security: Security::Plain };
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 1000]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let (mut kept, location) = (KeptConnection::new(peer), Location::parse("http://localhost/").unwrap());
    for _ in 0..3 {
        assert_eq!(kept.get(&location, "identity").unwrap().body, b"ok");
    }
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
        ask_server(serve, Duration::from_secs(30)).unwrap().decoded()
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
