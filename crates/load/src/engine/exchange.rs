//! A request in flight.

use super::preflight::Keeping;
use crate::Nanos;
use crate::fault::{Fault, FaultKind};
use crate::protocol::ExchangeId;
use crate::record::Stamps;
use crate::verify::Checker;

/// A request in flight.
#[derive(Debug, Default)]
pub struct Exchange {
    /// Index of the request.
    pub request: u32,
    /// Index of its class.
    pub class: u32,
    /// Index of its stream.
    pub stream: u16,
    /// How often it was sent before, over connections whose server had closed them or refused it.
    pub resent: u8,
    /// See [`super::prepared::Prepared::is_idempotent`].
    pub is_idempotent: bool,
    /// When it was due.
    pub scheduled: Nanos,
    /// When it was sent.
    pub sent: Nanos,
    /// When its first byte came.
    pub first: Nanos,
    /// Its status; 0 before there is one.
    pub status: u16,
    /// Bytes of body so far.
    pub body: u64,
    /// Where the download is given up; `u64::MAX`: nowhere.
    pub abandon_after: u64,
    /// It was given up.
    pub abandoned: bool,
    /// What checks the body.
    pub checker: Option<Checker>,
    /// What keeps the body, in a preflight.
    pub keeping: Option<Box<Keeping>>,
}

/// What is counted of a response at its end, or when the decoder has spoken of it.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    /// Index of the request.
    pub request: u32,
    /// Index of its class.
    pub class: u32,
    /// The status.
    pub status: u16,
    /// Bytes of its body.
    pub body_bytes: u64,
    /// Its times.
    pub stamps: Stamps,
}

impl Exchange {
    /// A request that is due; it gives up after so many bytes of body.
    pub fn new(request: u32, class: u32, stream: u16, scheduled: Nanos, abandon_after: u64) -> Exchange {
        Exchange { request, class, stream, scheduled, abandon_after, ..Exchange::default() }
    }

    /// Whether it may be sent again after this fault, of which its connection says that nothing of a response was there.
    /// An HTTP/2 server says which requests it has not looked at, and may end several connections at once; one that just
    /// closes may have carried the request out, and once must do.
    pub fn may_go_again(&self, fault: &Fault) -> bool {
        match fault.kind {
            FaultKind::Http2 => self.resent < 8,
            _ => self.is_idempotent && self.resent < 1,
        }
    }

    /// What is counted of it when it ends now.
    pub fn tag(&self, now: Nanos) -> Tag {
        let stamps = Stamps { scheduled: self.scheduled, sent: self.sent, first: self.first, last: now };
        Tag { request: self.request, class: self.class, status: self.status, body_bytes: self.body, stamps }
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
