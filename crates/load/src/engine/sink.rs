//! Exchanges in flight: takes the events of a protocol, and stamps, counts and checks the responses.

use std::time::Duration;

use super::clock::Clock;
use super::exchange::{Ended, Exchange, Tag};
use super::preflight::Scout;
use crate::Nanos;
use crate::fault::{HttpFault, HttpFaultKind};
use crate::protocol::h1::head::Head;
use crate::protocol::{Events, ExchangeId};
use crate::record::Recorder;
use crate::verify::{JudgedResponse, Proof, Verdict, Verifier};

/// How long the decoder may take for the rest at the end.
const LAST_PROOFS: Duration = Duration::from_secs(10);

/// What happens with bodies.
#[derive(Debug)]
pub enum Eye {
    Verify(Box<Verifier<Tag>>),
    /// They are captured, in the preflight.
    Scout(Box<Scout>),
    Closed,
}

/// The receiver of one thread's events.
#[derive(Debug)]
pub struct Sink {
    clock: Clock,
    /// When bytes were last read.
    now: Nanos,
    exchanges: Vec<Exchange>,
    free: Vec<ExchangeId>,
    eye: Eye,
    pub recorder: Recorder,
    /// Exchanges that ended since this was last read.
    pub ended: Vec<Ended>,
}

impl Sink {
    /// A sink with nothing in flight.
    pub fn new(clock: Clock, recorder: Recorder, eye: Eye) -> Sink {
        Sink { clock, now: 0, exchanges: Vec::new(), free: Vec::new(), eye, recorder, ended: Vec::new() }
    }

    pub fn open(&mut self, exchange: Exchange) -> ExchangeId {
        match self.free.pop() {
            Some(id) => {
                self.exchanges[id as usize] = exchange;
                id
            }
            None => {
                self.exchanges.push(exchange);
                (self.exchanges.len() - 1) as ExchangeId
            }
        }
    }

    pub fn get(&mut self, x: ExchangeId) -> &mut Exchange {
        &mut self.exchanges[x as usize]
    }

    /// When bytes were last read.
    pub fn now(&self) -> Nanos {
        self.now
    }

    pub fn in_flight(&self) -> usize {
        self.exchanges.len() - self.free.len()
    }

    pub fn body_bytes(&self, x: ExchangeId) -> u64 {
        self.exchanges[x as usize].body
    }

    /// Counts the responses that the decoder has judged by now.
    pub fn collect(&mut self) {
        while let Eye::Verify(verifier) = &mut self.eye {
            let Some(outcome) = verifier.proven() else { break };
            self.proven(outcome);
        }
    }

    /// Counts the rest, and returns the record with the results of the preflight.
    pub fn finish(mut self) -> (Recorder, Option<Box<Scout>>) {
        if let Eye::Verify(verifier) = &mut self.eye {
            let outcomes = verifier.finish(LAST_PROOFS);
            self.recorder.unproven = verifier.unproven();
            for outcome in outcomes {
                self.proven(outcome);
            }
        }
        let scout = match self.eye {
            Eye::Scout(scout) => Some(scout),
            Eye::Verify(_) | Eye::Closed => None,
        };
        (self.recorder, scout)
    }

    fn proven(&mut self, outcome: JudgedResponse<Tag>) {
        let JudgedResponse { tag, proof, decode_ns } = outcome;
        let counts = self.recorder.counts(tag.class);
        counts.decode_ns += decode_ns;
        match proof {
            Proof::Decoded { decoded_bytes } => {
                counts.decoded += 1;
                counts.decoded_bytes += decoded_bytes;
                self.recorder.completed(tag.class, &tag.stamps, tag.body_bytes, tag.status);
            }
            Proof::Unread => self.recorder.completed(tag.class, &tag.stamps, tag.body_bytes, tag.status),
            Proof::Fault(fault) => self.recorder.faulted(tag.class, tag.request, tag.stamps.last, fault),
        }
    }

    fn judge(&mut self, tag: Tag, verdict: Verdict) {
        let counts = self.recorder.counts(tag.class);
        match verdict {
            Verdict::Compared { decoded_bytes } => {
                counts.compared += 1;
                counts.decoded_bytes += decoded_bytes;
            }
            Verdict::Unread { decoded_bytes } => counts.decoded_bytes += decoded_bytes,
            Verdict::Fault(fault) => {
                return self.recorder.faulted(tag.class, tag.request, tag.stamps.last, fault);
            }
            Verdict::Unproven(evidence) => {
                let Eye::Verify(verifier) = &mut self.eye else { return };
                // If the decoder has no room for it, it counts as unproven.
                if verifier.submit(evidence, tag).is_ok() {
                    return;
                }
            }
        }
        self.recorder.completed(tag.class, &tag.stamps, tag.body_bytes, tag.status);
    }

