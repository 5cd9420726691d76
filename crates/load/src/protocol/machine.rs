//! A connection's state under any protocol.

use super::{Drive, Events, ExchangeId, Means, h1, h2};
use crate::transport::Transport;

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
            Machine::Http2(machine) => machine.drive(io, &means, events),
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
