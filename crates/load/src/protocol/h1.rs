//! HTTP/1: one exchange at a time per connection. Requests are not pipelined: many servers and proxies lose pipelined
//! requests.

pub mod chunked;
mod exchange;
pub mod head;

use std::io::{self, ErrorKind};

use exchange::{Current, Heads, Progress, Rest};
use head::HeadLimits;

use super::{Drive, Events, ExchangeId, Means};
use crate::fault::{HttpFault, HttpFaultKind};
use crate::plan::Limits;
use crate::transport::Transport;

/// Unverified bodies with at least this many remaining bytes are discarded by the kernel; for fewer bytes, a read is
/// equally cheap.
const WORTH_DISCARDING: u64 = 8 << 10;
/// With at least this many remaining bytes of a body that is discarded, an event waits for many bytes: two calls that
/// set this are cheaper than a wake-up for each part. A body that is verified would have left the processor's cache by
/// then.
const WORTH_AWAITING: u64 = 64 << 10;
/// The bytes that an event waits for.
const AWAITED: u64 = 1 << 20;
/// If bodies are discarded, the size of the first read: a head, and little of the body that would be copied for
/// nothing.
const HEAD_ALONE: usize = 4 << 10;

#[derive(Debug)]
pub struct Machine {
    limits: HeadLimits,
    informational: u32,
    current: Option<Current>,
    /// A head that arrived in parts.
    partial: Vec<u8>,
    /// How far that head was searched for its end.
    scanned: usize,
    /// Successful exchanges on this connection.
    done: u64,
    /// No further exchange may be started: the client asked for close, or the server announced it.
    closing: bool,
    /// The response arrived before the request was sent: its rest would be taken for the start of the next response.
    half_sent: bool,
}

/// The outcome of one read.
enum Step {
    /// This many bytes were read; there may be more.
    Read(usize),
    /// This many bytes were read; an event will report more.
    Enough(usize),
    /// There are no bytes for now.
    Blocked,
    /// The connection has reached this state.
    End(Drive),
}

impl Machine {
    /// The state of a new connection.
    pub fn new(limits: &Limits) -> Machine {
        Machine {
            limits: HeadLimits { bytes: limits.head_bytes, fields: limits.head_fields },
            informational: limits.informational,
            current: None,
            partial: Vec::new(),
            scanned: 0,
            done: 0,
            closing: false,
            half_sent: false,
        }
    }

    /// Whether a request may be started.
    pub fn is_free(&self) -> bool {
        self.current.is_none() && !self.closing
    }

    /// Starts an exchange; the next send or drive writes it.
    pub fn start(&mut self, id: ExchangeId, head_only: bool) {
        debug_assert!(self.is_free());
        self.current = Some(Current::new(id, head_only));
        self.partial.clear();
        self.scanned = 0;
    }

    pub fn in_flight(&self) -> Option<ExchangeId> {
        self.current.as_ref().map(|c| c.id)
    }

    /// Writes the started request as far as possible.
    pub fn send(&mut self, io: &mut impl Transport, request: &[u8], events: &mut impl Events) -> Drive {
        match self.write(io, request) {
            Ok(()) => Drive::Open,
            Err(fault) => self.fail(events, fault),
        }
    }

