//! HTTP/2: many exchanges at a time per connection. The `h2` library does frames, header compression and flow control.
//! It is polled here when bytes have arrived, without a runtime, and only streams with news are polled.
//!
//! The bytes of a head are those of its frames, compressed as on the wire.

mod frames;
mod message;
mod pipe;
mod stream;
pub use message::Message;

use std::cell::RefCell;
use std::future::Future;
use std::io::ErrorKind;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use frames::Frames;
use h2::client::{Builder, Connection, SendRequest};
use pipe::{Bell, Flag, Inbox, Pipe, Ready};
use stream::{Failure, Scene, Stream};

use super::{Drive, Events, ExchangeId, Means};
use crate::escape::shown;
use crate::fault::{HttpFault, HttpFaultKind};
use crate::plan::Limits;
use crate::transport::Transport;

/// Flow-control windows in bytes. With the standard's 64 KB the server would wait for us once per round trip, but a
/// generator should measure the server: these windows are in the range of browsers. A body may fill a stream's window
/// while those of others still fit into the connection's window.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;
/// Streams that a connection may open in its life: their numbers are odd and have 31 bits (RFC 9113, 5.1.1).
const MOST_STREAMS: u64 = 1 << 30;

/// The most frames in a row that do not advance a response. Replies that a server owes for what we sent are allowed in
/// addition: one frame per this many bytes.
const FLOOD: u64 = 10_000;
const GRANT: u64 = 64;
/// Frames count as small if their mean size is below this; small frames are read in portions of this many bytes.
const SMALL: usize = 64;
const CRUMBS: usize = 16 << 10;
/// Reading stops at this many unsent bytes and frames in a row that do not advance a response: a server that asks for
/// replies and does not read them fills no memory. A server that reads no request before its response is read still
/// gets read.
const CLOGGED: (usize, u64) = (1 << 20, 100);

/// State that the HTTP/2 connections of one thread share.
#[derive(Clone, Debug)]
pub struct Http2Thread(Rc<RefCell<Inbox>>);

impl Default for Http2Thread {
    fn default() -> Http2Thread {
        Http2Thread(Rc::new(RefCell::new(Inbox::new())))
    }
}

#[derive(Debug)]
struct Slot {
    bell: Bell,
    stream: Option<Stream>,
}

#[derive(Debug)]
pub struct Machine {
    limits: Limits,
    /// The most streams at a time.
    most: usize,
    keepalive: bool,
    inbox: Rc<RefCell<Inbox>>,
    pipe: Rc<RefCell<Pipe>>,
    /// None: it was told to close.
    sender: Option<SendRequest<Bytes>>,
    connection: Connection<pipe::Shared, Bytes>,
    flag: Arc<Flag>,
    waker: Waker,
    ready: Ready,
    woken: Vec<usize>,
    slots: Vec<Slot>,
    /// The number of each slot's stream; 0: vacant.
    ids: Vec<u32>,
    vacant: Vec<usize>,
    latest: usize,
    frames: Frames,
    /// Bytes of the connection itself, to be counted with the next exchange.
    unclaimed: usize,
    /// Sent bytes of the outbox that are counted already.
    sent: usize,
    counted: usize,
    begun: u64,
    done: u64,
    reads: u64,
    received: u64,
    /// Bytes that were sent over the connection.
    written: u64,
    /// The last read had many small frames: the next one is shorter, so that a turn ends in time.
    is_crumbs: bool,
    /// Frames in a row that belong to no response: replies to what we sent, or a flood.
    idle: u64,
    is_over: bool,
    broken: Option<HttpFault>,
    raw: Vec<u8>,
}

impl Machine {
    /// The state of a new connection, for at most this many streams at a time. `keepalive`: more than one request in
    /// all.
    ///
    /// # Errors
    /// The library cannot start.
    pub fn new(
        thread: &Http2Thread,
        limits: &Limits,
        streams: u32,
        keepalive: bool,
    ) -> Result<Machine, HttpFault> {
        let most = streams.max(1) as usize;
        let (pipe, shared) = Pipe::new(&thread.0);
        let (sender, connection) = begin(shared, limits, most)?;
        let flag = Arc::new(Flag::default());
        flag.set();
        let ready = Ready::default();
        let slot = |at| Slot { bell: ready.bell(at), stream: None };
        let slots = (0..most).map(slot).collect();
        Ok(Machine {
            limits: *limits,
            most,
            keepalive,
            inbox: thread.0.clone(),
            pipe,
            sender: Some(sender),
            connection,
            waker: Waker::from(flag.clone()),
            flag,
            ready,
            woken: Vec::with_capacity(most),
            slots,
            ids: vec![0; most],
            vacant: (0..most).rev().collect(),
            latest: 0,
            frames: Frames::default(),
            unclaimed: 0,
            sent: 0,
            counted: 0,
            begun: 0,
            done: 0,
            reads: 0,
            received: 0,
            written: 0,
            is_crumbs: false,
            idle: 0,
            is_over: false,
            broken: None,
            raw: Vec::new(),
        })
    }

