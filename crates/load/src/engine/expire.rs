//! What ends by the clock: the sending, connections that do not come to stand, requests without an answer.

use std::io;

use super::conn::State;
use super::thread::Thread;
use crate::Nanos;
use crate::fault::{Fault, FaultKind};
use crate::protocol::{Events, ExchangeId};

/// How long after its begin a connection is closed that the server should have closed.
const LINGER: Nanos = 5_000_000_000;

impl Thread<'_> {
    /// No further request is sent; what was due by now and was not sent is dropped.
    pub(super) fn stop_sending(&mut self, now: Nanos) {
        self.is_sending = false;
        self.drained_by = now.saturating_add(nanos(self.plan.limits.drain_seconds));
        if self.shared.is_sold_out() {
            return;
        }
        let end = now.min(self.until);
        for part in self.parts.iter_mut().filter(|p| p.is_open) {
            while part.due(end).is_some_and(|at| at < self.until) {
                let class = self.arsenal.requests[part.request() as usize].class;
                self.sink.recorder.scheduled(class, end);
                self.sink.recorder.counts(class).dropped += 1;
            }
        }
    }

    /// Ends what is over its limit.
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
                        let message = format!("no connection within {} s", limits.connect_seconds);
                        Fault::new(FaultKind::ConnectTimeout, message)
                    }
                    State::Securing(..) if now >= begun.saturating_add(to_connect) => {
                        let message = format!("no TLS session within {} s", limits.connect_seconds);
                        Fault::new(FaultKind::ConnectTimeout, message)
                    }
                    State::Open | State::Lingering
                        if now >= self.sink.get(x).sent.saturating_add(to_answer) =>
                    {
                        Fault::new(
                            FaultKind::Timeout,
                            format!("no last byte within {} s", limits.request_seconds),
                        )
                    }
                    _ if is_drained => {
                        let message = format!("still in flight {} s after the end", limits.drain_seconds);
                        Fault::new(FaultKind::Timeout, message)
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
        }
        self.settle()
    }

    /// Ends one exchange, and the connection with it where it carries no other.
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

    /// What was to be sent again and found no connection until the end.
    fn expire_waiting(&mut self) {
        let message = format!("not sent again within {} s after the end", self.plan.limits.drain_seconds);
        for part in &mut self.parts {
            for x in part.waiting.drain(..) {
                self.sink.fault(x, Fault::new(FaultKind::Timeout, message.clone()), false);
            }
        }
    }
}

fn nanos(seconds: f64) -> Nanos {
    (seconds.max(0.0) * 1e9) as Nanos
}
