//! The user's wish to end: a flag that Ctrl-C, SIGTERM and SIGHUP set.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// A flag that is set once and shared by clones.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

/// What the handlers of signals look at. They are put in place once: a handler cannot be taken away again.
#[derive(Clone)]
struct Handled {
    /// Nobody looks at the flag: a signal ends the program as if it were not caught.
    unwatched: Arc<AtomicBool>,
    flag: Interrupt,
}

impl Handled {
    fn once() -> io::Result<Handled> {
        static HANDLED: Mutex<Option<Handled>> = Mutex::new(None);
        let mut known = HANDLED.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(handled) => Ok(handled.clone()),
            None => Ok(known.insert(Handled::begin()?).clone()),
        }
    }

    fn begin() -> io::Result<Handled> {
        let handled = Handled { unwatched: Arc::default(), flag: Interrupt::new() };
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the first signal finds the flag down and only sets it.
            flag::register_conditional_default(signal, Arc::clone(&handled.unwatched))?;
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&handled.flag.0))?;
            flag::register(signal, Arc::clone(&handled.flag.0))?;
        }
        Ok(handled)
    }
}

impl Interrupt {
    /// A flag that only [`Interrupt::set`] sets.
    pub fn new() -> Interrupt {
        Interrupt::default()
    }

    /// The flag that signals set. A second signal ends the program at once; the workers end with it.
    pub fn on_signals() -> io::Result<Interrupt> {
        let handled = Handled::once()?;
        handled.unwatched.store(false, Ordering::SeqCst);
        Ok(handled.flag)
    }

    /// As [`Interrupt::on_signals`], for as long as something is done; afterwards a signal ends the program at once again.
    pub fn during<T>(work: impl FnOnce(&Interrupt) -> T) -> io::Result<T> {
        let handled = Handled::once()?;
        handled.unwatched.store(false, Ordering::SeqCst);
        let done = work(&handled.flag);
        handled.unwatched.store(true, Ordering::SeqCst);
        Ok(done)
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
