//! HTTP/1: one exchange at a time on a connection. Requests are not pipelined: servers and proxies that lose them are many.

pub mod chunked;
mod field;
pub mod head;

use std::io::ErrorKind;

use chunked::Chunked;
use head::{Head, HeadLimits};

use super::{Drive, Events, ExchangeId, Means};
use crate::fault::{Fault, FaultKind};
use crate::plan::Limits;
use crate::transport::Transport;

/// From so many bytes on, a body that is not looked at is dropped by the kernel; under it a read is as cheap.
const WORTH_DISCARDING: u64 = 8 << 10;

/// What of the response is still to come.
#[derive(Debug)]
enum Rest {
    Head,
    Length(u64),
    Chunked(Chunked),
    /// Until the server closes.
    Close,
}

/// The exchange that is on its way.
#[derive(Debug)]
struct Current {
    id: ExchangeId,
    /// The response to a HEAD request has no body.
    head_only: bool,
    /// Bytes of the request that were written.
    written: usize,
    begun: bool,
    /// The connection persists after it, as far as is known.
    keep: bool,
    informational: u32,
    rest: Rest,
}

/// A connection's state.
#[derive(Debug)]
pub struct Machine {
    limits: HeadLimits,
    informational: u32,
    current: Option<Current>,
    /// A head that came in parts.
    partial: Vec<u8>,
    /// How far the end of that head was looked for.
    scanned: usize,
    /// Exchanges that ended well here.
    done: u64,
    /// The server was asked to close.
    closing: bool,
}

/// What came of some bytes.
enum Progress {
    /// The response wants more.
    More,
    /// The response is whole; so many of the bytes were its.
    Whole(usize),
}

impl Machine {
    /// A fresh connection's.
    pub fn new(limits: &Limits) -> Machine {
        Machine {
            limits: HeadLimits { bytes: limits.head_bytes, fields: limits.head_fields },
            informational: limits.informational,
            current: None,
            partial: Vec::new(),
            scanned: 0,
            done: 0,
            closing: false,
        }
    }

    /// Whether a request may be started.
    pub fn is_free(&self) -> bool {
        self.current.is_none() && !self.closing
    }

    /// Begins an exchange; the next drive sends it.
    pub fn start(&mut self, id: ExchangeId, head_only: bool) {
        debug_assert!(self.is_free());
        let rest = Rest::Head;
        let (written, begun, keep, informational) = (0, false, true, 0);
        self.current = Some(Current { id, head_only, written, begun, keep, informational, rest });
        self.partial.clear();
        self.scanned = 0;
    }

    /// The exchange in flight.
    pub fn in_flight(&self) -> Option<ExchangeId> {
        self.current.as_ref().map(|c| c.id)
    }

    /// Writes the request that was started, as far as there is room.
    pub fn send(&mut self, io: &mut impl Transport, request: &[u8], events: &mut impl Events) -> Drive {
        match self.write(io, request) {
            Ok(()) => Drive::Open,
            Err(fault) => self.fail(events, fault),
        }
    }

    /// Writes and reads what can be. `request` is the bytes of the exchange in flight.
    pub fn drive(
        &mut self,
        io: &mut impl Transport,
        request: &[u8],
        buffer: &mut [u8],
        means: Means,
        events: &mut impl Events,
    ) -> Drive {
        if let Err(fault) = self.write(io, request) {
            return self.fail(events, fault);
        }
        let mut allowance = means.allowance;
        loop {
            if self.closing && self.current.is_none() {
                return linger(io, buffer);
            }
            if allowance == 0 {
                return Drive::Paused;
            }
            let room = allowance.min(buffer.len());
            let dropped = match (&self.current, means.discard) {
                (Some(Current { rest: Rest::Length(left), .. }), true) => Some(*left),
                _ => None,
            };
            if let Some(left) = dropped.filter(|left| *left >= WORTH_DISCARDING) {
                match self.discard(io, left.min(allowance as u64), buffer, events) {
                    Ok(Some(bytes)) => {
                        allowance -= bytes.min(allowance);
                        if self.current.is_none() && !self.closing {
                            return Drive::Open;
                        }
                        continue;
                    }
                    Ok(None) => return Drive::Open,
                    Err(fault) => return self.fail(events, fault),
                }
            }
            let read = match io.read(&mut buffer[..room]) {
                Ok(0) => return self.eof(events),
                Ok(n) => n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Drive::Open,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return self.broken(events, &e),
            };
            events.tick();
            let Some(current) = &self.current else {
                // Bytes that answer no request: nothing here can be trusted any more.
                return Drive::Closed;
            };
            let id = current.id;
            match self.take(&buffer[..read], events) {
                Ok(Progress::More) => events.wire(id, read),
                Ok(Progress::Whole(used)) if used == read => {
                    events.wire(id, used);
                    self.finish(events);
                    if !self.closing {
                        return Drive::Open;
                    }
                }
                Ok(Progress::Whole(used)) => {
                    let message = format!("{} bytes after the end of the response", read - used);
                    return self.fail(events, Fault::new(FaultKind::Overlong, message));
                }
                Err(fault) => return self.fail(events, fault),
            }
            allowance -= read.min(allowance);
            if read < room && io.short_read_drains() {
                return Drive::Open;
            }
        }
    }

