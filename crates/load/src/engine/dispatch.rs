//! Assigns due requests to connections.

use std::io::{self, ErrorKind};

use mio::{Interest, Token};

use super::conn::{Conn, Pace, State};
use super::exchange::Exchange;
use super::prepared::Prepared;
use super::thread::Thread;
use crate::Nanos;
use crate::fault::{HttpFault, HttpFaultKind};
use crate::plan::Protocol;
use crate::protocol::{Drive, Events, ExchangeId, Machine, Request, h1, h2};
use crate::transport::tcp::Tcp;
use crate::transport::tls::{Handshake, Tls};
use crate::transport::{Io, Transport};

impl Thread<'_> {
    /// Sends the due requests of a stream, as long as there is a connection for them.
    pub(super) fn pump(&mut self, stream: u16) -> io::Result<()> {
        while self.parts[stream as usize].has_room() {
            let Some(x) = self.parts[stream as usize].waiting.pop() else { break };
            self.place(x, self.shared.clock.now())?;
        }
        while self.is_sending {
            let part = &mut self.parts[stream as usize];
            if !part.has_room() {
                part.free_since = None;
                part.wake = None;
                break;
            }
            let now = self.shared.clock.now();
            let Some(scheduled) = part.due(now) else { break };
            if scheduled >= self.until || !self.shared.take_ticket() {
                self.stop_sending(now);
                break;
            }
            let lateness = now.saturating_sub(scheduled.max(part.free_since.unwrap_or(now)));
            if part.is_open {
                self.sink.recorder.lateness.record(lateness);
            }
            self.send(stream, scheduled, now)?;
        }
        Ok(())
    }

    fn send(&mut self, stream: u16, scheduled: Nanos, now: Nanos) -> io::Result<()> {
        let x = self.open(stream, scheduled);
        self.place(x, now)
    }

    /// Takes the next request of a stream, which is due.
    pub(super) fn open(&mut self, stream: u16, scheduled: Nanos) -> ExchangeId {
        let part = &mut self.parts[stream as usize];
        let request = part.request();
        let abandon_after = part.stream.abandon_after.unwrap_or(u64::MAX);
        let Prepared { class, is_idempotent, .. } = self.arsenal.requests[request as usize];
        self.sink.recorder.scheduled(class, scheduled);
        let exchange = Exchange::new(request, class, stream, scheduled, abandon_after);
        self.sink.open(Exchange { is_idempotent, ..exchange })
    }

    /// Finds a connection for an exchange, and opens one if none is idle.
    fn place(&mut self, x: ExchangeId, now: Nanos) -> io::Result<()> {
        let (stream, request) = (self.sink.get(x).stream, self.sink.get(x).request);
        let endpoint = self.arsenal.requests[request as usize].endpoint;
        let part = &mut self.parts[stream as usize];
        while let Some(token) = part.idle[endpoint as usize].pop() {
            let Some(conn) = self.conns[token].as_mut() else { continue };
            conn.listed -= 1;
            // The server may have lowered its limit since then.
            if conn.machine.capacity() > 0 {
                return self.start(token, x, now);
            }
        }
        if part.has >= part.most {
            // An idle connection to another endpoint makes room. If all are busy, there is one too many for a while.
            let is_idle =
                |t: &&usize| self.conns[**t].as_ref().is_some_and(|c| c.machine.in_flight().is_none());
            let idle = part.idle.iter().flatten().find(is_idle).copied();
            if let Some(token) = idle {
                self.close(token);
            }
        }
        self.connect(stream, endpoint, x, now)
    }

    /// Sends a request over a free connection.
    pub(super) fn start(&mut self, token: usize, x: u32, sent: Nanos) -> io::Result<()> {
        let Some(conn) = self.conns[token].as_mut() else { return Ok(()) };
        let exchange = self.sink.get(x);
        exchange.sent = sent;
        let (request, class, is_first) = (exchange.request, exchange.class, exchange.resent == 0);
        let prepared = &self.arsenal.requests[request as usize];
        let counts = self.sink.recorder.counts(class);
        counts.sent += u64::from(is_first);
        counts.sent_bytes += prepared.bytes.len() as u64;
        let Prepared { bytes, message, head_only, .. } = prepared;
        let request = Request { bytes, message: message.as_ref(), head_only: *head_only };
        if conn.machine.start(x, request, &mut conn.io, &mut self.sink) == Drive::Closed {
            self.close(token);
            return self.settle();
        }
        if conn.machine.gathers() {
            self.gather(token);
            return Ok(());
        }
        if !conn.io.short_read_drains() {
            return self.drive(token);
        }
        Ok(())
    }

    /// A request whose kept connection the server had closed is sent over a new one.
    pub(super) fn send_again(&mut self, x: ExchangeId) -> io::Result<()> {
        let (stream, request) = (self.sink.get(x).stream, self.sink.get(x).request);
        let endpoint = self.arsenal.requests[request as usize].endpoint;
        let now = self.shared.clock.now();
        if self.plan.protocol == Protocol::Http2 {
            // A connection may have refused many requests at once; they are then shared among the available
            // connections.
            self.parts[stream as usize].waiting.push(x);
            return self.pump(stream);
        }
        self.connect(stream, endpoint, x, now)
    }

    fn connect(&mut self, stream: u16, endpoint: u32, x: ExchangeId, now: Nanos) -> io::Result<()> {
        let part = &mut self.parts[stream as usize];
        part.has += 1;
        let spec = part.stream;
        let class = self.sink.get(x).class;
        self.sink.recorder.counts(class).connections += 1;
        let token = self.vacant.pop().unwrap_or_else(|| {
            self.conns.push(None);
            self.conns.len() - 1
        });
        let address = self.arsenal.endpoints[endpoint as usize].address;
        let mut tcp = match Tcp::connect(address, spec.receive_buffer) {
            Ok(tcp) => tcp,
            Err(e) => {
                self.vacant.push(token);
                part.has -= 1;
                return self.not_connected(stream, x, &e, now);
            }
        };
        let machine = match self.plan.protocol {
            Protocol::Http10 | Protocol::Http11 => Machine::Http1(h1::Machine::new(&self.plan.limits)),
            Protocol::Http2 => {
                let streams = spec.streams_per_connection;
                match h2::Machine::new(&self.http2, &self.plan.limits, streams, spec.keepalive) {
                    Ok(machine) => Machine::Http2(Box::new(machine)),
                    Err(fault) => {
                        self.vacant.push(token);
                        part.has -= 1;
                        self.sink.fault(x, fault, false);
                        return self.settle();
                    }
                }
            }
        };
        let both = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(tcp.source(), Token(token), both)?;
        self.conns[token] = Some(Conn {
            io: Io::Tcp(tcp),
            machine,
            state: State::Connecting(x),
            stream,
            endpoint,
            begun: now,
            listed: 0,
            is_unsent: false,
            ended: false,
            pace: spec.read_rate.map(|rate| Pace::new(rate, now)),
            is_hungry: false,
            refused: None,
        });
        Ok(())
    }

    /// Checks whether a connection is established, and sends the request that waited for it.
    pub(super) fn establish(&mut self, token: usize) -> io::Result<()> {
        let Some(conn) = self.conns[token].as_mut() else { return Ok(()) };
        let State::Connecting(x) = conn.state else { return Ok(()) };
        let Io::Tcp(tcp) = &conn.io else { return Ok(()) };
        match tcp.is_connected(conn.ended) {
            Ok(false) => Ok(()),
            Ok(true) => {
                let now = self.shared.clock.now();
                let (begun, endpoint) = (conn.begun, conn.endpoint);
                let class = self.sink.get(x).class;
                self.sink.recorder.classes[class as usize].1.connect.record(now.saturating_sub(begun));
                if self.arsenal.endpoints[endpoint as usize].tls.is_some() {
                    return self.begin_tls(token, x, now);
                }
                conn.state = State::Open;
                self.stands(token, x, begun)
            }
            Err(e) => {
                let (stream, now) = (conn.stream, self.shared.clock.now());
                self.close(token);
                self.not_connected(stream, x, &e, now)
            }
        }
    }

    /// A connection is ready for requests; the first request is the one that it was opened for.
    pub(super) fn stands(&mut self, token: usize, x: ExchangeId, begun: Nanos) -> io::Result<()> {
        let Some(conn) = self.conns[token].as_ref() else { return Ok(()) };
        let stream = conn.stream;
        self.parts[stream as usize].stands();
        self.start(token, x, begun)
    }

    fn not_connected(&mut self, stream: u16, x: ExchangeId, error: &io::Error, now: Nanos) -> io::Result<()> {
        self.parts[stream as usize].failed(now);
        let request = self.sink.get(x).request;
        let endpoint = self.arsenal.requests[request as usize].endpoint;
        let address = self.arsenal.endpoints[endpoint as usize].address;
        let (kind, what) = match error.kind() {
            ErrorKind::ConnectionRefused => (HttpFaultKind::ConnectRefused, "nothing listens at this address".to_owned()),
            // The connection was established and reset before it was looked at.
            ErrorKind::ConnectionReset => (HttpFaultKind::Reset, "reset before the first byte".to_owned()),
            ErrorKind::AddrNotAvailable => (
                HttpFaultKind::PortsExhausted,
                "every local port for it is in use or in TIME_WAIT; keep connections alive, or use fewer connections"
                    .to_owned(),
            ),
            _ if is_out_of_files(error) => (
                HttpFaultKind::PortsExhausted,
                "the limit of open files is reached; raise it with ulimit -n".to_owned(),
            ),
            _ => (HttpFaultKind::ConnectFailed, error.to_string()),
        };
        self.sink.fault(x, HttpFault::new(kind, format!("{address}: {what}")), false);
        self.settle()
    }
}

