//! One thread: a poll, its connections, and the loop that keeps them busy.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use mio::event::Event;
use mio::{Events, Poll, Token};

use super::clock::{Clock, Timer};
use super::conn::{Conn, State};
use super::exchange::Ended;
use super::prepared::Arsenal;
use super::progress::Window;
use super::sink::Sink;
use super::stream_part::StreamPart;
use crate::Nanos;
use crate::plan::{Check, LoadPlan};
use crate::protocol::h2::Http2Thread;
use crate::protocol::{Drive, ExchangeId, Machine, Means};
use crate::transport::Transport;
use crate::transport::tls::TlsThread;

const TIMER: Token = Token(usize::MAX);
/// How often limits are checked while requests are in flight.
const TICK: Nanos = 50_000_000;
/// Size of the read buffer: large reads cost least, and it fits into a core's own cache with the rest.
const BUFFER: usize = 256 << 10;
/// Bytes that a connection reads before others have their turn, and before limits and the end are checked.
const TURN: usize = 1 << 20;
/// The most bytes to discard at a time.
const SCRATCH: usize = 4 << 20;

/// State that the threads of a run share.
#[derive(Debug)]
pub struct Shared<'a> {
    pub clock: Clock,
    /// Requests that may still be sent.
    pub tickets: Option<AtomicI64>,
    /// Set when no further request may be sent.
    pub stop: &'a AtomicBool,
}

impl Shared<'_> {
    /// Takes one from the number of requests that may be sent; false: there is none.
    pub fn take_ticket(&self) -> bool {
        self.tickets.as_ref().is_none_or(|left| left.fetch_sub(1, Ordering::Relaxed) > 0)
    }

    /// Whether all planned requests have been sent.
    pub fn is_sold_out(&self) -> bool {
        self.tickets.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) <= 0)
    }
}

pub struct Thread<'a> {
    pub(super) plan: &'a LoadPlan,
    pub(super) arsenal: &'a Arsenal,
    pub(super) shared: &'a Shared<'a>,
    pub(super) poll: Poll,
    timer: Timer,
    pub(super) conns: Vec<Option<Conn>>,
    pub(super) vacant: Vec<usize>,
    pub(super) parts: Vec<StreamPart<'a>>,
    pub(super) sink: Sink,
    /// For connections with TLS, if there are any.
    pub(super) tls: Option<TlsThread>,
    pub(super) http2: Http2Thread,
    /// Connections with exchanges that are not sent yet.
    pub(super) unsent: Vec<usize>,
    pub(super) buffer: Vec<u8>,
    /// Memory that is never written, see [`crate::protocol::Means::discard`].
    pub(super) scratch: Vec<u8>,
    /// Connections that have used up their turn.
    hungry: Vec<usize>,
    pub(super) paced: BinaryHeap<Reverse<(Nanos, usize)>>,
    pub(super) is_sending: bool,
    pub(super) until: Nanos,
    /// When requests in flight are aborted; set when sending ends.
    pub(super) drained_by: Nanos,
    ticked: Nanos,
    window: &'a Window,
}

