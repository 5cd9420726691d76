//! How requests and responses are carried on one connection. A protocol knows bytes and exchanges; it knows nothing of when
//! a request is due, or of what a response should hold.

pub mod coding;
pub mod h1;
pub mod h2;

use h1::head::Head;

use crate::fault::Fault;
use crate::transport::Transport;

/// Names a request in flight, as long as it is in flight.
pub type ExchangeId = u32;

/// What a protocol tells of exchanges while it drives a connection.
pub trait Events {
    /// Bytes have just been read from the connection: the clock is to be looked at.
    fn tick(&mut self);

    /// The first byte of the response is there.
    fn first_byte(&mut self, x: ExchangeId);

    /// So many bytes came over the connection for it: head, framing or body.
    fn wire(&mut self, x: ExchangeId, bytes: usize);

    /// So many bytes were sent over the connection for it, where that is not known before.
    fn sent(&mut self, x: ExchangeId, bytes: usize) {
        let _ = (x, bytes);
    }

    /// The final head is there; `raw` is what it was read from.
    ///
    /// # Errors
    /// Why the response is not to be had; the exchange ends with it.
    fn head(&mut self, x: ExchangeId, head: &Head, raw: &[u8]) -> Result<(), Fault>;

    /// The next bytes of the body, without framing.
    ///
    /// # Errors
    /// As [`Events::head`].
    fn body(&mut self, x: ExchangeId, bytes: &[u8]) -> Result<(), Fault>;

    /// So many bytes of the body were dropped unseen.
    fn discarded(&mut self, x: ExchangeId, bytes: u64);

    /// The response is whole.
    fn end(&mut self, x: ExchangeId);

    /// The exchange has ended without a whole response. `untouched`: the server cannot have acted on it, so that it may
    /// be sent again.
    fn fault(&mut self, x: ExchangeId, fault: Fault, untouched: bool);
}

/// What becomes of a connection after it was driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// It waits for the next event.
    Open,
    /// It has read all that it was allowed to; there may be more.
    Paused,
    /// No further exchange may be started: the server was told so, or has said so. It will close when none is in flight.
    Lingering,
    /// It is of no further use.
    Closed,
}

/// How a connection is driven.
#[derive(Debug)]
pub struct Means<'a> {
    /// What is read into.
    pub buffer: &'a mut [u8],
    /// The most that is read now at the rate of a slow reader, in bytes; `usize::MAX`: as much as there is.
    pub allowance: usize,
    /// The work that may be done now before others have their turn, in bytes read; frames and reads of nothing count as some.
    pub turn: usize,
    /// Set where bodies of known length are dropped unseen: the room that the transport may use for it. As long as the
    /// kernel drops them its pages are never touched, so that it costs no memory.
    pub discard: Option<&'a mut [u8]>,
    /// The peer has closed its side or broken the connection: no event will come any more, so that reads go on to the end.
    pub ended: bool,
}

/// What a step of reading takes of a turn at least, in bytes.
const STEP: usize = 4 << 10;

impl Means<'_> {
    /// So many bytes were read, and so many frames or chunks were begun in them.
    pub fn spend(&mut self, bytes: usize, frames: usize) {
        self.take(bytes, bytes.max(STEP).saturating_add(frames.saturating_mul(FRAME)));
    }

    /// So many bytes of a body were dropped unseen.
    pub fn drop(&mut self, bytes: usize) {
        self.take(bytes, (bytes / DROPPED).max(STEP));
    }

    fn take(&mut self, bytes: usize, work: usize) {
        self.allowance = self.allowance.saturating_sub(if self.allowance == usize::MAX { 0 } else { bytes });
        self.turn = self.turn.saturating_sub(work);
    }

    /// No more is to be read now.
    pub fn is_spent(&self) -> bool {
        self.allowance == 0 || self.turn == 0
    }
}

/// So many bytes that the kernel drops take as much of a turn as one that is read.
const DROPPED: usize = 16;

/// What a frame or a chunk takes of a turn beside its bytes: about the time of so many.
const FRAME: usize = 512;

/// A connection's state.
#[derive(Debug)]
pub enum Machine {
    /// HTTP/1.
    Http1(h1::Machine),
    /// HTTP/2.
    Http2(Box<h2::Machine>),
}

/// A request as the protocols want it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Head and body as HTTP/1 sends them.
    pub bytes: &'a [u8],
    /// Head and body as HTTP/2 wants them; always there where the plan says HTTP/2.
    pub message: Option<&'a h2::Message>,
    /// Method HEAD: no body comes back.
    pub head_only: bool,
}

impl Machine {
    /// Exchanges that may be started now.
    pub fn capacity(&self) -> usize {
        match self {
            Machine::Http1(machine) => usize::from(machine.is_free()),
            Machine::Http2(machine) => machine.capacity(),
        }
    }

    /// Any exchange in flight.
    pub fn in_flight(&self) -> Option<ExchangeId> {
        match self {
            Machine::Http1(machine) => machine.in_flight(),
            Machine::Http2(machine) => machine.exchanges().next(),
        }
    }

    /// Adds the exchanges in flight to a list.
    pub fn list(&self, into: &mut Vec<ExchangeId>) {
        match self {
            Machine::Http1(machine) => into.extend(machine.in_flight()),
            Machine::Http2(machine) => into.extend(machine.exchanges()),
        }
    }

    /// Begins an exchange, and sends it unless others may go with it: see [`Machine::flush`].
    pub fn start(
        &mut self,
        x: ExchangeId,
        request: Request<'_>,
        io: &mut impl Transport,
        events: &mut impl Events,
    ) -> Drive {
        match (self, request.message) {
            (Machine::Http1(machine), _) => {
                machine.start(x, request.head_only);
                machine.send(io, request.bytes, events)
            }
            (Machine::Http2(machine), Some(message)) => {
                machine.start(x, message, events);
                Drive::Open
            }
            (Machine::Http2(_), None) => unreachable!("requests of an HTTP/2 plan are prepared for it"),
        }
    }

    /// Whether exchanges that were started wait for [`Machine::flush`].
    pub fn gathers(&self) -> bool {
        matches!(self, Machine::Http2(_))
    }

    /// Sends what was started and not sent.
    pub fn flush(&mut self, io: &mut impl Transport, events: &mut impl Events) -> Drive {
        match self {
            Machine::Http1(_) => Drive::Open,
            Machine::Http2(machine) => machine.flush(io, events),
        }
    }

    /// Writes and reads what can be. `request` is the bytes of the exchange in flight, for HTTP/1.
    pub fn drive(
        &mut self,
        io: &mut impl Transport,
        request: &[u8],
        means: Means<'_>,
        events: &mut impl Events,
    ) -> Drive {
        match self {
            Machine::Http1(machine) => machine.drive(io, request, means, events),
            Machine::Http2(machine) => machine.drive(io, means, events),
        }
    }

    /// Gives an exchange up without an event; false: the connection has to go with it.
    pub fn cancel(&mut self, x: ExchangeId) -> bool {
        match self {
            Machine::Http1(_) => false,
            Machine::Http2(machine) => {
                machine.cancel(x);
                true
            }
        }
    }
}
