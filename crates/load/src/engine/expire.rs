//! What ends by the clock: the sending, connections that do not come to stand, requests without an answer.

use std::io;

use super::conn::State;
use super::thread::Thread;
use crate::Nanos;
use crate::fault::{Fault, FaultKind};
use crate::protocol::Events;

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
        let is_drained = !self.is_sending && now >= self.drained_by;
        for token in 0..self.conns.len() {
            let Some(conn) = &self.conns[token] else { continue };
            let Some(x) = conn.exchange() else {
                if conn.state == State::Lingering && now >= conn.begun.saturating_add(LINGER) {
                    self.close(token);
                }
                continue;
            };
            let fault = match conn.state {
                State::Connecting(_) if now >= conn.begun.saturating_add(to_connect) => {
                    let message = format!("no connection within {} s", limits.connect_seconds);
                    Fault::new(FaultKind::ConnectTimeout, message)
                }
                State::Open if now >= self.sink.get(x).sent.saturating_add(to_answer) => Fault::new(
                    FaultKind::Timeout,
                    format!("no last byte within {} s", limits.request_seconds),
                ),
                _ if is_drained => {
                    let message = format!("still in flight {} s after the end", limits.drain_seconds);
                    Fault::new(FaultKind::Timeout, message)
                }
                _ => continue,
            };
            self.close(token);
            self.sink.fault(x, fault, false);
            self.settle()?;
        }
        Ok(())
    }
}

fn nanos(seconds: f64) -> Nanos {
    (seconds.max(0.0) * 1e9) as Nanos
}