    fn write(&mut self, io: &mut impl Transport, request: &[u8]) -> Result<(), Fault> {
        let Some(current) = &mut self.current else { return Ok(()) };
        while current.written < request.len() {
            match io.write(&request[current.written..]) {
                Ok(0) => return Err(Fault::new(FaultKind::Reset, "the connection takes no more bytes")),
                Ok(n) => current.written += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // The server may have answered before it closed: what it said is read first.
                Err(e) if e.kind() == ErrorKind::BrokenPipe => break,
                Err(e) => return Err(Fault::new(FaultKind::Reset, format!("while sending: {e}"))),
            }
        }
        Ok(())
    }

    /// Takes in bytes of the response.
    fn take(&mut self, bytes: &[u8], events: &mut impl Events) -> Result<Progress, Fault> {
        let Some(current) = &mut self.current else { return Ok(Progress::Whole(0)) };
        if !current.begun {
            current.begun = true;
            events.first_byte(current.id);
        }
        if !matches!(current.rest, Rest::Head) {
            return current.body(bytes, events);
        }
        if self.partial.is_empty() {
            let mut scanned = 0;
            match heads(current, bytes, &mut scanned, &self.limits, self.informational, events)? {
                Heads::Whole { used } => Ok(after(current.body(&bytes[used..], events)?, used)),
                Heads::More { used } => {
                    self.partial.extend_from_slice(&bytes[used..]);
                    self.scanned = scanned;
                    Ok(Progress::More)
                }
            }
        } else {
            let before = self.partial.len();
            self.partial.extend_from_slice(bytes);
            let whole = heads(current, &self.partial, &mut self.scanned, &self.limits, self.informational, events)?;
            match whole {
                // The head ends in the bytes that came now, for without them it was not whole.
                Heads::Whole { used } => {
                    let used = used.saturating_sub(before);
                    self.partial.clear();
                    Ok(after(current.body(&bytes[used..], events)?, used))
                }
                Heads::More { used } => {
                    self.partial.drain(..used);
                    Ok(Progress::More)
                }
            }
        }
    }

    fn discard(
        &mut self,
        io: &mut impl Transport,
        max: u64,
        scratch: &mut [u8],
        events: &mut impl Events,
    ) -> Result<Option<usize>, Fault> {
        let dropped = match io.discard(max.min(usize::MAX as u64) as usize, scratch) {
            Ok(0) => return Err(Fault::new(FaultKind::Truncated, "closed inside the body")),
            Ok(n) => n,
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(e) if e.kind() == ErrorKind::Interrupted => 0,
            Err(e) => return Err(Fault::new(FaultKind::Reset, format!("inside the body: {e}"))),
        };
        events.tick();
        if let Some(current) = &mut self.current
            && let Rest::Length(left) = &mut current.rest
        {
            *left -= (dropped as u64).min(*left);
            events.wire(current.id, dropped);
            events.discarded(current.id, dropped as u64);
            if *left == 0 {
                self.finish(events);
            }
        }
        Ok(Some(dropped))
    }

    fn finish(&mut self, events: &mut impl Events) {
        if let Some(current) = self.current.take() {
            self.done += 1;
            self.closing = !current.keep;
            events.end(current.id);
        }
    }

    /// The server has closed its side.
    fn eof(&mut self, events: &mut impl Events) -> Drive {
        let Some(current) = &self.current else { return Drive::Closed };
        let (kind, message) = match &current.rest {
            Rest::Close => {
                self.finish(events);
                return Drive::Closed;
            }
            Rest::Head if !current.begun => (FaultKind::EmptyReply, "closed before the first byte".to_owned()),
            Rest::Head => (FaultKind::Truncated, "closed inside the head".to_owned()),
            Rest::Length(left) => (FaultKind::Truncated, format!("closed {left} bytes before the end of the body")),
            Rest::Chunked(_) => (FaultKind::Truncated, "closed before the last chunk".to_owned()),
        };
        self.fail(events, Fault::new(kind, message))
    }