fn is_out_of_files(error: &io::Error) -> bool {
    let out = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE].map(|e| e.raw_os_error());
    error.raw_os_error().is_some_and(|e| out.contains(&e))
}

impl Thread<'_> {
    /// Starts TLS on an established connection, for the exchange that waits for it.
    pub(super) fn begin_tls(&mut self, token: usize, x: ExchangeId, now: Nanos) -> io::Result<()> {
        let Some(conn) = self.conns[token].take() else { return Ok(()) };
        let host = self.arsenal.endpoints[conn.endpoint as usize].tls.as_deref().unwrap_or_default();
        let io = match (conn.io, &self.tls) {
            (Io::Tcp(tcp), Some(tls)) => Tls::new(tcp, tls, host).map(|tls| Io::Tls(Box::new(tls))),
            (io, _) => Ok(io),
        };
        match io {
            Ok(io) => {
                self.conns[token] = Some(Conn { io, state: State::Securing(x, now), ..conn });
                self.secure(token)
            }
            Err(e) => {
                self.parts[conn.stream as usize].lost(conn.endpoint, token);
                self.vacant.push(token);
                self.not_secured(conn.stream, x, &fault(&e))
            }
        }
    }

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
            return self.not_secured(stream, x, &HttpFault::new(HttpFaultKind::Http2, message));
        }
        let now = self.shared.clock.now();
        let (class, begun) = (self.sink.get(x).class, conn.begun);
        conn.state = State::Open;
        let (counts, times) = &mut self.sink.recorder.classes[class as usize];
        times.tls.record(now.saturating_sub(since));
        counts.resumed += u64::from(session.is_some_and(|s| s.resumed));
        self.stands(token, x, begun)
    }

    fn not_secured(&mut self, stream: u16, x: ExchangeId, fault: &HttpFault) -> io::Result<()> {
        let now = self.shared.clock.now();
        self.parts[stream as usize].failed(now);
        let request = self.sink.get(x).request;
        let endpoint = &self.arsenal.endpoints[self.arsenal.requests[request as usize].endpoint as usize];
        let message = format!("{}: {}", endpoint.authority, fault.message);
        self.sink.fault(x, HttpFault::new(fault.kind, message), false);
        self.settle()
    }
}

fn fault(error: &io::Error) -> HttpFault {
    let kind = match error.kind() {
        ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof => HttpFaultKind::Tls,
        _ => HttpFaultKind::Reset,
    };
    HttpFault::new(kind, error.to_string())
}
