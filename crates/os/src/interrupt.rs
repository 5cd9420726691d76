//! The user's wish to end: a flag that Ctrl-C, SIGTERM and SIGHUP set.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::regular;

/// What is said where the user's wish ends something.
pub const INTERRUPTED: &str = "interrupted";

/// How often a wait looks at the flag.
const GLANCE: Duration = Duration::from_millis(50);

/// Something that is read until the user wants an end: a long file takes its time on a busy machine.
pub struct Watched<'i, R> {
    pub input: R,
    pub interrupt: &'i Interrupt,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.interrupt.is_set() {
            return Err(io::Error::other(INTERRUPTED));
        }
        self.input.read(buffer)
    }
}

impl<R: Seek> Seek for Watched<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.input.seek(to)
    }
}

/// What signals lead to, once they are caught.
static HANDLED: Mutex<Option<Handled>> = Mutex::new(None);

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
        let mut known = HANDLED.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(handled) => Ok(handled.clone()),
            None => Ok(known.insert(Handled::begin()?).clone()),
        }
    }

    fn begin() -> io::Result<Handled> {
        // A signal that comes before all handlers are in place ends the program: it would be lost otherwise.
        let handled = Handled { unwatched: Arc::new(AtomicBool::new(true)), flag: Interrupt::new() };
        let ignored = ignored();
        for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0)
        {
            // In this order: the first signal finds the flag down and only sets it.
            flag::register_conditional_default(signal, Arc::clone(&handled.unwatched))?;
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&handled.flag.0))?;
            flag::register(signal, Arc::clone(&handled.flag.0))?;
        }
        Ok(handled)
    }
}

/// The signals that this process was started to ignore, as `nohup` does, by bit: they stay ignored.
fn ignored() -> u64 {
    let status = regular::system("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
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

    /// As [`Interrupt::during`], where nobody may look at the flag afterwards: then the wish ends the program, as without a handler.
    pub fn or_end<T>(work: impl FnOnce(&Interrupt) -> T) -> io::Result<T> {
        let handled = Handled::once()?;
        let is_unwatched = handled.unwatched.swap(false, Ordering::SeqCst);
        let done = work(&handled.flag);
        handled.unwatched.store(is_unwatched, Ordering::SeqCst);
        if is_unwatched && handled.flag.is_set() {
            std::process::exit(128 + SIGINT);
        }
        Ok(done)
    }

    /// The flag that signals set, where they are caught by now; else one that nothing sets.
    pub fn caught() -> Interrupt {
        let known = HANDLED.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map(|handled| handled.flag.clone()).unwrap_or_default()
    }

    /// What came of something that the user may have ended: then that is all there is to say of it.
    ///
    /// # Errors
    /// Those of the result, and that the flag is set.
    pub fn ended<T>(&self, result: Result<T>) -> Result<T> {
        if self.is_set() {
            bail!(INTERRUPTED);
        }
        result
    }

    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Waits this long; none if the flag is set meanwhile.
    pub fn wait(&self, time: Duration) -> Option<()> {
        let end = Instant::now() + time;
        while !self.is_set() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Some(());
            }
            std::thread::sleep(left.min(GLANCE));
        }
        None
    }
}