    fn close(&mut self, x: ExchangeId) {
        let stream = self.exchanges[x as usize].stream;
        self.free.push(x);
        self.ended.push(Ended::Over(stream));
    }
}

impl Events for Sink {
    #[inline]
    fn tick(&mut self) {
        self.now = self.clock.now();
    }

    #[inline]
    fn first_byte(&mut self, x: ExchangeId) {
        let now = self.now;
        self.get(x).first = now;
    }

    #[inline]
    fn wire(&mut self, x: ExchangeId, bytes: usize) {
        let class = self.exchanges[x as usize].class;
        self.recorder.counts(class).wire_bytes += bytes as u64;
    }

    #[inline]
    fn sent(&mut self, x: ExchangeId, bytes: usize) {
        let class = self.exchanges[x as usize].class;
        self.recorder.counts(class).sent_bytes += bytes as u64;
    }

    #[inline]
    fn head(&mut self, x: ExchangeId, head: &Head, raw: &[u8]) -> Result<(), HttpFault> {
        let exchange = &mut self.exchanges[x as usize];
        exchange.status = head.status;
        self.recorder.counts(exchange.class).head_bytes += head.bytes as u64;
        match &mut self.eye {
            Eye::Verify(verifier) => exchange.checker = Some(verifier.head(exchange.request, head, raw)?),
            Eye::Scout(scout) => exchange.keeping = Some(Box::new(scout.keep(exchange.request, head, raw))),
            Eye::Closed => {}
        }
        Ok(())
    }

    #[inline]
    fn body(&mut self, x: ExchangeId, bytes: &[u8]) -> Result<(), HttpFault> {
        let exchange = &mut self.exchanges[x as usize];
        exchange.body += bytes.len() as u64;
        match (&mut self.eye, &mut exchange.checker) {
            (Eye::Verify(verifier), Some(checker)) => verifier.body(checker, bytes),
            _ => {
                if let Some(keeping) = &mut exchange.keeping {
                    keeping.body(bytes);
                }
            }
        }
        if exchange.body >= exchange.abandon_after {
            exchange.abandoned = true;
            // It ends the exchange, and is counted separately from failures.
            return Err(HttpFault::new(HttpFaultKind::Truncated, "aborted on purpose"));
        }
        Ok(())
    }

    fn discarded(&mut self, x: ExchangeId, bytes: u64) {
        self.get(x).body += bytes;
    }

    #[inline]
    fn end(&mut self, x: ExchangeId) {
        let now = self.now;
        let exchange = &mut self.exchanges[x as usize];
        let tag = exchange.tag(now);
        let (checker, keeping) = (exchange.checker.take(), exchange.keeping.take());
        let verdict = match (&mut self.eye, checker, keeping) {
            (Eye::Verify(verifier), Some(checker), _) => verifier.end(checker, tag.body_bytes),
            (Eye::Scout(scout), _, Some(keeping)) => {
                scout.whole(tag.request, *keeping);
                Verdict::Unread { decoded_bytes: 0 }
            }
            _ => Verdict::Unread { decoded_bytes: 0 },
        };
        self.judge(tag, verdict);
        self.close(x);
    }

    fn fault(&mut self, x: ExchangeId, fault: HttpFault, untouched: bool) {
        self.tick();
        let now = self.now;
        let exchange = &mut self.exchanges[x as usize];
        let (class, request) = (exchange.class, exchange.request);
        exchange.checker = None;
        exchange.keeping = None;
        if exchange.abandoned {
            self.recorder.counts(class).abandoned += 1;
        } else if untouched && exchange.may_go_again(&fault) {
            exchange.resent += 1;
            self.recorder.counts(class).retried += 1;
            self.ended.push(Ended::Again(x));
            return;
        } else {
            if let Eye::Scout(scout) = &mut self.eye {
                scout.fault(request, fault.clone());
            }
            self.recorder.faulted(class, request, now, fault);
        }
        self.close(x);
    }
}