    /// Exchanges that may be started now. Until the server has announced its limit, one at a time.
    pub fn capacity(&self) -> usize {
        let Some(sender) = &self.sender else { return 0 };
        if self.is_over || self.broken.is_some() || self.frames.last_stream.is_some() {
            return 0;
        }
        let most = match (self.keepalive, self.frames.settled) {
            (false, _) => return usize::from(self.begun == 0),
            _ if self.begun >= MOST_STREAMS => 0,
            (true, false) => 1,
            (true, true) => self.most.min(sender.current_max_send_streams()),
        };
        most.saturating_sub(self.in_flight())
    }

    /// Whether the server accepts no stream at all, as it announced.
    pub fn is_refused(&self) -> bool {
        let takes_none = self.sender.as_ref().is_some_and(|sender| sender.current_max_send_streams() == 0);
        let is_open = !self.is_over && self.broken.is_none() && self.frames.last_stream.is_none();
        takes_none && is_open && self.keepalive && self.frames.settled && self.in_flight() == 0
    }

    pub fn in_flight(&self) -> usize {
        self.most - self.vacant.len()
    }

    /// Bytes that arrived on the connection.
    pub fn received(&self) -> u64 {
        self.received
    }

    pub fn exchanges(&self) -> impl Iterator<Item = ExchangeId> {
        self.slots.iter().filter_map(|slot| slot.stream.as_ref()).map(|stream| stream.x)
    }

    /// Starts an exchange, if there is capacity; the next drive sends it.
    pub fn start(&mut self, x: ExchangeId, message: &Message, events: &mut impl Events) {
        if let Err(fault) = self.begin(x, message) {
            events.fault(x, fault, true);
        }
    }

    fn begin(&mut self, x: ExchangeId, message: &Message) -> Result<(), HttpFault> {
        let refused = |e: &dyn std::fmt::Display| {
            HttpFault::new(HttpFaultKind::Http2, format!("no stream available: {e}"))
        };
        let mut cx = Context::from_waker(&self.waker);
        let (Some(sender), Some(&at)) = (&mut self.sender, self.vacant.last()) else {
            return Err(refused(&"the connection is closing"));
        };
        if sender.poll_ready(&mut cx).is_pending() {
            // The connection opens streams that were started.
            self.is_over |= Pin::new(&mut self.connection).poll(&mut cx).is_ready();
        }
        match sender.poll_ready(&mut cx) {
            Poll::Ready(ready) => ready.map_err(|e| refused(&e))?,
            Poll::Pending => return Err(refused(&"the server allows no further stream")),
        }
        let is_whole = message.body.is_empty();
        let (response, mut request) =
            sender.send_request(message.head.clone(), is_whole).map_err(|e| refused(&e))?;
        if !is_whole {
            request.send_data(message.body.clone(), true).map_err(|e| refused(&e))?;
        }
        let stream = Stream::new(x, response, request, self.reads);
        self.begun += 1;
        self.vacant.pop();
        self.latest = at;
        self.ids[at] = stream.id;
        self.slots[at].stream = Some(stream);
        self.slots[at].bell.ring();
        Ok(())
    }

    /// Aborts an exchange: the next drive resets its stream. Reports no events.
    pub fn cancel(&mut self, x: ExchangeId) {
        let found = self.slots.iter().position(|slot| slot.stream.as_ref().is_some_and(|s| s.x == x));
        if let Some(at) = found {
            self.release(at);
        }
    }

    fn release(&mut self, at: usize) -> Option<Stream> {
        let stream = self.slots[at].stream.take()?;
        self.ids[at] = 0;
        self.vacant.push(at);
        Some(stream)
    }
}

