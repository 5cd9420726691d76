//! The bodies that are known on the wire for one request: the accepted ones, and those proven wrong.
//!
//! The set only grows, so that an index into it stays valid. Threads read a copy of their own (shared bytes, no lock) and
//! see by one atomic length that there is more.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::wrong::common;
use crate::fault::Fault;
use crate::protocol::coding::Coding;

/// Accepted bodies of a request, and as many wrong ones, are remembered at most: beyond that each is decoded anew.
pub(super) const MOST: usize = 8;

/// A body as it is transferred.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    pub coding: Coding,
    pub wire: Arc<[u8]>,
    /// Bytes that it decodes to.
    pub decoded_bytes: u64,
    /// What is wrong with it; none: it is accepted.
    pub fault: Option<Arc<Fault>>,
}

/// The set, shared by all threads.
#[derive(Debug, Default)]
pub(super) struct Variants {
    count: AtomicUsize,
    list: Mutex<Vec<Variant>>,
}

impl Variants {
    /// Adds one, unless it is there already or there are enough of its kind.
    pub(super) fn add(&self, variant: Variant) {
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        let alike = list.iter().filter(|v| v.fault.is_some() == variant.fault.is_some()).count();
        if alike < MOST && find(&list, variant.coding, &variant.wire).is_none() {
            list.push(variant);
            self.count.store(list.len(), Ordering::Release);
        }
    }

    /// Whether there is room for one more that is accepted, or wrong.
    pub(super) fn has_room(&self, wrong: bool) -> bool {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter().filter(|v| v.fault.is_some() == wrong).count() < MOST
    }

    /// A copy of the list.
    pub(super) fn copy(&self) -> Vec<Variant> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One thread's copy.
#[derive(Debug, Default)]
pub(super) struct View {
    list: Vec<Variant>,
    /// The one that the last body was equal to: the next one probably is, too.
    last: usize,
}

impl View {
    /// Takes in what was added since.
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

    /// Notes that a body was equal to that one.
    #[inline]
    pub(super) fn matched(&mut self, index: usize) {
        self.last = index;
    }

    /// Another variant that begins with the first `at` bytes of the variant `than`, goes on with `next`, and, when `ends`,
    /// ends there.
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

/// Where a body is in a list.
pub(super) fn find(list: &[Variant], coding: Coding, wire: &[u8]) -> Option<usize> {
    list.iter().position(|v| v.coding == coding && *v.wire == *wire)
}

/// The accepted variant that has the longest beginning in common with a body, and how long that is.
pub(super) fn nearest<'a>(list: &'a [Variant], coding: Coding, wire: &[u8]) -> Option<(&'a Variant, usize)> {
    let accepted = list.iter().filter(|v| v.coding == coding && v.fault.is_none());
    accepted.map(|v| (v, common(&v.wire, wire))).max_by_key(|(_, length)| *length)
}

#[cfg(test)]
mod tests;
