//! Bodies that are kept for the decoder thread, under a bound for all threads together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that may be held at a time. One holder alone may exceed it, so that a single large body can be kept.
#[derive(Debug)]
pub(super) struct Budget {
    limit: usize,
    used: AtomicUsize,
}

impl Budget {
    /// A budget of so many bytes.
    pub(super) fn of(limit: usize) -> Arc<Budget> {
        Arc::new(Budget { limit, used: AtomicUsize::new(0) })
    }

    /// Takes `more` bytes for one that holds `own`; false: there is no room.
    pub(super) fn take(&self, more: usize, own: usize) -> bool {
        let before = self.used.fetch_add(more, Ordering::Relaxed);
        if before + more <= self.limit || before == own {
            return true;
        }
        self.used.fetch_sub(more, Ordering::Relaxed);
        false
    }

    fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Bytes held now.
    #[cfg(test)]
    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

/// A body from its first byte on. What it holds goes back to the budget when it is dropped, wherever that is.
#[derive(Debug)]
pub(super) struct Capture {
    bytes: Vec<u8>,
    budget: Arc<Budget>,
}

impl Capture {
    /// Begins with what has come so far; none when there is no room.
    pub(super) fn begin(budget: &Arc<Budget>, sofar: &[u8]) -> Option<Box<Capture>> {
        let mut capture = Box::new(Capture { bytes: Vec::new(), budget: Arc::clone(budget) });
        capture.push(sofar).then_some(capture)
    }

    /// Takes up more of the body; false: there is no room, and the capture is of no use any more.
    pub(super) fn push(&mut self, more: &[u8]) -> bool {
        let room = self.budget.take(more.len(), self.bytes.len());
        if room {
            self.bytes.extend_from_slice(more);
        }
        room
    }

    /// The bytes so far.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_goes_back() {
        let budget = Budget::of(10);
        let mut a = Capture::begin(&budget, b"12345").unwrap();
        let b = Capture::begin(&budget, b"1234").unwrap();
        assert_eq!(budget.used(), 9);
        assert!(Capture::begin(&budget, b"12").is_none());
        assert!(!a.push(b"12"), "two hold bytes: neither may exceed");
        assert_eq!(budget.used(), 9);
        drop(b);
        assert_eq!(budget.used(), 5);
        assert!(a.push(b"1234567"), "alone it may");
        assert_eq!(a.bytes(), b"123451234567");
        assert!(Capture::begin(&budget, b"1").is_none());
        drop(a);
        assert_eq!(budget.used(), 0);
    }
}
