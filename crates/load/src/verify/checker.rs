//! One response as it arrives.

use super::expectation::{Capture, Expectations};
use super::variants::View;
use super::wrong::{self, SHOWN, common};
use crate::fault::HttpFault;
use crate::protocol::coding::Coding;

/// The check of one response: it starts with the head, takes the body, and ends with the last byte. A check that is
/// dropped before its end has no effect.
#[derive(Debug)]
pub struct Checker {
    pub(super) request: u32,
    pub(super) coding: Coding,
    pub(super) state: State,
}

#[derive(Debug)]
pub(super) enum State {
    /// The first `at` bytes are those of that variant.
    Compare {
        variant: usize,
        at: usize,
    },
    /// Different from all variants, or to be decoded as a sample: kept from the first byte.
    Capture(Box<Capture>),
    /// Known to be wrong; the bytes from the difference on are being collected.
    Differs(Box<Differs>),
    Unread,
    /// It should be decoded, but there is no room to keep it.
    NoRoom,
}

/// The place where an uncompressed body differs from the accepted one.
#[derive(Debug)]
pub(super) struct Differs {
    pub variant: usize,
    pub at: usize,
    pub got: Vec<u8>,
}

/// A body that equals no accepted one: to be passed to [`super::Verifier::submit`].
#[derive(Debug)]
pub struct Evidence {
    pub(super) request: u32,
    pub(super) coding: Coding,
    pub(super) capture: Box<Capture>,
}

/// What is known about a response at its end.
#[derive(Debug)]
pub enum Verdict {
    /// Every byte is correct.
    Compared {
        /// Bytes of the body after decoding.
        decoded_bytes: u64,
    },
    /// Status, coding and length are correct as far as known; the body was not checked.
    Unread {
        /// Bytes of the body after decoding; 0 if unknown.
        decoded_bytes: u64,
    },
    /// To be decoded before it counts.
    Unproven(Evidence),
    Fault(HttpFault),
}

impl Checker {
    /// Whether the body's bytes matter; otherwise they may be discarded and only counted.
    #[inline]
    pub fn reads(&self) -> bool {
        !matches!(self.state, State::Unread | State::NoRoom)
    }

    #[inline]
    pub(super) fn body(&mut self, bytes: &[u8], view: &View, expectations: &Expectations) {
        match &mut self.state {
            State::Compare { variant, at } => {
                let end = *at + bytes.len();
                if view.list()[*variant].wire.get(*at..end) == Some(bytes) {
                    *at = end;
                } else {
                    self.leave(bytes, view, expectations);
                }
            }
            State::Capture(capture) => {
                if !expectations.keep(capture, bytes) {
                    self.state = State::NoRoom;
                }
            }
            State::Differs(differs) => differs.gather(bytes),
            State::Unread | State::NoRoom => {}
        }
    }

    /// The body differs from the variant that it was compared with: finds another variant, or keeps the body.
    #[cold]
    fn leave(&mut self, bytes: &[u8], view: &View, expectations: &Expectations) {
        let State::Compare { variant, at } = self.state else { return };
        let wire = &view.list()[variant].wire;
        self.state = if let Some(other) = view.other(variant, at, bytes, false) {
            State::Compare { variant: other, at: at + bytes.len() }
        } else if self.coding == Coding::Identity && !expectations.varies(self.request) {
            let same = common(&wire[at..], bytes);
            let mut differs = Differs { variant, at: at + same, got: Vec::new() };
            differs.gather(&bytes[same..]);
            State::Differs(Box::new(differs))
        } else {
            let mut state = expectations.capture(&wire[..at]);
            if let State::Capture(kept) = &mut state
                && !expectations.keep(kept, bytes)
            {
                state = State::NoRoom;
            }
            state
        };
    }
}

impl Differs {
    fn gather(&mut self, bytes: &[u8]) {
        let room = SHOWN - self.got.len();
        self.got.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The failure, if the whole body had `length` bytes.
    pub fn fault(&self, view: &View, length: u64) -> HttpFault {
        let wire = &view.list()[self.variant].wire;
        let difference = wrong::difference(self.at, wire, &self.got);
        wrong::body(difference, length, wire.len() as u64)
    }
}