    fn broken(&mut self, events: &mut impl Events, error: &std::io::Error) -> Drive {
        let place = match &self.current {
            None => return Drive::Closed,
            Some(current) if !current.begun => "before the first byte",
            Some(Current { rest: Rest::Head, .. }) => "inside the head",
            Some(_) => "inside the body",
        };
        let kind = match error.kind() {
            ErrorKind::InvalidData => FaultKind::Tls,
            _ => FaultKind::Reset,
        };
        self.fail(events, Fault::new(kind, format!("{place}: {error}")))
    }

    /// Ends the exchange in flight with a fault, and the connection with it.
    fn fail(&mut self, events: &mut impl Events, fault: Fault) -> Drive {
        if let Some(current) = self.current.take() {
            // A server may close a kept connection just when a request is under way (RFC 9112, 9.3.1).
            let closed = matches!(fault.kind, FaultKind::EmptyReply | FaultKind::Reset);
            events.fault(current.id, fault, closed && !current.begun && self.done > 0);
        }
        Drive::Closed
    }
}

/// Where the heads at the begin of some bytes end.
enum Heads {
    /// The final one is whole; the body begins at `used`.
    Whole { used: usize },
    /// It is not; `used` bytes of informational ones are done with.
    More { used: usize },
}

/// Reads informational heads and the final one.
fn heads(
    current: &mut Current,
    bytes: &[u8],
    scanned: &mut usize,
    limits: &HeadLimits,
    informational: u32,
    events: &mut impl Events,
) -> Result<Heads, Fault> {
    let mut used = 0;
    loop {
        let Some(head) = head::parse(&bytes[used..], scanned, limits)? else { return Ok(Heads::More { used }) };
        *scanned = 0;
        let raw = &bytes[used..used + head.bytes];
        used += head.bytes;
        if (100..200).contains(&head.status) && head.status != 101 {
            current.informational += 1;
            if current.informational > informational {
                let message = format!("more than {informational} informational responses");
                return Err(Fault::new(FaultKind::Informational, message));
            }
            continue;
        }
        current.rest = rest(&head, current.head_only);
        current.keep = head.keep && !matches!(current.rest, Rest::Close);
        events.head(current.id, &head, raw)?;
        return Ok(Heads::Whole { used });
    }
}

/// How the body's end is told (RFC 9112, 6.3).
fn rest(head: &Head, head_only: bool) -> Rest {
    if head_only || matches!(head.status, 101 | 204 | 304) {
        Rest::Length(0)
    } else if head.chunked {
        Rest::Chunked(Chunked::default())
    } else if let Some(length) = head.length {
        Rest::Length(length)
    } else {
        Rest::Close
    }
}

/// Counts the bytes before a body to those of it.
fn after(progress: Progress, used: usize) -> Progress {
    match progress {
        Progress::Whole(more) => Progress::Whole(used + more),
        Progress::More => Progress::More,
    }
}

/// Waits for the server to close, as it said it would, so that it is not us who hold the port in TIME_WAIT.
fn linger(io: &mut impl Transport, buffer: &mut [u8]) -> Drive {
    match io.read(buffer) {
        Err(e) if e.kind() == ErrorKind::WouldBlock => Drive::Open,
        _ => Drive::Closed,
    }
}

impl Current {
    fn body(&mut self, bytes: &[u8], events: &mut impl Events) -> Result<Progress, Fault> {
        match &mut self.rest {
            Rest::Head => Ok(Progress::More),
            Rest::Length(left) => {
                let own = (*left).min(bytes.len() as u64) as usize;
                if own > 0 {
                    events.body(self.id, &bytes[..own])?;
                }
                *left -= own as u64;
                Ok(if *left == 0 { Progress::Whole(own) } else { Progress::More })
            }
            Rest::Chunked(chunks) => {
                let step = chunks.feed(bytes, |part| events.body(self.id, part))?;
                Ok(if step.done { Progress::Whole(step.consumed) } else { Progress::More })
            }
            Rest::Close => {
                events.body(self.id, bytes)?;
                Ok(Progress::More)
            }
        }
    }
}
