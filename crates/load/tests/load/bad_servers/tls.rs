//! Servers that break the rules of TLS, at the begin of a connection and in the middle of it.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use rustls::{ServerConnection, Stream};
use socket2::SockRef;
use weigh_load::fault::{Fault, FaultKind};
use weigh_load::plan::Check;

use super::load::{PREFLIGHT, only_fault, plan, verify};
use super::server::response;
use crate::identity::Identity;

/// The connection that goes wrong; each carries one request.
const BAD: u64 = PREFLIGHT + 10;

/// A load over TLS with a connection a request, of which one is dealt with by `bad`. Gives the fault that came of it.
fn one_bad(check: Check, bad: fn(TcpStream, ServerConnection) -> io::Result<()>) -> Fault {
    let identity = Identity::new(&[]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a local port");
    let mut plan = plan(listener.local_addr().expect("it is bound"), check);
    plan.tls = identity.trusted();
    plan.requests[0].url = plan.requests[0].url.replace("http:", "https:");
    plan.streams[0].keepalive = false;
    plan.limits.connect_seconds = 1.0;
    let config = identity.config.clone();
    std::thread::spawn(move || {
        for (number, tcp) in (0..).zip(listener.incoming().flatten()) {
            let session = ServerConnection::new(config.clone()).expect("a good configuration");
            let attend = if number == BAD { bad } else { good };
            std::thread::spawn(move || attend(tcp, session));
        }
    });
    only_fault(&plan)
}

fn good(mut tcp: TcpStream, mut session: ServerConnection) -> io::Result<()> {
    let mut secure = Stream::new(&mut session, &mut tcp);
    let _ = secure.read(&mut [0; 4096])?;
    secure.write_all(&response("Connection: close\r\n", b"hello"))?;
    secure.conn.send_close_notify();
    secure.flush()
}

/// Takes the client's greeting and answers it with nothing.
fn greeted(tcp: &mut TcpStream) -> io::Result<()> {
    tcp.read(&mut [0; 16 << 10]).map(drop)
}

#[test]
fn garbage_in_place_of_a_greeting_is_a_fault_of_tls() {
    for check in [verify(), Check::Discard] {
        let fault = one_bad(check, |mut tcp, _| {
            greeted(&mut tcp)?;
            tcp.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n\0\xff\x1b[2J")
        });
        assert_eq!(fault.kind, FaultKind::Tls, "{fault:?}");
        assert!(!fault.message.contains(char::is_control), "{fault:?}");
    }
}

#[test]
fn garbage_in_place_of_a_record_is_a_fault_of_tls() {
    for check in [verify(), Check::Discard] {
        let fault = one_bad(check, |mut tcp, mut session| {
            let mut secure = Stream::new(&mut session, &mut tcp);
            let _ = secure.read(&mut [0; 4096])?;
            secure.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe")?;
            // A record of application data that no key of this connection has sealed.
            tcp.write_all(b"\x17\x03\x03\x00\x20llo, this is no sealed record...")?;
            greeted(&mut tcp)
        });
        assert_eq!(fault.kind, FaultKind::Tls, "{fault:?}");
    }
}

#[test]
fn an_end_within_the_handshake_is_a_fault_of_tls() {
    let fault = one_bad(verify(), |mut tcp, _| greeted(&mut tcp));
    assert_eq!(fault.kind, FaultKind::Tls, "{fault:?}");
}

#[test]
fn a_reset_within_the_handshake_is_a_reset() {
    let fault = one_bad(verify(), |mut tcp, _| {
        greeted(&mut tcp)?;
        SockRef::from(&tcp).set_linger(Some(Duration::ZERO))
    });
    assert_eq!(fault.kind, FaultKind::Reset, "{fault:?}");
}

#[test]
fn a_handshake_that_goes_nowhere_ends_by_the_clock() {
    let fault = one_bad(verify(), |mut tcp, _| {
        greeted(&mut tcp)?;
        greeted(&mut tcp)
    });
    assert_eq!(fault.kind, FaultKind::ConnectTimeout, "{fault:?}");
}
