//! A request in flight.

use super::preflight::Keeping;
use crate::Nanos;
use crate::fault::{HttpFault, HttpFaultKind};
use crate::protocol::ExchangeId;
use crate::record::Stamps;
use crate::verify::Checker;

#[derive(Debug, Default)]
pub struct Exchange {
    pub request: u32,
    pub class: u32,
    pub stream: u16,
    /// How often it was sent before, over connections that the server had closed or on which it refused the request.
    pub resent: u8,
    /// See [`super::prepared::Prepared::is_idempotent`].
    pub is_idempotent: bool,
    pub scheduled: Nanos,
    pub sent: Nanos,
    /// When its first byte arrived.
    pub first: Nanos,
    /// Its status; 0 before there is one.
    pub status: u16,
    /// Bytes of body so far.
    pub body: u64,
    /// The download is aborted after this many bytes; `u64::MAX`: never.
    pub abandon_after: u64,
    /// The download was aborted on purpose.
    pub abandoned: bool,
    pub checker: Option<Checker>,
    /// The captured body, in a preflight.
    pub keeping: Option<Box<Keeping>>,
}

/// What is counted of a response at its end, or when the decoder has judged it.
#[derive(Clone, Copy, Debug)]
pub struct Tag {
    pub request: u32,
    pub class: u32,
    pub status: u16,
    pub body_bytes: u64,
    pub stamps: Stamps,
}

impl Exchange {
    /// A request that is due; it aborts after `abandon_after` bytes of body.
    pub fn new(request: u32, class: u32, stream: u16, scheduled: Nanos, abandon_after: u64) -> Exchange {
        Exchange { request, class, stream, scheduled, abandon_after, ..Exchange::default() }
    }

    /// Whether it may be sent again after this failure, if its connection reports that no part of a response had
    /// arrived. An HTTP/2 server reports which requests it did not process, and may end several connections at once. A
    /// server that only closes may have processed the request, so such a request is sent again only once.
    pub fn may_go_again(&self, fault: &HttpFault) -> bool {
        match fault.kind {
            HttpFaultKind::Http2 => self.resent < 8,
            _ => self.is_idempotent && self.resent < 1,
        }
    }

    /// What is counted if it ends now.
    pub fn tag(&self, now: Nanos) -> Tag {
        let stamps = Stamps { scheduled: self.scheduled, sent: self.sent, first: self.first, last: now };
        Tag { request: self.request, class: self.class, status: self.status, body_bytes: self.body, stamps }
    }
}

/// An exchange that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// An exchange of this stream has ended for good.
    Over(u16),
    /// It must be sent again.
    Again(ExchangeId),
}