    /// Writes and reads what is possible. `request` is the bytes of the exchange in flight.
    pub fn drive(
        &mut self,
        io: &mut impl Transport,
        request: &[u8],
        mut means: Means<'_>,
        events: &mut impl Events,
    ) -> Drive {
        if let Err(fault) = self.write(io, request) {
            return self.fail(events, fault);
        }
        // A slow reader reads bytes as they arrive.
        let gathers = means.discard.is_some() && means.allowance == usize::MAX;
        loop {
            if self.current.is_none() && self.closing {
                // If the server has closed its side, there is nothing to wait for.
                let is_done = self.half_sent || means.ended;
                return if is_done { Drive::Closed } else { linger(io, means.buffer) };
            }
            if means.is_spent() {
                return Drive::Paused;
            }
            let droppable = self.left().filter(|left| *left >= WORTH_DISCARDING);
            let drops = droppable.is_some() && means.discard.is_some();
            let begun = self.chunks();
            let step = match (droppable, &mut means.discard) {
                (Some(left), Some(scratch)) => {
                    self.discard(io, left.min(means.allowance as u64), scratch, events)
                }
                (None, Some(_)) if self.awaits_head() => {
                    self.read(io, means.buffer, means.allowance.min(HEAD_ALONE), events)
                }
                _ => self.read(io, means.buffer, means.allowance, events),
            };
            match step {
                Step::Read(bytes) if drops => means.drop(bytes),
                Step::Read(bytes) => means.spend(bytes, self.chunks().wrapping_sub(begun)),
                Step::Enough(bytes) if means.ended => means.spend(bytes, 0),
                Step::Enough(_) | Step::Blocked if self.current.is_none() && self.closing => {}
                Step::Enough(_) | Step::Blocked => {
                    let left = self.left().filter(|left| gathers && *left >= WORTH_AWAITING);
                    io.await_bytes(left.map_or(1, |left| left.min(AWAITED) as usize));
                    return Drive::Open;
                }
                Step::End(drive) => return drive,
            }
        }
    }

    fn write(&mut self, io: &mut impl Transport, request: &[u8]) -> Result<(), HttpFault> {
        self.current.as_mut().map_or(Ok(()), |current| current.write(io, request))
    }

    /// Remaining bytes of the body, if their number is known.
    fn left(&self) -> Option<u64> {
        match &self.current {
            Some(Current { rest: Rest::Length(left), .. }) => Some(*left),
            _ => None,
        }
    }

    fn chunks(&self) -> usize {
        self.current.as_ref().map_or(0, Current::chunks)
    }

    /// Whether a part of a request waits for room in the socket.
    pub fn is_sending(&self) -> bool {
        self.current.as_ref().is_some_and(|current| !current.is_sent)
    }

    fn awaits_head(&self) -> bool {
        matches!(self.current, Some(Current { rest: Rest::Head, .. }))
    }

    fn read(
        &mut self,
        io: &mut impl Transport,
        buffer: &mut [u8],
        allowance: usize,
        events: &mut impl Events,
    ) -> Step {
        let room = allowance.min(buffer.len());
        let read = match self.came(io.read(&mut buffer[..room]), events) {
            Ok(read) => read,
            Err(step) => return step,
        };
        // Bytes that do not belong to a request: the connection can no longer be trusted.
        let Some(id) = self.in_flight() else { return Step::End(Drive::Closed) };
        events.wire(id, read);
        match self.take(&buffer[..read], events) {
            Ok(Progress::More) => {}
            Ok(Progress::Whole(used)) => {
                if used < read {
                    let message = format!("{} bytes after the end of the response", read - used);
                    return Step::End(self.fail(events, HttpFault::new(HttpFaultKind::Overlong, message)));
                }
                self.finish(events);
                return Step::Enough(used);
            }
            Err(fault) => return Step::End(self.fail(events, fault)),
        }
        if read < room && io.short_read_drains() { Step::Enough(read) } else { Step::Read(read) }
    }

    fn take(&mut self, bytes: &[u8], events: &mut impl Events) -> Result<Progress, HttpFault> {
        let Some(current) = &mut self.current else { return Ok(Progress::Whole(0)) };
        if !current.begun {
            current.begun = true;
            events.first_byte(current.id);
        }
        if !matches!(current.rest, Rest::Head) {
            return current.body(bytes, events);
        }
        let before = self.partial.len();
        if before == 0 {
            let mut scanned = 0;
            return match current.heads(bytes, &mut scanned, &self.limits, self.informational, events)? {
                Heads::Whole { used } => Ok(current.body(&bytes[used..], events)?.after(used)),
                Heads::More { used } => {
                    self.partial.extend_from_slice(&bytes[used..]);
                    self.scanned = scanned;
                    Ok(Progress::More)
                }
            };
        }
        self.partial.extend_from_slice(bytes);
        match current.heads(&self.partial, &mut self.scanned, &self.limits, self.informational, events)? {
            // The head ends in the new bytes, because it was incomplete before.
            Heads::Whole { used } => {
                let used = used.saturating_sub(before);
                self.partial.clear();
                Ok(current.body(&bytes[used..], events)?.after(used))
            }
            Heads::More { used } => {
                self.partial.drain(..used);
                Ok(Progress::More)
            }
        }
    }

