//! The clock of a run, behind a trait so that the scheduler can be driven by another one.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use weigh_os::meter::CpuTimes;

/// What the scheduler knows of time.
pub trait Clock {
    /// Time since some fixed instant; never goes back.
    fn now(&self) -> Duration;

    /// Seconds since the epoch.
    fn epoch(&self) -> i64;

    /// The processors' times, where there is such a meter.
    fn cpu_times(&self) -> Option<CpuTimes> {
        None
    }
}

#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
    /// What is measured runs on this machine.
    here: bool,
}

impl SystemClock {
    pub fn new() -> SystemClock {
        SystemClock { start: Instant::now(), here: true }
    }

    /// Of a run whose visits are made on another machine: this one's processors say nothing of them.
    pub fn elsewhere() -> SystemClock {
        SystemClock { here: false, ..SystemClock::new() }
    }
}

impl Default for SystemClock {
    fn default() -> SystemClock {
        SystemClock::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn epoch(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |d| i64::try_from(d.as_secs()).unwrap_or(i64::MAX))
    }

    fn cpu_times(&self) -> Option<CpuTimes> {
        self.here.then(CpuTimes::read)?
    }
}
