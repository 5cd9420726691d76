//! Which streams of a connection have something to tell, so that no other is asked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// The streams that were woken, each once. Wakers must be `Send`: all of it stays in one thread nevertheless.
#[derive(Debug, Default)]
pub struct Ready(Arc<Mutex<Vec<usize>>>);

#[derive(Debug)]
struct One {
    slot: usize,
    is_listed: AtomicBool,
    list: Arc<Mutex<Vec<usize>>>,
}

impl Wake for One {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_listed.swap(true, Ordering::Relaxed) {
            self.list.lock().unwrap_or_else(PoisonError::into_inner).push(self.slot);
        }
    }
}

/// What lists one stream.
#[derive(Clone, Debug)]
pub struct Bell {
    one: Arc<One>,
    /// For the library.
    pub waker: Waker,
}

impl Bell {
    /// Lists the stream.
    pub fn ring(&self) {
        self.one.wake_by_ref();
    }

    /// The stream is being looked at: it may be listed again.
    pub fn answered(&self) {
        self.one.is_listed.store(false, Ordering::Relaxed);
    }
}

impl Ready {
    /// What lists the stream of this slot.
    pub fn bell(&self, slot: usize) -> Bell {
        let one = Arc::new(One { slot, is_listed: AtomicBool::new(false), list: self.0.clone() });
        Bell { waker: Waker::from(one.clone()), one }
    }

    /// Moves the woken streams over to an empty list.
    pub fn take(&self, into: &mut Vec<usize>) {
        std::mem::swap(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), into);
    }
}

/// Whether the connection itself has something to do.
#[derive(Debug, Default)]
pub struct Flag(AtomicBool);

impl Flag {
    /// It has something to do.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it has.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether it has, from now on not any more.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.set();
    }
}
