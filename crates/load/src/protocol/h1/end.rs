//! How an exchange ends, and its connection with it: well, with a fault, or because the server closed.

use std::io::ErrorKind;

use super::Machine;
use super::exchange::{Current, Rest};
use crate::fault::{Fault, FaultKind};
use crate::protocol::{Drive, Events};
use crate::transport::Transport;

impl Machine {
    pub(super) fn finish(&mut self, events: &mut impl Events) {
        if let Some(current) = self.current.take() {
            self.done += 1;
            self.half_sent = !current.is_sent;
            self.closing = !current.keep || self.half_sent;
            events.end(current.id);
        }
    }

    /// The server has closed its side.
    pub(super) fn eof(&mut self, events: &mut impl Events) -> Drive {
        match &self.current {
            None => Drive::Closed,
            Some(Current { rest: Rest::Close, .. }) => {
                self.finish(events);
                Drive::Closed
            }
            Some(current) => {
                let fault = current.cut_short();
                self.fail(events, fault)
            }
        }
    }

    pub(super) fn broken(&mut self, events: &mut impl Events, error: &std::io::Error) -> Drive {
        let Some(current) = &self.current else { return Drive::Closed };
        // A transport says by these kinds that its own protocol is broken, or that it ended without its word for it: an
        // end that only the close tells is not to be believed then, and any other needs no word.
        let kind = match error.kind() {
            ErrorKind::InvalidData => FaultKind::Tls,
            ErrorKind::UnexpectedEof if matches!(current.rest, Rest::Close) => FaultKind::Tls,
            ErrorKind::UnexpectedEof => return self.eof(events),
            _ => FaultKind::Reset,
        };
        let message = format!("{}: {error}", current.place());
        self.fail(events, Fault::new(kind, message))
    }

    /// Ends the exchange in flight with a fault, and the connection with it.
    pub(super) fn fail(&mut self, events: &mut impl Events, fault: Fault) -> Drive {
        if let Some(current) = self.current.take() {
            // A server may close a kept connection just when a request is under way (RFC 9112, 9.3.1).
            let closed = matches!(fault.kind, FaultKind::EmptyReply | FaultKind::Reset);
            events.fault(current.id, fault, closed && !current.begun && self.done > 0);
        }
        Drive::Closed
    }
}

/// Waits for the server to close, as it said it would, so that it is not us who hold the port in TIME_WAIT.
pub(super) fn linger(io: &mut impl Transport, buffer: &mut [u8]) -> Drive {
    match io.read(buffer) {
        Err(e) if e.kind() == ErrorKind::WouldBlock => Drive::Lingering,
        _ => Drive::Closed,
    }
}
