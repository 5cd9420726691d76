//! From a request that is due to a connection that carries it.

use std::io::{self, ErrorKind};

use mio::{Interest, Token};

use super::conn::{Conn, Pace, State};
use super::exchange::Exchange;
use super::thread::Thread;
use crate::Nanos;
use crate::fault::{Fault, FaultKind};
use crate::protocol::h1::Machine;
use crate::protocol::{Drive, Events, ExchangeId};
use crate::transport::tcp::Tcp;
use crate::transport::{Io, Transport};

impl Thread<'_> {
    /// Sends what is due in a stream, as long as there is a connection for it.
    pub(super) fn pump(&mut self, stream: u16) -> io::Result<()> {
        while self.is_sending {
            let part = &mut self.parts[stream as usize];
            if !part.has_room() {
                part.free_since = None;
                part.wake = None;
                break;
            }
            let now = self.shared.clock.now();
            let Some(scheduled) = part.due(now) else {
                if part.is_over && self.parts.iter().all(|p| p.is_over) {
                    self.stop_sending(now);
                }
                break;
            };
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
        let part = &mut self.parts[stream as usize];
        let request = part.request();
        let abandon_after = part.stream.abandon_after.unwrap_or(u64::MAX);
        let class = self.arsenal.requests[request as usize].class;
        self.sink.recorder.scheduled(class, scheduled);
        let x = self.sink.open(Exchange::new(request, class, stream, scheduled, abandon_after));
        self.place(x, now)
    }

    /// Finds a connection for an exchange, and begins one where none is idle.
    fn place(&mut self, x: ExchangeId, now: Nanos) -> io::Result<()> {
        let (stream, request) = (self.sink.get(x).stream, self.sink.get(x).request);
        let endpoint = self.arsenal.requests[request as usize].endpoint;
        let part = &mut self.parts[stream as usize];
        if let Some(token) = part.idle[endpoint as usize].pop() {
            return self.start(token, x, now);
        }
        if part.has >= part.most {
            // Another endpoint's idle connection makes room.
            let idle = part.idle.iter_mut().find_map(Vec::pop);
            if let Some(token) = idle {
                self.close(token);
            }
        }
        self.connect(stream, endpoint, x, now)
    }

    /// Sends a request over a connection that is free.
    fn start(&mut self, token: usize, x: u32, sent: Nanos) -> io::Result<()> {
        let Some(conn) = self.conns[token].as_mut() else { return Ok(()) };
        let exchange = self.sink.get(x);
        exchange.sent = sent;
        let (request, class, is_second) = (exchange.request, exchange.class, exchange.is_second);
        let prepared = &self.arsenal.requests[request as usize];
        conn.machine.start(x, prepared.head_only);
        let counts = self.sink.recorder.counts(class);
        counts.sent += u64::from(!is_second);
        counts.sent_bytes += prepared.bytes.len() as u64;
        if conn.machine.send(&mut conn.io, &prepared.bytes, &mut self.sink) == Drive::Closed {
            self.close(token);
            return self.settle();
        }
        if !conn.io.short_read_drains() {
            return self.drive(token);
        }
        Ok(())
    }

    /// A request whose kept connection the server had closed gets a fresh one.
    pub(super) fn send_again(&mut self, x: ExchangeId) -> io::Result<()> {
        let (stream, request) = (self.sink.get(x).stream, self.sink.get(x).request);
        let endpoint = self.arsenal.requests[request as usize].endpoint;
        let now = self.shared.clock.now();
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
        let both = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(tcp.source(), Token(token), both)?;
        self.conns[token] = Some(Conn {
            io: Io::Tcp(tcp),
            machine: Machine::new(&self.plan.limits),
            state: State::Connecting(x),
            stream,
            endpoint,
            begun: now,
            ended: false,
            pace: spec.read_rate.map(|rate| Pace::new(rate, now)),
        });
        Ok(())
    }

    /// Looks whether a connection stands, and sends what waited for it.
    pub(super) fn establish(&mut self, token: usize) -> io::Result<()> {
        let Some(conn) = self.conns[token].as_mut() else { return Ok(()) };
        let State::Connecting(x) = conn.state else { return Ok(()) };
        let Io::Tcp(tcp) = &conn.io;
        match tcp.is_connected() {
            Ok(false) => Ok(()),
            Ok(true) => {
                let now = self.shared.clock.now();
                conn.state = State::Open;
                let (begun, stream) = (conn.begun, conn.stream);
                let class = self.sink.get(x).class;
                self.sink.recorder.classes[class as usize].1.connect.record(now.saturating_sub(begun));
                self.parts[stream as usize].stands();
                self.start(token, x, begun)
            }
            Err(e) => {
                let (stream, now) = (conn.stream, self.shared.clock.now());
                self.close(token);
                self.not_connected(stream, x, &e, now)
            }
        }
    }

    fn not_connected(&mut self, stream: u16, x: ExchangeId, error: &io::Error, now: Nanos) -> io::Result<()> {
        self.parts[stream as usize].failed(now);
        let request = self.sink.get(x).request;
        let endpoint = self.arsenal.requests[request as usize].endpoint;
        let address = self.arsenal.endpoints[endpoint as usize].address;
        let (kind, what) = match error.kind() {
            ErrorKind::ConnectionRefused => (FaultKind::ConnectRefused, "nothing listens there".to_owned()),
            // A connection that stood, and was gone before it was looked at.
            ErrorKind::ConnectionReset => (FaultKind::Reset, "reset before the first byte".to_owned()),
            ErrorKind::AddrNotAvailable => (
                FaultKind::PortsExhausted,
                "every local port to it is in use or in TIME_WAIT; keep connections alive, or use fewer"
                    .to_owned(),
            ),
            _ if is_out_of_files(error) => (
                FaultKind::PortsExhausted,
                "the limit of open files is reached; raise it with ulimit -n".to_owned(),
            ),
            _ => (FaultKind::ConnectFailed, error.to_string()),
        };
        self.sink.fault(x, Fault::new(kind, format!("{address}: {what}")), false);
        self.settle()
    }
}

fn is_out_of_files(error: &io::Error) -> bool {
    let out = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE].map(|e| e.raw_os_error());
    error.raw_os_error().is_some_and(|e| out.contains(&e))
}