    fn discard(
        &mut self,
        io: &mut impl Transport,
        most: u64,
        scratch: &mut [u8],
        events: &mut impl Events,
    ) -> Step {
        let room = usize::try_from(most).unwrap_or(usize::MAX).min(scratch.len());
        let dropped = match self.came(io.discard(room, scratch), events) {
            Ok(dropped) => dropped,
            Err(step) => return step,
        };
        let Some(current) = &mut self.current else { return Step::Enough(dropped) };
        events.wire(current.id, dropped);
        events.discarded(current.id, dropped as u64);
        if current.rest.shorten(dropped as u64) {
            self.finish(events);
            return Step::Enough(dropped);
        }
        if dropped < room && io.short_read_drains() { Step::Enough(dropped) } else { Step::Read(dropped) }
    }
}

impl Machine {
    /// The bytes that arrived (at least one), or the step if there are none.
    fn came(&mut self, read: io::Result<usize>, events: &mut impl Events) -> Result<usize, Step> {
        match read {
            Ok(0) => Err(Step::End(self.eof(events))),
            Ok(n) => {
                events.tick();
                Ok(n)
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => Err(Step::Blocked),
            Err(e) if e.kind() == ErrorKind::Interrupted => Err(Step::Read(0)),
            Err(e) => Err(Step::End(self.broken(events, &e))),
        }
    }

    pub(super) fn finish(&mut self, events: &mut impl Events) {
        if let Some(current) = self.current.take() {
            self.done += 1;
            self.half_sent = !current.is_sent;
            self.closing = !current.keep || self.half_sent;
            events.end(current.id);
        }
    }

    /// The server has closed its side.
    pub(super) fn eof(&mut self, events: &mut impl Events) -> Drive {
        match &self.current {
            None => Drive::Closed,
            Some(Current { rest: Rest::Close, .. }) => {
                self.finish(events);
                Drive::Closed
            }
            Some(current) => {
                let fault = current.cut_short();
                self.fail(events, fault)
            }
        }
    }

    pub(super) fn broken(&mut self, events: &mut impl Events, error: &io::Error) -> Drive {
        let Some(current) = &self.current else { return Drive::Closed };
        // With these kinds a transport reports that its own protocol was violated, or ended without its closing
        // message. Then an end that only the close marks cannot be trusted; any other end needs no closing message.
        let kind = match error.kind() {
            ErrorKind::InvalidData => HttpFaultKind::Tls,
            ErrorKind::UnexpectedEof if matches!(current.rest, Rest::Close) => HttpFaultKind::Tls,
            ErrorKind::UnexpectedEof => return self.eof(events),
            _ => HttpFaultKind::Reset,
        };
        let message = format!("{}: {error}", current.place());
        self.fail(events, HttpFault::new(kind, message))
    }

    /// Ends the exchange in flight with a failure, and the connection with it.
    pub(super) fn fail(&mut self, events: &mut impl Events, fault: HttpFault) -> Drive {
        if let Some(current) = self.current.take() {
            // A server may close a kept connection just when a request is on its way (RFC 9112, 9.3.1).
            let closed = matches!(fault.kind, HttpFaultKind::EmptyReply | HttpFaultKind::Reset);
            events.fault(current.id, fault, closed && !current.begun && self.done > 0);
        }
        Drive::Closed
    }
}

/// Waits for the server to close, as it announced, so that the port in TIME_WAIT is the server's and not ours.
pub(super) fn linger(io: &mut impl Transport, buffer: &mut [u8]) -> Drive {
    match io.read(buffer) {
        Err(e) if e.kind() == ErrorKind::WouldBlock => Drive::Lingering,
        _ => Drive::Closed,
    }
}

#[cfg(test)]
mod tests;
