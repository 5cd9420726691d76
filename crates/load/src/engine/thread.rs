//! One thread: a poll, its connections, and the loop that keeps them busy.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

use mio::event::Event;
use mio::{Events, Poll, Token};

use super::clock::{Clock, Timer};
use super::conn::{Conn, State};
use super::exchange::Ended;
use super::gather::{self, Gather};
use super::part::Part;
use super::prepared::Arsenal;
use super::progress::Window;
use super::sink::Sink;
use crate::Nanos;
use crate::aligned::Aligned;
use crate::plan::LoadPlan;
use crate::protocol::h2::Http2Thread;
use crate::transport::tls::TlsThread;

/// The poll's name for the timer.
const TIMER: Token = Token(usize::MAX);
/// How often limits are looked at while requests are in flight.
const TICK: Nanos = 50_000_000;
/// Bytes of the read buffer: large reads cost least, and it fits into a core's own cache beside the rest.
const BUFFER: usize = 256 << 10;
/// The most that is dropped at a time.
const SCRATCH: usize = 4 << 20;

/// What the threads of a run share.
#[derive(Debug)]
pub struct Shared {
    /// When the run began.
    pub clock: Clock,
    /// Requests that may still be sent.
    pub tickets: Option<AtomicI64>,
    /// How the run is to be ended: [`GO_ON`], [`DRAIN`].
    pub order: AtomicU32,
}

impl Shared {
    /// Whether one more request may be sent; it is counted.
    pub fn take_ticket(&self) -> bool {
        self.tickets.as_ref().is_none_or(|left| left.fetch_sub(1, Ordering::Relaxed) > 0)
    }

    /// Whether all requests that were asked for have been sent.
    pub fn is_sold_out(&self) -> bool {
        self.tickets.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) <= 0)
    }
}

/// Requests are sent.
pub const GO_ON: u32 = 0;
/// No further one is.
pub const DRAIN: u32 = 1;

/// One thread's engine.
pub struct Thread<'a> {
    pub(super) plan: &'a LoadPlan,
    pub(super) arsenal: &'a Arsenal,
    pub(super) shared: &'a Shared,
    pub(super) poll: Poll,
    timer: Timer,
    pub(super) conns: Vec<Option<Conn>>,
    pub(super) vacant: Vec<usize>,
    pub(super) parts: Vec<Part<'a>>,
    pub(super) sink: Sink<'a>,
    /// For connections with TLS, where there are any.
    pub(super) tls: Option<TlsThread>,
    pub(super) http2: Http2Thread,
    /// Connections with exchanges that are not sent yet.
    pub(super) unsent: Vec<usize>,
    pub(super) buffer: Aligned,
    /// Room that is never written to, see [`crate::protocol::Means::discard`].
    pub(super) scratch: Vec<u8>,
    /// When slow readers read on.
    pub(super) paced: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// Requests are still sent.
    pub(super) is_sending: bool,
    /// When the last one may be sent.
    pub(super) until: Nanos,
    /// When requests in flight are given up; set when the sending ends.
    pub(super) drained_by: Nanos,
    ticked: Nanos,
    window: &'a Window,
}

impl<'a> Thread<'a> {
    /// A thread's engine with nothing done.
    ///
    /// # Errors
    /// When the system gives no poll or timer.
    pub fn new(
        plan: &'a LoadPlan,
        arsenal: &'a Arsenal,
        shared: &'a Shared,
        parts: Vec<Part<'a>>,
        sink: Sink<'a>,
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
            buffer: Aligned::zeros(BUFFER),
            scratch: vec![0; SCRATCH],
            paced: BinaryHeap::new(),
            is_sending: true,
            until,
            drained_by: Nanos::MAX,
            ticked: 0,
            window,
        })
    }

    /// Sends until the end is reached, and gives what was counted.
    ///
    /// # Errors
    /// When the system's poll fails.
    pub fn run(mut self) -> io::Result<Sink<'a>> {
        let mut events = Events::with_capacity(1024);
        self.sink.gather = Gather::begin();
        for stream in 0..self.parts.len() {
            self.pump(stream as u16)?;
        }
        loop {
            let now = self.shared.clock.now();
            self.look_at_time(now)?;
            if !self.is_sending && self.sink.in_flight() == 0 {
                break;
            }
            let timeout = self.wait(now)?;
            self.rest(now);
            match self.poll.poll(&mut events, timeout) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            }
            self.sink.gather.came(events.iter().count());
            for event in &events {
                if event.token() != TIMER {
                    self.happened(event)?;
                }
            }
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

    /// Lets events gather where nothing is due but what they tell of.
    fn rest(&mut self, now: Nanos) {
        let is_closed = self.parts.iter().all(|p| !p.is_open && p.wake.is_none());
        if !is_closed {
            return;
        }
        self.sink.gather.look(now);
        if self.is_sending
            && self.paced.is_empty()
            && let Some(nanos) = self.sink.gather.rest(self.sink.in_flight())
        {
            gather::rest(nanos);
        }
    }

    /// How long the poll may wait, with the timer set for what is due to the microsecond.
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

    /// Ends what is over time, now and then.
    fn look_at_time(&mut self, now: Nanos) -> io::Result<()> {
        let is_asked = self.shared.order.load(Ordering::Relaxed) == DRAIN;
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

    /// Deals with an event of a connection.
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
            // A server that spoke first: no further event tells of what it has said.
            self.drive(token)?;
        }
        Ok(())
    }

    /// Deals with the exchanges that have ended. What follows them is sent when all events are dealt with: reading many and then sending
    /// many costs less than turn by turn.
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

    /// Lets slow readers read on whose time has come.
    fn read_on(&mut self) -> io::Result<()> {
        while let Some(Reverse((at, token))) = self.paced.peek().copied() {
            if at > self.shared.clock.now() {
                break;
            }
            self.paced.pop();
            let conn = self.conns.get(token).and_then(Option::as_ref);
            // Another connection may have taken its place, and wait for its own event.
            if conn.is_some_and(|c| matches!(c.state, State::Open | State::Lingering)) {
                self.drive(token)?;
            }
        }
        Ok(())
    }

    /// Ends a connection.
    pub(super) fn close(&mut self, token: usize) {
        if let Some(conn) = self.conns[token].take() {
            if conn.state != State::Lingering {
                self.parts[conn.stream as usize].lost(conn.endpoint, token);
            }
            self.vacant.push(token);
        }
    }
}
