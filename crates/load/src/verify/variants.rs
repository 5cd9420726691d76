//! The known bodies of one request, as transferred: accepted ones and wrong ones.
//!
//! The set only grows, so that an index stays valid. Threads read a copy of their own (shared bytes, no lock); one
//! atomic length shows them that there is more.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::wrong::common;
use crate::fault::HttpFault;
use crate::protocol::coding::Coding;

/// The most accepted bodies of a request, and also the most wrong ones, that are kept: each further one is decoded
/// again.
pub(super) const MOST: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub coding: Coding,
    pub wire: Arc<[u8]>,
    pub decoded_bytes: u64,
    /// What is wrong with it; none: it is accepted.
    pub fault: Option<Arc<HttpFault>>,
}

/// The set, shared by all threads.
#[derive(Debug, Default)]
pub(super) struct Variants {
    count: AtomicUsize,
    list: Mutex<Vec<Variant>>,
}

impl Variants {
    /// Adds one, unless it is already in the set or there are enough of its kind.
    pub(super) fn add(&self, variant: Variant) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let alike = list.iter().filter(|v| v.fault.is_some() == variant.fault.is_some()).count();
        if alike < MOST && find(&list, variant.coding, &variant.wire).is_none() {
            list.push(variant);
            self.count.store(list.len(), Ordering::Release);
        }
    }

    /// Whether there is room for one more accepted, or wrong, body.
    pub(super) fn has_room(&self, wrong: bool) -> bool {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter().filter(|v| v.fault.is_some() == wrong).count() < MOST
    }

    pub(super) fn copy(&self) -> Vec<Variant> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[derive(Debug, Default)]
pub(super) struct View {
    list: Vec<Variant>,
    /// The variant that the last body was equal to: the next one probably is, too.
    last: usize,
}

impl View {
    #[inline]
    pub(super) fn refresh(&mut self, shared: &Variants) {
        if shared.count.load(Ordering::Acquire) != self.list.len() {
            self.list = shared.copy();
        }
    }

    pub(super) fn list(&self) -> &[Variant] {
        &self.list
    }

    /// The variant to compare with first.
    #[inline]
    pub(super) fn first(&self, coding: Coding) -> Option<usize> {
        match self.list.get(self.last) {
            Some(variant) if variant.coding == coding => Some(self.last),
            _ => self.list.iter().position(|v| v.coding == coding),
        }
    }

    /// Notes that a body was equal to that variant.
    #[inline]
    pub(super) fn matched(&mut self, index: usize) {
        self.last = index;
    }

    /// Another variant that starts with the first `at` bytes of the variant `than`, continues with `next`, and, if
    /// `ends`, ends there.
    pub(super) fn other(&self, than: usize, at: usize, next: &[u8], ends: bool) -> Option<usize> {
        let begin = &self.list[than].wire[..at];
        let fits = |v: &Variant| {
            v.coding == self.list[than].coding
                && v.wire.get(at..at + next.len()) == Some(next)
                && v.wire[..at] == *begin
                && (!ends || v.wire.len() == at + next.len())
        };
        self.list.iter().position(fits)
    }
}

/// The index of a body in a list.
pub(super) fn find(list: &[Variant], coding: Coding, wire: &[u8]) -> Option<usize> {
    list.iter().position(|v| v.coding == coding && *v.wire == *wire)
}

/// The accepted variant that has the longest start in common with a body, and the length of that start.
pub(super) fn nearest<'a>(list: &'a [Variant], coding: Coding, wire: &[u8]) -> Option<(&'a Variant, usize)> {
    let accepted = list.iter().filter(|v| v.coding == coding && v.fault.is_none());
    accepted.map(|v| (v, common(&v.wire, wire))).max_by_key(|(_, length)| *length)
}

#[cfg(test)]
mod tests;
