//! Exchanges in flight, and what becomes of what a protocol tells of them: it is stamped, counted and checked.

use super::clock::Clock;
use crate::Nanos;
use crate::fault::{Fault, FaultKind};
use crate::protocol::h1::head::Head;
use crate::protocol::{Events, ExchangeId};
use crate::record::{Recorder, Stamps};

/// A request in flight.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    /// Index of the request.
    pub request: u32,
    /// Index of its class.
    pub class: u32,
    /// Index of its stream.
    pub stream: u16,
    /// It was sent before, over a kept connection that the server had closed.
    pub is_second: bool,
    /// When it was due.
    pub scheduled: Nanos,
    /// When it was sent.
    pub sent: Nanos,
    first: Nanos,
    status: u16,
    /// Bytes of body so far.
    body: u64,
    /// Where the download is given up; `u64::MAX`: nowhere.
    pub abandon_after: u64,
    abandoned: bool,
}

impl Exchange {
    /// A request that is due; it gives up after so many bytes of body.
    pub fn new(request: u32, class: u32, stream: u16, scheduled: Nanos, abandon_after: u64) -> Exchange {
        Exchange { request, class, stream, scheduled, abandon_after, ..Exchange::default() }
    }
}

/// An exchange that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// One of this stream's, for good.
    Over(u16),
    /// It is to be sent again.
    Again(ExchangeId),
}

/// Where one thread's events go.
#[derive(Debug)]
pub struct Sink {
    clock: Clock,
    /// When bytes were last read.
    now: Nanos,
    exchanges: Vec<Exchange>,
    free: Vec<ExchangeId>,
    /// What was counted.
    pub recorder: Recorder,
    /// Exchanges that ended since this was last looked at.
    pub ended: Vec<Ended>,
}

impl Sink {
    /// One with nothing in flight.
    pub fn new(clock: Clock, recorder: Recorder) -> Sink {
        Sink { clock, now: 0, exchanges: Vec::new(), free: Vec::new(), recorder, ended: Vec::new() }
    }

    /// Takes in a new exchange.
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

    /// An exchange in flight.
    pub fn get(&mut self, x: ExchangeId) -> &mut Exchange {
        &mut self.exchanges[x as usize]
    }

    /// Requests in flight.
    pub fn in_flight(&self) -> usize {
        self.exchanges.len() - self.free.len()
    }

    /// Bytes of body that have come for it.
    pub fn body_bytes(&self, x: ExchangeId) -> u64 {
        self.exchanges[x as usize].body
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
    fn head(&mut self, x: ExchangeId, head: &Head, _raw: &[u8]) -> Result<(), Fault> {
        let exchange = &mut self.exchanges[x as usize];
        exchange.status = head.status;
        self.recorder.counts(exchange.class).head_bytes += head.bytes as u64;
        Ok(())
    }

    #[inline]
    fn body(&mut self, x: ExchangeId, bytes: &[u8]) -> Result<(), Fault> {
        let exchange = self.get(x);
        exchange.body += bytes.len() as u64;
        if exchange.body >= exchange.abandon_after {
            exchange.abandoned = true;
            // It ends the exchange, and is counted apart from faults.
            return Err(Fault::new(FaultKind::Truncated, "given up on purpose"));
        }
        Ok(())
    }

    fn discarded(&mut self, x: ExchangeId, bytes: u64) {
        self.get(x).body += bytes;
    }

    #[inline]
    fn end(&mut self, x: ExchangeId) {
        let e = &self.exchanges[x as usize];
        let stamps = Stamps { scheduled: e.scheduled, sent: e.sent, first: e.first, last: self.now };
        if !(200..300).contains(&e.status) {
            self.recorder.counts(e.class).non_2xx += 1;
        }
        self.recorder.completed(e.class, &stamps, e.body);
        self.close(x);
    }

    fn fault(&mut self, x: ExchangeId, fault: Fault, untouched: bool) {
        self.tick();
        let now = self.now;
        let exchange = &mut self.exchanges[x as usize];
        let (class, request) = (exchange.class, exchange.request);
        if exchange.abandoned {
            self.recorder.counts(class).abandoned += 1;
        } else if untouched && !exchange.is_second {
            exchange.is_second = true;
            self.recorder.counts(class).retried += 1;
            self.ended.push(Ended::Again(x));
            return;
        } else {
            self.recorder.faulted(class, request, now, fault);
        }
        self.close(x);
    }
}
