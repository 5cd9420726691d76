//! The workers of a pool while a block goes on: how many are busy, how many connections wait.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::record::delivery::Workers;

/// How often the status is read: seldom, because the answer costs the pool some 0.1 ms.
const EVERY: Duration = Duration::from_millis(60);

/// One reading of a pool's status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Workers that carry out a request.
    pub busy: u32,
    /// Workers that wait for one.
    pub idle: u32,
    /// Connections that wait for a worker.
    pub queue: u32,
}

/// A watch that goes on until it is ended.
#[derive(Debug)]
pub struct Watch {
    end: Sender<()>,
    thread: JoinHandle<Vec<Reading>>,
}

impl Watch {
    /// Begins to read; a reading that fails is left out.
    pub fn begin(mut read: impl FnMut() -> Option<Reading> + Send + 'static) -> Watch {
        let (end, ended) = channel();
        let thread = std::thread::spawn(move || {
            let mut readings = Vec::new();
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                readings.extend(read());
            }
            readings
        });
        Watch { end, thread }
    }

    /// Ends it; none when there was no reading.
    pub fn end(self) -> Option<Workers> {
        drop(self.end);
        summary(&self.thread.join().unwrap_or_default())
    }
}

fn summary(readings: &[Reading]) -> Option<Workers> {
    let first = readings.first()?;
    let busy: f64 = readings.iter().map(|r| f64::from(r.busy)).sum();
    Some(Workers {
        total: first.busy + first.idle,
        busy_max: readings.iter().map(|r| r.busy).max()?,
        busy_mean: busy / readings.len() as f64,
        idle_min: readings.iter().map(|r| r.idle).min()?,
        queue_max: readings.iter().map(|r| r.queue).max()?,
        readings: u32::try_from(readings.len()).unwrap_or(u32::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_summed_up() {
        assert_eq!(summary(&[]), None);
        let readings = [Reading { busy: 1, idle: 7, queue: 0 }, Reading { busy: 8, idle: 0, queue: 3 }];
        let expected =
            Workers { total: 8, busy_max: 8, busy_mean: 4.5, idle_min: 0, queue_max: 3, readings: 2 };
        assert_eq!(summary(&readings), Some(expected));
    }

    #[test]
    fn a_watch_that_is_ended_at_once_has_seen_nothing_and_ends() {
        assert_eq!(Watch::begin(|| None).end(), None);
    }
}
