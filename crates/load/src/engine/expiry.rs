//! Ends what is over its time limit, and sending.

use std::io;

use super::conn::{Conn, State};
use super::thread::Thread;
use crate::Nanos;
use crate::fault::{HttpFault, HttpFaultKind};
use crate::protocol::{Events as _, ExchangeId};

/// How long after its start a connection is closed that the server should have closed.
const LINGER: Nanos = 5_000_000_000;

impl Thread<'_> {
    /// Ends sending: requests that were due by now and were not sent are dropped.
    pub(super) fn stop_sending(&mut self, now: Nanos) {
        self.is_sending = false;
        self.drained_by = now.saturating_add(nanos(self.plan.limits.drain_seconds));
        if self.shared.is_sold_out() {
            return;
        }
        let end = now.min(self.until);
        for stream in 0..self.parts.len() {
            let is_refused = |conn: &&Conn| conn.stream as usize == stream && conn.is_refused();
            let refused = self.conns.iter().flatten().filter(is_refused).count();
            let is_open = self.parts[stream].is_open;
            let mut left = if is_open { usize::MAX } else { refused };
            while left > 0 && self.parts[stream].due(end).is_some_and(|at| !is_open || at < self.until) {
                left -= 1;
                if refused > 0 {
                    self.refuse(stream as u16, end);
                    continue;
                }
                let class = self.arsenal.requests[self.parts[stream].request() as usize].class;
                self.sink.recorder.scheduled(class, end);
                self.sink.recorder.counts(class).dropped += 1;
            }
        }
    }

    /// A due request gets no stream: the server accepts none.
    fn refuse(&mut self, stream: u16, scheduled: Nanos) {
        let waiting = self.parts[stream as usize].waiting.pop();
        let x = waiting.unwrap_or_else(|| self.open(stream, scheduled));
        let message = "the server accepts no stream: its SETTINGS_MAX_CONCURRENT_STREAMS is 0";
        self.sink.fault(x, HttpFault::new(HttpFaultKind::Http2, message), false);
    }

    /// Ends connections on which the server has accepted no stream for the time that a response may take, each with a
    /// due request.
    fn expire_refused(&mut self, now: Nanos, to_answer: Nanos) -> io::Result<()> {
        for token in 0..self.conns.len() {
            let Some(conn) = self.conns[token].as_mut() else { continue };
            conn.refused = conn.is_refused().then(|| conn.refused.unwrap_or(now));
            let stream = conn.stream;
            if conn.refused.is_none_or(|since| now < since.saturating_add(to_answer)) {
                continue;
            }
            self.close(token);
            let part = &mut self.parts[stream as usize];
            if !part.waiting.is_empty() {
                self.refuse(stream, now);
            } else if part.due(now).is_some() {
                match self.shared.take_ticket() {
                    true => self.refuse(stream, now),
                    false => self.stop_sending(now),
                }
            }
            self.settle()?;
        }
        Ok(())
    }

    /// Ends what is over its time limit.
    pub(super) fn expire(&mut self, now: Nanos) -> io::Result<()> {
        let limits = &self.plan.limits;
        let (to_connect, to_answer) = (nanos(limits.connect_seconds), nanos(limits.request_seconds));
        let mut exchanges = Vec::new();
        let is_drained = !self.is_sending && now >= self.drained_by;
        for token in 0..self.conns.len() {
            let Some(conn) = &self.conns[token] else { continue };
            let (state, begun) = (conn.state, conn.begun);
            exchanges.clear();
            conn.list(&mut exchanges);
            if exchanges.is_empty() && state == State::Lingering && now >= begun.saturating_add(LINGER) {
                self.close(token);
            }
            for &x in &exchanges {
                let fault = match state {
                    State::Connecting(_) if now >= begun.saturating_add(to_connect) => {
                        let message = format!("not connected within {} s", limits.connect_seconds);
                        HttpFault::new(HttpFaultKind::ConnectTimeout, message)
                    }
                    State::Securing(..) if now >= begun.saturating_add(to_connect) => {
                        let message =
                            format!("TLS handshake not completed within {} s", limits.connect_seconds);
                        HttpFault::new(HttpFaultKind::ConnectTimeout, message)
                    }
                    State::Open | State::Lingering
                        if now >= self.sink.get(x).sent.saturating_add(to_answer) =>
                    {
                        HttpFault::new(
                            HttpFaultKind::Timeout,
                            format!("response not complete within {} s", limits.request_seconds),
                        )
                    }
                    _ if is_drained => {
                        let message = format!("still in flight {} s after the end", limits.drain_seconds);
                        HttpFault::new(HttpFaultKind::Timeout, message)
                    }
                    _ => continue,
                };
                self.give_up(token, x);
                self.sink.fault(x, fault, false);
            }
            self.settle()?;
        }
        if is_drained {
            self.expire_waiting();
        } else if self.is_sending {
            self.expire_refused(now, to_answer)?;
        }
        self.expire_unplaced(now, to_answer);
        self.settle()
    }

    /// Ends one exchange, and its connection unless that has other exchanges.
    fn give_up(&mut self, token: usize, x: ExchangeId) {
        let Some(conn) = self.conns[token].as_mut() else { return };
        let stays = matches!(conn.state, State::Open | State::Lingering) && conn.machine.cancel(x);
        if !stays {
            return self.close(token);
        }
        if conn.state == State::Open {
            self.offer(token);
        }
        self.gather(token);
    }

    /// Ends requests that were to be sent again but found no connection for the time that a response may take.
    fn expire_unplaced(&mut self, now: Nanos, to_answer: Nanos) {
        for part in &mut self.parts {
            let sink = &mut self.sink;
            part.waiting.retain(|&x| {
                let is_late = now >= sink.get(x).sent.saturating_add(to_answer);
                if is_late {
                    let message = "no connection became free for sending it again before the timeout";
                    sink.fault(x, HttpFault::new(HttpFaultKind::Timeout, message), false);
                }
                !is_late
            });
        }
    }

    /// Ends requests that were to be sent again but found no connection until the end.
    fn expire_waiting(&mut self) {
        let message = format!("not sent again within {} s after the end", self.plan.limits.drain_seconds);
        for part in &mut self.parts {
            for x in part.waiting.drain(..) {
                self.sink.fault(x, HttpFault::new(HttpFaultKind::Timeout, message.clone()), false);
            }
        }
    }
}

fn nanos(seconds: f64) -> Nanos {
    (seconds.max(0.0) * 1e9) as Nanos
}