impl<'a> Thread<'a> {
    /// A new engine for a thread.
    ///
    /// # Errors
    /// The system has no poll or timer left.
    pub fn new(
        plan: &'a LoadPlan,
        arsenal: &'a Arsenal,
        shared: &'a Shared<'a>,
        parts: Vec<StreamPart<'a>>,
        sink: Sink,
        window: &'a Window,
    ) -> io::Result<Thread<'a>> {
        let poll = Poll::new()?;
        let timer = Timer::new(poll.registry(), TIMER)?;
        let until = plan.length.seconds.map_or(Nanos::MAX, |s| (s * 1e9) as Nanos);
        Ok(Thread {
            plan,
            arsenal,
            shared,
            poll,
            timer,
            conns: Vec::new(),
            vacant: Vec::new(),
            parts,
            sink,
            tls: arsenal.tls.as_ref().map(|config| TlsThread::new(config, plan.tls.resumption)),
            http2: Http2Thread::default(),
            unsent: Vec::new(),
            buffer: vec![0; BUFFER],
            scratch: vec![0; SCRATCH],
            hungry: Vec::new(),
            paced: BinaryHeap::new(),
            is_sending: true,
            until,
            drained_by: Nanos::MAX,
            ticked: 0,
            window,
        })
    }

    /// Sends until the end, and returns the counts.
    ///
    /// # Errors
    /// The system's poll failed.
    pub fn run(mut self) -> io::Result<Sink> {
        let mut events = Events::with_capacity(1024);
        for stream in 0..self.parts.len() {
            self.pump(stream as u16)?;
        }
        loop {
            let now = self.shared.clock.now();
            self.look_at_time(now)?;
            if !self.is_sending && self.sink.in_flight() == 0 {
                break;
            }
            let timeout = if self.hungry.is_empty() { self.wait(now)? } else { Some(Duration::ZERO) };
            match self.poll.poll(&mut events, timeout) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            }
            for event in &events {
                if event.token() != TIMER {
                    self.happened(event)?;
                    self.glance()?;
                }
            }
            self.go_on()?;
            self.read_on()?;
            for stream in 0..self.parts.len() {
                if self.parts[stream].wake.is_some() {
                    self.pump(stream as u16)?;
                }
            }
            self.send_off()?;
        }
        self.window.publish(&self.sink.recorder);
        Ok(self.sink)
    }

    /// How long the poll may wait; the timer is set for what is due, with microsecond precision.
    fn wait(&mut self, now: Nanos) -> io::Result<Option<Duration>> {
        let schedules = self.parts.iter().filter_map(|p| p.wake).filter(|_| self.is_sending).min();
        let reads = self.paced.peek().map(|Reverse((at, _))| *at);
        let exact = [schedules, reads].into_iter().flatten().min();
        let coarse = self.until.min(now + TICK).max(now);
        if let Some(at) = exact.filter(|at| *at < coarse + TICK) {
            self.timer.arm(at, now)?;
        }
        Ok(Some(Duration::from_nanos(coarse - now)))
    }

    /// Checks the time if a tick has passed since, by the clock of the last read.
    fn glance(&mut self) -> io::Result<()> {
        let now = self.sink.now();
        if now >= self.ticked + TICK { self.look_at_time(now) } else { Ok(()) }
    }

    /// Lets connections that have used up their turn read on, each once.
    fn go_on(&mut self) -> io::Result<()> {
        for token in std::mem::take(&mut self.hungry) {
            let conn = self.conns.get_mut(token).and_then(Option::as_mut);
            if conn.is_some_and(|conn| std::mem::take(&mut conn.is_hungry)) {
                self.drive(token)?;
                self.glance()?;
            }
        }
        Ok(())
    }

    /// Ends exchanges and connections that exceed a time limit, at intervals.
    fn look_at_time(&mut self, now: Nanos) -> io::Result<()> {
        let is_asked = self.shared.stop.load(Ordering::Relaxed);
        let is_over = self.parts.iter().all(|p| p.is_over);
        if self.is_sending && (now >= self.until || is_asked || is_over) {
            self.stop_sending(now);
        }
        if now >= self.ticked + TICK || now >= self.drained_by {
            self.ticked = now;
            self.expire(now)?;
            self.sink.collect();
            self.window.publish_now_and_then(&self.sink.recorder, now);
        }
        Ok(())
    }

    /// Handles an event of a connection.
    fn happened(&mut self, event: &Event) -> io::Result<()> {
        let token = event.token().0;
        let Some(conn) = self.conns.get_mut(token).and_then(Option::as_mut) else { return Ok(()) };
        conn.ended |= event.is_read_closed() || event.is_error();
        let was_connecting = matches!(conn.state, State::Connecting(_));
        if was_connecting && !(event.is_writable() || conn.ended) {
            return Ok(());
        }
        if !(event.is_readable() || conn.ended || conn.awaits_room()) {
            return Ok(());
        }
        self.drive(token)?;
        if was_connecting && event.is_readable() {
            // The server sent first: no further event reports what it sent.
            self.drive(token)?;
        }
        Ok(())
    }

    /// Handles exchanges that have ended. The next requests are sent after all events: reading many and then sending
    /// many costs less than alternating.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        while let Some(ended) = self.sink.ended.pop() {
            match ended {
                Ended::Over(stream) => {
                    let now = self.shared.clock.now();
                    let part = &mut self.parts[stream as usize];
                    part.schedule.ended(now);
                    part.free_since.get_or_insert(now);
                    part.wake = Some(now);
                }
                Ended::Again(x) => self.send_again(x)?,
            }
        }
        Ok(())
    }

    /// Lets slow readers continue when their time has come.
    fn read_on(&mut self) -> io::Result<()> {
        while let Some(Reverse((at, token))) = self.paced.peek().copied() {
            if at > self.shared.clock.now() {
                break;
            }
            self.paced.pop();
            let conn = self.conns.get(token).and_then(Option::as_ref);
            // Another connection may have taken its place, and waits for its own event.
            if conn.is_some_and(|c| matches!(c.state, State::Open | State::Lingering)) {
                self.drive(token)?;
            }
        }
        Ok(())
    }

    pub(super) fn close(&mut self, token: usize) {
        if let Some(conn) = self.conns[token].take() {
            if conn.state != State::Lingering {
                self.parts[conn.stream as usize].lost(conn.endpoint, token);
            }
            self.vacant.push(token);
        }
    }
}

