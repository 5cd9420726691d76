//! Moves a connection on, and keeps the books on it: whether more may be started over it, or it is of no further use.

use std::cmp::Reverse;
use std::io;

use super::conn::{Conn, State};
use super::sink::Sink;
use super::thread::Thread;
use crate::plan::Check;
use crate::protocol::{Drive, ExchangeId, Machine, Means};
use crate::transport::Transport;

impl Thread<'_> {
    /// Moves a connection on.
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
        let means = Means { buffer: &mut self.buffer, allowance, discard, ended: conn.ended };
        let drive = conn.machine.drive(&mut conn.io, request, means, &mut self.sink);
        let after = received(conn, exchange, &self.sink);
        if let (Some(pace), Some(_)) = (&mut conn.pace, exchange) {
            pace.spend(after.saturating_sub(before));
            if drive == Drive::Paused {
                self.paced.push(Reverse((pace.next(self.shared.clock.now()), token)));
            }
        }
        self.driven(token, drive, exchange.is_none())
    }

    /// Keeps the books on a connection that was driven.
    fn driven(&mut self, token: usize, drive: Drive, was_idle: bool) -> io::Result<()> {
        let Some(conn) = self.conns[token].as_mut() else { return self.settle() };
        let (stream, endpoint) = (conn.stream, conn.endpoint);
        let is_lost = conn.state == State::Lingering;
        let has_ended = !was_idle && conn.machine.in_flight().is_none();
        match drive {
            Drive::Closed => {
                self.close(token);
                if was_idle {
                    // An idle connection of an open model makes room when it goes.
                    self.pump(stream)?;
                }
            }
            Drive::Lingering if !is_lost => {
                conn.state = State::Lingering;
                conn.listed = 0;
                self.parts[stream as usize].lost(endpoint, token);
                // What is to be sent again has room now.
                self.settle()?;
                self.pump(stream)?;
            }
            Drive::Open if has_ended && !self.parts[stream as usize].stream.keepalive => {
                // It was asked to close and does not.
                self.close(token);
            }
            Drive::Open | Drive::Paused if !is_lost => {
                let has_more_room = self.offer(token);
                self.settle()?;
                if has_more_room {
                    // There may be room without an end: the server has told its limit.
                    self.pump(stream)?;
                }
            }
            Drive::Open | Drive::Paused | Drive::Lingering => {}
        }
        self.settle()
    }

    /// Puts a connection among the idle ones, once for each exchange that may be started over it; whether there are more.
    pub(super) fn offer(&mut self, token: usize) -> bool {
        let Some(conn) = self.conns[token].as_mut() else { return false };
        let idle = &mut self.parts[conn.stream as usize].idle[conn.endpoint as usize];
        let more = conn.machine.capacity().saturating_sub(conn.listed);
        idle.extend(std::iter::repeat_n(token, more));
        conn.listed += more;
        more > 0
    }

    /// Sends what was started on connections that gather it.
    pub(super) fn send_off(&mut self) -> io::Result<()> {
        while let Some(token) = self.unsent.pop() {
            let Some(conn) = self.conns[token].as_mut().filter(|c| c.is_unsent) else { continue };
            conn.is_unsent = false;
            let drive = conn.machine.flush(&mut conn.io, &mut self.sink);
            let is_drained = conn.io.short_read_drains();
            self.driven(token, drive, false)?;
            if !is_drained {
                self.drive(token)?;
            }
        }
        Ok(())
    }

    /// A connection has something to send.
    pub(super) fn gather(&mut self, token: usize) {
        let Some(conn) = self.conns[token].as_mut() else { return };
        if conn.machine.gathers() && !std::mem::replace(&mut conn.is_unsent, true) {
            self.unsent.push(token);
        }
    }
}

/// Bytes that count against a slow reader's rate: of body, where the protocol tells them from others.
fn received(conn: &Conn, exchange: Option<ExchangeId>, sink: &Sink<'_>) -> u64 {
    match (&conn.machine, exchange) {
        _ if conn.pace.is_none() => 0,
        (Machine::Http2(machine), _) => machine.received(),
        (Machine::Http1(_), x) => x.map_or(0, |x| sink.body_bytes(x)),
    }
}
