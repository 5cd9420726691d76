//! From a TCP connection that stands to one that carries requests: TLS, where the endpoint wants it.

use std::io;

use super::conn::State;
use super::thread::Thread;
use crate::Nanos;
use crate::fault::{Fault, FaultKind};
use crate::plan::Protocol;
use crate::protocol::{Events, ExchangeId};
use crate::transport::Io;
use crate::transport::tls::{Handshake, Tls};

impl Thread<'_> {
    /// Begins with TLS on a connection that stands, for the exchange that waits for it.
    pub(super) fn begin_tls(&mut self, token: usize, x: ExchangeId, now: Nanos) -> io::Result<()> {
        let Some(conn) = self.conns[token].take() else { return Ok(()) };
        let host = self.arsenal.endpoints[conn.endpoint as usize].tls.as_deref().unwrap_or_default();
        let io = match (conn.io, &self.tls) {
            (Io::Tcp(tcp), Some(tls)) => Tls::new(tcp, tls, host).map(|tls| Io::Tls(Box::new(tls))),
            (io, _) => Ok(io),
        };
        match io {
            Ok(io) => {
                self.conns[token] = Some(super::conn::Conn { io, state: State::Securing(x, now), ..conn });
                self.secure(token)
            }
            Err(e) => {
                self.parts[conn.stream as usize].lost(conn.endpoint, token);
                self.vacant.push(token);
                self.not_secured(conn.stream, x, &fault(&e))
            }
        }
    }

    /// Goes on with TLS.
    pub(super) fn secure(&mut self, token: usize) -> io::Result<()> {
        let Some(conn) = self.conns[token].as_mut() else { return Ok(()) };
        let (State::Securing(x, since), Io::Tls(tls)) = (conn.state, &mut conn.io) else { return Ok(()) };
        let stream = conn.stream;
        let session = match tls.handshake() {
            Ok(Handshake::WouldBlock) => return Ok(()),
            Ok(Handshake::Done) => tls.session(),
            Err(e) => {
                self.close(token);
                return self.not_secured(stream, x, &fault(&e));
            }
        };
        let alpn = session.as_ref().and_then(|s| s.alpn.as_deref());
        if self.plan.protocol == Protocol::Http2 && alpn != Some(b"h2") {
            self.close(token);
            let message = "the server does not speak HTTP/2: it did not choose `h2` by ALPN";
            return self.not_secured(stream, x, &Fault::new(FaultKind::Http2, message));
        }
        let now = self.shared.clock.now();
        let (class, begun) = (self.sink.get(x).class, conn.begun);
        conn.state = State::Open;
        let (counts, times) = &mut self.sink.recorder.classes[class as usize];
        times.tls.record(now.saturating_sub(since));
        counts.resumed += u64::from(session.is_some_and(|s| s.resumed));
        self.stands(token, x, begun)
    }

    fn not_secured(&mut self, stream: u16, x: ExchangeId, fault: &Fault) -> io::Result<()> {
        let now = self.shared.clock.now();
        self.parts[stream as usize].failed(now);
        let request = self.sink.get(x).request;
        let endpoint = &self.arsenal.endpoints[self.arsenal.requests[request as usize].endpoint as usize];
        let message = format!("{}: {}", endpoint.authority, fault.message);
        self.sink.fault(x, Fault::new(fault.kind, message), false);
        self.settle()
    }
}

fn fault(error: &io::Error) -> Fault {
    let kind = match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
            FaultKind::Tls
        }
        _ => FaultKind::Reset,
    };
    Fault::new(kind, error.to_string())
}
