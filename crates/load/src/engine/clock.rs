//! The engine's clock, and a timer that ends a wait with microsecond precision.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Instant;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use crate::Nanos;

/// Nanoseconds since the start of the engine; all its threads use the same origin.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    pub fn from(origin: Instant) -> Clock {
        Clock(origin)
    }

    pub fn origin(&self) -> Instant {
        self.0
    }

    /// The current time; 0 before the origin.
    #[inline]
    pub fn now(&self) -> Nanos {
        Instant::now().saturating_duration_since(self.0).as_nanos() as Nanos
    }
}

/// Wakes a poll: its own timeout is rounded up to milliseconds, which is too coarse for a schedule.
#[derive(Debug)]
pub struct Timer {
    fd: OwnedFd,
    armed: Option<Nanos>,
}

impl Timer {
    /// A timer that is registered and not armed.
    ///
    /// # Errors
    /// When the system has none left.
    pub fn new(registry: &Registry, token: Token) -> io::Result<Timer> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        registry.register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Timer { fd, armed: None })
    }

    /// Wakes at `at`, unless it will already. Edge-triggered: an expiry that is not read does no harm, because setting
    /// the timer again clears it.
    ///
    /// # Errors
    /// As the system's.
    pub fn arm(&mut self, at: Nanos, now: Nanos) -> io::Result<()> {
        if self.armed.is_some_and(|armed| armed == at && armed > now) {
            return Ok(());
        }
        // The value 0 would disarm it.
        let wait = at.saturating_sub(now).max(1);
        let value = Timespec { tv_sec: (wait / 1_000_000_000) as i64, tv_nsec: (wait % 1_000_000_000) as _ };
        let once = Timespec { tv_sec: 0, tv_nsec: 0 };
        timerfd_settime(
            &self.fd,
            TimerfdTimerFlags::empty(),
            &Itimerspec { it_interval: once, it_value: value },
        )?;
        self.armed = Some(at);
        Ok(())
    }
}
