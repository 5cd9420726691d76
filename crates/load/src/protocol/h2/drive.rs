//! A connection at work: bytes go between its transport and the library, and what comes of them is told.

use std::future::Future;
use std::io::ErrorKind;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Machine;
use super::fault::{self, Scene};
use super::stream::{self, Failure, Stream};
use crate::escape::shown;
use crate::fault::{Fault, FaultKind};
use crate::protocol::{Drive, Events, Means};
use crate::transport::Transport;

impl Machine {
    /// Sends what was started, and reads nothing.
    pub fn flush(&mut self, io: &mut impl Transport, events: &mut impl Events) -> Drive {
        self.turn(false, events);
        self.write(io, events);
        match self.after(io, events) {
            Drive::Closed => self.end(events),
            open => open,
        }
    }

    /// Writes and reads what can be.
    pub fn drive(&mut self, io: &mut impl Transport, means: &Means<'_>, events: &mut impl Events) -> Drive {
        let drive = self.read(io, means, events);
        self.pipe.borrow_mut().is_open = false;
        match drive {
            Drive::Closed => self.end(events),
            open => open,
        }
    }

    fn read(&mut self, io: &mut impl Transport, means: &Means<'_>, events: &mut impl Events) -> Drive {
        let mut allowance = means.allowance;
        let discard = means.discard.is_some();
        loop {
            self.turn(discard, events);
            self.write(io, events);
            let after = self.after(io, events);
            if after == Drive::Closed {
                return after;
            }
            if allowance == 0 {
                return Drive::Paused;
            }
            let read = self.inbox.borrow_mut().fill(allowance, |room| io.read(room));
            let (came, room) = match read {
                Ok(read) => read,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return after,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                // Streams have ends of their own: what came after none of them is no loss.
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => (0, 0),
                Err(e) => {
                    let kind =
                        if e.kind() == ErrorKind::InvalidData { FaultKind::Tls } else { FaultKind::Reset };
                    self.broken = Some(Fault::new(kind, e.to_string()));
                    return Drive::Closed;
                }
            };
            events.tick();
            self.reads += 1;
            self.received += came as u64;
            if came == 0 {
                self.pipe.borrow_mut().is_over = true;
                self.flag.set();
                self.turn(discard, events);
                return Drive::Closed;
            }
            self.pipe.borrow_mut().is_open = true;
            if !self.look(events) {
                return Drive::Closed;
            }
            self.flag.set();
            allowance -= came.min(allowance);
            if came < room && io.short_read_drains() && !means.ended {
                self.turn(discard, events);
                self.write(io, events);
                return self.after(io, events);
            }
        }
    }

    /// Counts what came, and looks whether it is HTTP/2.
    fn look(&mut self, events: &mut impl Events) -> bool {
        let inbox = self.inbox.borrow();
        let (slots, ids, unclaimed) = (&mut self.slots, &self.ids, &mut self.unclaimed);
        let seen = self.frames.feed(inbox.unread(), |frame| {
            let at = if frame.stream == 0 { None } else { ids.iter().position(|id| *id == frame.stream) };
            match at.and_then(|at| slots[at].stream.as_mut()) {
                None => *unclaimed += frame.bytes,
                Some(stream) => {
                    events.wire(stream.x, frame.bytes);
                    if frame.is_data() {
                        stream.data += frame.payload() as u64;
                    } else if frame.is_head() && !stream.has_head {
                        stream.head_bytes += frame.bytes;
                    }
                }
            }
        });
        if seen.is_err() {
            let message =
                format!("the server does not speak HTTP/2: it began with `{}`", shown(inbox.unread()));
            self.broken = Some(Fault::new(FaultKind::Http2, message));
        }
        seen.is_ok()
    }

    /// Lets the library go on until it has nothing more to do, and tells of what came of it.
    fn turn(&mut self, discard: bool, events: &mut impl Events) {
        loop {
            if self.flag.take() && !self.is_over {
                let mut cx = Context::from_waker(&self.waker);
                self.is_over = Pin::new(&mut self.connection).poll(&mut cx).is_ready();
            }
            let mut woken = std::mem::take(&mut self.woken);
            self.ready.take(&mut woken);
            let quiet = woken.is_empty();
            for at in woken.drain(..) {
                self.poll(at, discard, events);
            }
            self.woken = woken;
            if quiet && (self.is_over || !self.flag.is_set()) {
                return;
            }
        }
    }

    fn poll(&mut self, at: usize, discard: bool, events: &mut impl Events) {
        let slot = &mut self.slots[at];
        slot.bell.answered();
        let Some(stream) = &mut slot.stream else { return };
        if self.unclaimed > 0 {
            events.wire(stream.x, std::mem::take(&mut self.unclaimed));
        }
        let mut cx = Context::from_waker(&slot.bell.waker);
        let means = stream::Means { limits: &self.limits, discard, raw: &mut self.raw };
        let Poll::Ready(result) = stream.poll(&mut cx, means, events) else { return };
        let Some(stream) = self.release(at) else { return };
        match result {
            Ok(()) => {
                self.done += 1;
                events.end(stream.x);
            }
            Err(Failure::Own(fault)) => events.fault(stream.x, fault, false),
            Err(Failure::Library(error)) => {
                let (fault, untouched) = fault::of(&error, &stream, self.scene(&stream));
                events.fault(stream.x, fault, untouched);
            }
        }
    }

    fn scene(&self, stream: &Stream) -> Scene<'_> {
        Scene {
            last_stream: self.frames.last_stream,
            broken: self.broken.as_ref(),
            // The read that told of the end counts as one.
            is_stale: self.done > 0 && stream.reads + 1 >= self.reads,
        }
    }

    fn write(&mut self, io: &mut impl Transport, events: &mut impl Events) {
        let mut pipe = self.pipe.borrow_mut();
        let fresh = pipe.outbox.len() - self.counted;
        let mut streams = self.slots.iter().filter_map(|slot| slot.stream.as_ref());
        let latest = self.slots[self.latest].stream.as_ref();
        if let Some(stream) = latest.or_else(|| streams.next()).filter(|_| fresh > 0) {
            events.sent(stream.x, fresh);
            self.counted += fresh;
        }
        while self.sent < pipe.outbox.len() {
            match io.write(&pipe.outbox[self.sent..]) {
                Ok(n) if n > 0 => self.sent += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // The server may have said why before it closed: what it said is read first.
                _ => break,
            }
        }
        pipe.outbox.clear();
        (self.sent, self.counted) = (0, 0);
    }

    /// Whether the connection goes on.
    fn after(&mut self, io: &mut impl Transport, events: &mut impl Events) -> Drive {
        if self.is_over || self.broken.is_some() {
            return Drive::Closed;
        }
        let is_last = !self.keepalive && self.begun > 0;
        if self.in_flight() == 0 && (is_last || self.frames.last_stream.is_some()) {
            // Without a sender the library says goodbye.
            self.sender = None;
            self.flag.set();
            self.turn(false, events);
            self.write(io, events);
            return Drive::Closed;
        }
        if self.frames.last_stream.is_some() { Drive::Lingering } else { Drive::Open }
    }

    /// Ends what is in flight on a connection that is over.
    fn end(&mut self, events: &mut impl Events) -> Drive {
        self.turn(false, events);
        for at in 0..self.slots.len() {
            let Some(stream) = self.release(at) else { continue };
            let (fault, untouched) = match &self.broken {
                Some(broken) => (broken.clone(), false),
                None => fault::closed(&stream, self.scene(&stream).is_stale),
            };
            events.fault(stream.x, fault, untouched);
        }
        Drive::Closed
    }
}
