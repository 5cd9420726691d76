//! What a thread lets the others see while it runs.

use std::sync::Mutex;

use crate::Nanos;
use crate::record::Recorder;

/// How often a thread shows where it is.
const EVERY: Nanos = 500_000_000;

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Progress {
    /// Seconds since the begin.
    pub seconds: f64,
    /// Responses completed so far.
    pub completed: u64,
    /// Faults so far.
    pub faulted: u64,
    /// Median response time of the newest slice, in seconds.
    pub p50: Option<f64>,
    /// Its 99th percentile.
    pub p99: Option<f64>,
}

/// One thread's window.
#[derive(Debug, Default)]
pub struct Window(Mutex<Seen>);

/// What is seen through it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    shown: Nanos,
    /// Completed and faulted.
    pub counts: (u64, u64),
    /// Response times of the newest slice.
    pub newest: crate::hist::Hist,
}

impl Window {
    /// Shows where it is.
    pub fn publish(&self, recorder: &Recorder) {
        if let Ok(mut seen) = self.0.lock() {
            seen.counts = recorder.progress();
            seen.newest.clear();
            seen.newest.add(recorder.newest());
        }
    }

    /// The same, unless it was done a moment ago.
    pub fn publish_now_and_then(&self, recorder: &Recorder, now: Nanos) {
        let is_due = self.0.lock().is_ok_and(|mut seen| {
            let is_due = now >= seen.shown + EVERY;
            seen.shown = if is_due { now } else { seen.shown };
            is_due
        });
        if is_due {
            self.publish(recorder);
        }
    }

    /// Looks in.
    pub fn look(&self) -> Seen {
        self.0.lock().map(|seen| seen.clone()).unwrap_or_default()
    }
}