impl Thread<'_> {
    pub(super) fn drive(&mut self, token: usize) -> io::Result<()> {
        let Some(conn) = self.conns.get_mut(token).and_then(Option::as_mut) else { return Ok(()) };
        match conn.state {
            State::Connecting(_) => return self.establish(token),
            State::Securing(..) => return self.secure(token),
            State::Open | State::Lingering => {}
        }
        let stream = conn.stream;
        let abandons = self.parts[stream as usize].stream.abandon_after.is_some();
        let discards = self.plan.check == Check::Discard && !abandons;
        let exchange = conn.machine.in_flight();
        let request: &[u8] = match exchange {
            Some(x) => &self.arsenal.requests[self.sink.get(x).request as usize].bytes,
            None => &[],
        };
        let before = received(conn, exchange, &self.sink);
        let allowance = match &mut conn.pace {
            Some(pace) => pace.allowance(self.shared.clock.now()),
            None => usize::MAX,
        };
        let discard = discards.then_some(self.scratch.as_mut_slice());
        let means = Means { buffer: &mut self.buffer, allowance, turn: TURN, discard, ended: conn.ended };
        let drive = conn.machine.drive(&mut conn.io, request, means, &mut self.sink);
        let after = received(conn, exchange, &self.sink);
        let until = conn.pace.as_mut().and_then(|pace| {
            pace.spend(after.saturating_sub(before));
            let now = self.shared.clock.now();
            (pace.allowance(now) == 0).then(|| pace.next(now))
        });
        match (drive, until) {
            (Drive::Paused, Some(at)) => self.paced.push(Reverse((at, token))),
            (Drive::Paused, None) if !std::mem::replace(&mut conn.is_hungry, true) => self.hungry.push(token),
            _ => {}
        }
        self.driven(token, drive, exchange.is_none())
    }

    /// Updates the state of a connection after it was driven.
    fn driven(&mut self, token: usize, drive: Drive, was_idle: bool) -> io::Result<()> {
        let Some(conn) = self.conns[token].as_mut() else { return self.settle() };
        let (stream, endpoint) = (conn.stream, conn.endpoint);
        let is_lost = conn.state == State::Lingering;
        let has_ended = !was_idle && conn.machine.in_flight().is_none();
        match drive {
            Drive::Closed => self.close(token),
            Drive::Lingering if !is_lost => {
                conn.state = State::Lingering;
                conn.listed = 0;
                self.parts[stream as usize].lost(endpoint, token);
                // Requests that are to be sent again have room now.
                self.settle()?;
                self.pump(stream)?;
            }
            Drive::Open if has_ended && !self.parts[stream as usize].stream.keepalive => {
                // It was asked to close but does not.
                self.close(token);
            }
            Drive::Open | Drive::Paused if !is_lost => {
                let has_more_room = self.offer(token);
                self.settle()?;
                if has_more_room {
                    // There may be room without an end: the server has announced its limit.
                    self.pump(stream)?;
                }
            }
            Drive::Open | Drive::Paused | Drive::Lingering => {}
        }
        self.settle()
    }

    /// Adds a connection to the idle ones, once for each exchange that may be started on it; returns whether there are
    /// more.
    pub(super) fn offer(&mut self, token: usize) -> bool {
        let Some(conn) = self.conns[token].as_mut() else { return false };
        let idle = &mut self.parts[conn.stream as usize].idle[conn.endpoint as usize];
        let more = conn.machine.capacity().saturating_sub(conn.listed);
        idle.extend(std::iter::repeat_n(token, more));
        conn.listed += more;
        more > 0
    }

    /// Sends the requests that connections have gathered.
    pub(super) fn send_off(&mut self) -> io::Result<()> {
        while let Some(token) = self.unsent.pop() {
            let Some(conn) = self.conns[token].as_mut().filter(|c| c.is_unsent) else { continue };
            conn.is_unsent = false;
            let drive = conn.machine.flush(&mut conn.io, &mut self.sink);
            let is_drained = conn.io.short_read_drains();
            self.driven(token, drive, false)?;
            if !is_drained {
                self.drive(token)?;
                self.glance()?;
            }
        }
        Ok(())
    }

    /// Notes that a connection has something to send.
    pub(super) fn gather(&mut self, token: usize) {
        let Some(conn) = self.conns[token].as_mut() else { return };
        if conn.machine.gathers() && !std::mem::replace(&mut conn.is_unsent, true) {
            self.unsent.push(token);
        }
    }
}

/// Bytes that count towards a slow reader's rate: only those of bodies, if the protocol distinguishes them.
fn received(conn: &Conn, exchange: Option<ExchangeId>, sink: &Sink) -> u64 {
    match (&conn.machine, exchange) {
        _ if conn.pace.is_none() => 0,
        (Machine::Http2(machine), _) => machine.received(),
        (Machine::Http1(_), x) => x.map_or(0, |x| sink.body_bytes(x)),
    }
}