/// Both halves of the library's client; it writes its preface.
fn begin(
    shared: pipe::Shared,
    limits: &Limits,
    most: usize,
) -> Result<(SendRequest<Bytes>, Connection<pipe::Shared, Bytes>), HttpFault> {
    let mut builder = Builder::new();
    builder
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        // Twice the limit: heads beyond the limit are judged here, because the library does not report their length.
        .max_header_list_size(limits.head_bytes.saturating_mul(2))
        .initial_max_send_streams(most)
        .enable_push(false)
        // A server may send small frames of any size: this must be measurable.
        .data_frame_budget(usize::MAX)
        .max_local_error_reset_streams(None);
    let mut cx = Context::from_waker(Waker::noop());
    match pin!(builder.handshake(shared)).poll(&mut cx) {
        Poll::Ready(Ok(both)) => Ok(both),
        Poll::Ready(Err(e)) => Err(HttpFault::new(HttpFaultKind::Http2, e.to_string())),
        Poll::Pending => Err(HttpFault::new(HttpFaultKind::Http2, "the library did not start")),
    }
}

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

    /// Writes and reads what is possible.
    pub fn drive(&mut self, io: &mut impl Transport, means: Means<'_>, events: &mut impl Events) -> Drive {
        let drive = self.read(io, means, events);
        self.pipe.borrow_mut().is_open = false;
        match drive {
            Drive::Closed => self.end(events),
            open => open,
        }
    }

    fn read(&mut self, io: &mut impl Transport, mut means: Means<'_>, events: &mut impl Events) -> Drive {
        let discard = means.discard.is_some();
        loop {
            self.turn(discard, events);
            self.write(io, events);
            let after = self.after(io, events);
            if after == Drive::Closed {
                return after;
            }
            if self.is_clogged() {
                // The next event reports room to send; until then the server may wait for us.
                return after;
            }
            if means.is_spent() {
                return Drive::Paused;
            }
            let most = if self.is_crumbs { CRUMBS } else { usize::MAX };
            let read = self.inbox.borrow_mut().fill(means.allowance.min(most), |room| io.read(room));
            let (came, room) = match read {
                Ok(read) => read,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return after,
                Err(e) if e.kind() == ErrorKind::Interrupted => {
                    means.spend(0, 0);
                    continue;
                }
                // Streams have their own ends: bytes after all of them are not lost.
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => (0, 0),
                Err(e) => {
                    let kind = if e.kind() == ErrorKind::InvalidData {
                        HttpFaultKind::Tls
                    } else {
                        HttpFaultKind::Reset
                    };
                    self.broken = Some(HttpFault::new(kind, e.to_string()));
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
            let begun = self.frames.begun;
            if !self.look(events) {
                return Drive::Closed;
            }
            self.flag.set();
            let frames = self.frames.begun.wrapping_sub(begun);
            self.is_crumbs = frames.saturating_mul(SMALL) > came;
            means.spend(came, frames);
            if came < room && io.short_read_drains() && !means.ended {
                self.turn(discard, events);
                self.write(io, events);
                return self.after(io, events);
            }
        }
    }

    /// Counts received bytes, and checks that they are HTTP/2.
    fn look(&mut self, events: &mut impl Events) -> bool {
        let inbox = self.inbox.borrow();
        let (slots, ids, unclaimed) = (&mut self.slots, &self.ids, &mut self.unclaimed);
        let idle = &mut self.idle;
        let seen = self.frames.feed(inbox.unread(), |frame| {
            let at = if frame.stream == 0 { None } else { ids.iter().position(|id| *id == frame.stream) };
            let stream = at.and_then(|at| slots[at].stream.as_mut());
            let brings_on = frame.payload() > 0 && (frame.is_data() || frame.is_head());
            *idle = if brings_on && stream.is_some() { 0 } else { *idle + 1 };
            match stream {
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
                format!("the server does not speak HTTP/2: it started with `{}`", shown(inbox.unread()));
            self.broken = Some(HttpFault::new(HttpFaultKind::Http2, message));
        } else if self.idle > FLOOD + self.written / GRANT {
            let message = format!("{} frames in a row that do not advance a response", self.idle);
            self.broken = Some(HttpFault::new(HttpFaultKind::Flood, message));
        }
        self.broken.is_none()
    }

    /// Whether more is to be sent than a server may leave unread.
    fn is_clogged(&self) -> bool {
        let (bytes, frames) = CLOGGED;
        self.idle > frames && self.pipe.borrow().outbox.len() - self.sent > bytes
    }

    /// Lets the library work until it has nothing more to do, and reports the events.
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
                let (fault, untouched) = stream::fault_of(&error, &stream, self.scene(&stream));
                events.fault(stream.x, fault, untouched);
            }
        }
    }

    fn scene(&self, stream: &Stream) -> Scene<'_> {
        Scene {
            last_stream: self.frames.last_stream,
            broken: self.broken.as_ref(),
            // The read that reported the end counts as one.
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
                Ok(n) if n > 0 => {
                    self.sent += n;
                    self.written += n as u64;
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // The server may have said why before it closed: that is read first.
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
            // Without a sender, the library sends GOAWAY.
            self.sender = None;
            self.flag.set();
            self.turn(false, events);
            self.write(io, events);
            return Drive::Closed;
        }
        if self.frames.last_stream.is_some() { Drive::Lingering } else { Drive::Open }
    }

    /// Ends the exchanges in flight on a connection that is over.
    fn end(&mut self, events: &mut impl Events) -> Drive {
        self.turn(false, events);
        for at in 0..self.slots.len() {
            let Some(stream) = self.release(at) else { continue };
            let (fault, untouched) = match &self.broken {
                Some(broken) => (broken.clone(), false),
                None => stream::closed(&stream, self.scene(&stream).is_stale),
            };
            events.fault(stream.x, fault, untouched);
        }
        Drive::Closed
    }
}
