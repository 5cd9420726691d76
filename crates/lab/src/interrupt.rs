//! The user's wish to end: a flag that Ctrl-C, SIGTERM and SIGHUP set.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// A flag that is set once and shared by clones.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A flag that only [`Interrupt::set`] sets.
    pub fn new() -> Interrupt {
        Interrupt::default()
    }

    /// A flag that signals set. A second signal ends the program at once; the workers end with it.
    pub fn on_signals() -> io::Result<Interrupt> {
        let interrupt = Interrupt::new();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the first signal finds the flag down and only sets it.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&interrupt.0))?;
            flag::register(signal, Arc::clone(&interrupt.0))?;
        }
        Ok(interrupt)
    }

    /// Sets the flag.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
