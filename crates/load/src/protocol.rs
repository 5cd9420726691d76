//! How requests and responses are carried on one connection. A protocol handles bytes and exchanges; it does not know
//! when a request is due, or what a response should contain.

pub mod coding;
pub mod h1;
pub mod h2;

use h1::head::Head;

use crate::fault::HttpFault;
use crate::transport::Transport;

/// The number of a request in flight, valid while it is in flight.
pub type ExchangeId = u32;

/// Events of exchanges that a protocol reports while it drives a connection.
pub trait Events {
    /// Bytes were just read from the connection: time to read the clock.
    fn tick(&mut self);

    /// The first byte of the response has arrived.
    fn first_byte(&mut self, x: ExchangeId);

    /// This many bytes arrived on the connection for it: head, framing or body.
    fn wire(&mut self, x: ExchangeId, bytes: usize);

    /// This many bytes were sent on the connection for it, if the number was not known before.
    fn sent(&mut self, x: ExchangeId, bytes: usize) {
        let _ = (x, bytes);
    }

    /// The final head has arrived; `raw` is its bytes.
    ///
    /// # Errors
    /// Why the response is rejected; the exchange ends.
    fn head(&mut self, x: ExchangeId, head: &Head, raw: &[u8]) -> Result<(), HttpFault>;

    /// The next bytes of the body, without framing.
    ///
    /// # Errors
    /// As [`Events::head`].
    fn body(&mut self, x: ExchangeId, bytes: &[u8]) -> Result<(), HttpFault>;

    /// This many bytes of the body were discarded without being read.
    fn discarded(&mut self, x: ExchangeId, bytes: u64);

    fn end(&mut self, x: ExchangeId);

    /// The exchange has ended without a complete response. `untouched`: the server cannot have processed the request,
    /// so it may be sent again.
    fn fault(&mut self, x: ExchangeId, fault: HttpFault, untouched: bool);
}

/// The state of a connection after it was driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// It waits for the next event.
    Open,
    /// It has read its full allowance; there may be more.
    Paused,
    /// No further exchange may be started: this was sent to the server, or the server said so. It will close when none
    /// is in flight.
    Lingering,
    /// It can no longer be used.
    Closed,
}

/// The inputs for driving a connection.
#[derive(Debug)]
pub struct Means<'a> {
    pub buffer: &'a mut [u8],
    /// The most bytes to read now, for a slow reader; `usize::MAX`: no limit.
    pub allowance: usize,
    /// The work that may be done before others have their turn, in bytes read; frames and empty reads also count.
    pub turn: usize,
    /// Set if bodies of known length are discarded: memory that the transport may use for it. If the kernel discards
    /// them, its pages are never touched, so it costs no memory.
    pub discard: Option<&'a mut [u8]>,
    /// The peer has closed its side or the connection is broken: no event will follow, so reads go on to the end.
    pub ended: bool,
}

/// The least that one read takes from a turn, in bytes.
const STEP: usize = 4 << 10;

impl Means<'_> {
    /// Subtracts the bytes that were read, and the frames or chunks that started in them.
    pub fn spend(&mut self, bytes: usize, frames: usize) {
        self.take(bytes, bytes.max(STEP).saturating_add(frames.saturating_mul(FRAME)));
    }

    /// Subtracts bytes of a body that were discarded.
    pub fn drop(&mut self, bytes: usize) {
        self.take(bytes, (bytes / DROPPED).max(STEP));
    }

    fn take(&mut self, bytes: usize, work: usize) {
        self.allowance = self.allowance.saturating_sub(if self.allowance == usize::MAX { 0 } else { bytes });
        self.turn = self.turn.saturating_sub(work);
    }

    /// Whether reading must stop for now.
    pub fn is_spent(&self) -> bool {
        self.allowance == 0 || self.turn == 0
    }
}

/// This many bytes that the kernel discards take as much of a turn as one byte that is read.
const DROPPED: usize = 16;

/// What a frame or a chunk takes of a turn in addition to its bytes: as much as this many bytes.
const FRAME: usize = 512;

#[derive(Debug)]
pub enum Machine {
    Http1(h1::Machine),
    Http2(Box<h2::Machine>),
}

/// A request in the forms that the protocols need.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Head and body for HTTP/1.
    pub bytes: &'a [u8],
    /// Head and body for HTTP/2; always present in an HTTP/2 plan.
    pub message: Option<&'a h2::Message>,
    /// The method is HEAD: the response has no body.
    pub head_only: bool,
}

impl Machine {
    /// The number of exchanges that may be started now.
    pub fn capacity(&self) -> usize {
        match self {
            Machine::Http1(machine) => usize::from(machine.is_free()),
            Machine::Http2(machine) => machine.capacity(),
        }
    }

    pub fn in_flight(&self) -> Option<ExchangeId> {
        match self {
            Machine::Http1(machine) => machine.in_flight(),
            Machine::Http2(machine) => machine.exchanges().next(),
        }
    }

    /// Adds its exchanges in flight to a list.
    pub fn list(&self, into: &mut Vec<ExchangeId>) {
        match self {
            Machine::Http1(machine) => into.extend(machine.in_flight()),
            Machine::Http2(machine) => into.extend(machine.exchanges()),
        }
    }

    /// Starts an exchange and sends it, unless others may be sent with it: see [`Machine::flush`].
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

    /// Sends exchanges that were started and not sent.
    pub fn flush(&mut self, io: &mut impl Transport, events: &mut impl Events) -> Drive {
        match self {
            Machine::Http1(_) => Drive::Open,
            Machine::Http2(machine) => machine.flush(io, events),
        }
    }

    /// Writes and reads what is possible. `request` is the bytes of the exchange in flight, for HTTP/1.
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

    /// Aborts an exchange without an event; false: its connection must end, too.
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
