//! The workers of a pool while a block goes on: how many are busy, how many connections wait.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use weigh_model::record::delivery::Workers;
use weigh_model::record::fairness::Moment;
use weigh_rig::fpm;

/// How often the status is read: seldom, because the answer costs the pool some 0.1 ms.
const EVERY: Duration = Duration::from_millis(60);

/// Readings of memory are this many readings of workers apart: each takes some milliseconds.
const MEMORY_EVERY: u32 = 10;

/// One reading of a pool's status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Workers that carry out a request.
    pub busy: u32,
    /// Workers that wait for one.
    pub idle: u32,
    /// Connections that wait for a worker.
    pub queue: u32,
    /// Memory of PHP's processes: PSS, bytes; none when it was not asked for.
    pub pss_bytes: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchReadings {
    /// With the seconds since the begin.
    readings: Vec<(f64, Reading)>,
    /// Most memory of PHP's processes: PSS, bytes.
    pub pss_bytes: Option<u64>,
}

/// A watch that goes on until it is ended.
#[derive(Debug)]
pub struct Watch {
    end: Sender<()>,
    thread: JoinHandle<Vec<(f64, Reading)>>,
}

impl Watch {
    /// Begins to read; a reading that fails is left out.
    pub fn begin(mut read: impl FnMut() -> Option<Reading> + Send + 'static) -> Watch {
        let (end, ended) = channel();
        let thread = std::thread::spawn(move || {
            let (begun, mut readings) = (Instant::now(), Vec::new());
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                readings.extend(read().map(|reading| (begun.elapsed().as_secs_f64(), reading)));
            }
            readings
        });
        Watch { end, thread }
    }

    pub fn end(self) -> WatchReadings {
        drop(self.end);
        let readings = self.thread.join().unwrap_or_default();
        WatchReadings { pss_bytes: readings.iter().filter_map(|(_, r)| r.pss_bytes).max(), readings }
    }
}

impl WatchReadings {
    /// All readings in one; none when there was none.
    pub fn workers(&self) -> Option<Workers> {
        let readings = || self.readings.iter().map(|(_, reading)| reading);
        let first = readings().next()?;
        let busy: f64 = readings().map(|r| f64::from(r.busy)).sum();
        Some(Workers {
            total: first.busy + first.idle,
            busy_max: readings().map(|r| r.busy).max()?,
            busy_mean: busy / self.readings.len() as f64,
            idle_min: readings().map(|r| r.idle).min()?,
            queue_max: readings().map(|r| r.queue).max()?,
            readings: u32::try_from(self.readings.len()).unwrap_or(u32::MAX),
        })
    }

    pub fn moments(&self) -> Vec<Moment> {
        let moment = |(at, r): &(f64, Reading)| Moment { at: *at, busy: r.busy, queue: r.queue };
        self.readings.iter().map(moment).collect()
    }
}

/// Reads the workers of a pool, and the memory of its processes now and then where it is asked for; none where the question would take
/// a worker from its work.
pub fn gauge(pool: &fpm::Pool, with_memory: bool) -> Option<impl FnMut() -> Option<Reading> + Send + use<>> {
    let (gauge, group) = (pool.gauge()?, pool.group());
    let mut readings = 0_u32;
    Some(move || {
        let status = gauge.status().ok()?;
        readings += 1;
        let is_due = with_memory && readings % MEMORY_EVERY == 1;
        Some(Reading {
            busy: status.active,
            idle: status.idle,
            queue: gauge.listen_queue().unwrap_or(0),
            pss_bytes: is_due.then(|| group.pss_bytes()).flatten(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_summed_up() {
        let readings = [
            Reading { busy: 1, idle: 7, queue: 0, pss_bytes: None },
            Reading { busy: 8, idle: 0, queue: 3, pss_bytes: Some(9) },
        ];
        let seen = WatchReadings { readings: vec![(0.1, readings[0]), (0.2, readings[1])], pss_bytes: None };
        let expected =
            Workers { total: 8, busy_max: 8, busy_mean: 4.5, idle_min: 0, queue_max: 3, readings: 2 };
        assert_eq!(seen.workers(), Some(expected));
        assert_eq!(seen.moments()[1], Moment { at: 0.2, busy: 8, queue: 3 });
    }

    #[test]
    fn a_watch_that_is_ended_at_once_has_seen_nothing_and_ends() {
        let seen = Watch::begin(|| None).end();
        assert_eq!((seen.workers(), seen.moments().len()), (None, 0));
    }
}
