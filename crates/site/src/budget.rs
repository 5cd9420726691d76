//! What one look at a site or a store may take: all that is asked for and read counts, so that many small things are bounded as one large
//! thing is.

use std::cell::Cell;
use std::time::{Duration, Instant};

use weigh_os::interrupt::Interrupt;

/// Requests, bytes and time that are left.
#[derive(Debug)]
pub struct Budget {
    until: Instant,
    requests: Cell<usize>,
    bytes: Cell<usize>,
}

impl Budget {
    pub fn new(patience: Duration, requests: usize, bytes: usize) -> Budget {
        Budget { until: Instant::now() + patience, requests: requests.into(), bytes: bytes.into() }
    }

    /// Whether nothing more is to be asked for: something is used up, or the user wants an end.
    pub fn is_spent(&self) -> bool {
        self.is_late() || self.requests.get() == 0 || self.bytes.get() == 0
    }

    /// Whether its time is over, or the user wants an end.
    pub fn is_late(&self) -> bool {
        self.left().is_zero() || Interrupt::caught().is_set()
    }

    pub fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    pub fn request(&self) {
        self.requests.set(self.requests.get().saturating_sub(1));
    }

    pub fn take(&self, bytes: usize) {
        self.bytes.set(self.bytes.get().saturating_sub(bytes));
    }
}
