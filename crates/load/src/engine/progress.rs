//! What a thread lets the others see while it runs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Nanos;
use crate::record::Recorder;

/// How often a thread shows where it is.
const EVERY: Nanos = 500_000_000;

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Progress {
    /// It is the preflight that goes on.
    #[serde(default)]
    pub is_preflight: bool,
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
pub struct Window {
    seen: Mutex<Seen>,
    /// Grows as long as the thread goes on.
    beats: AtomicU64,
}

/// The beats of a thread that has come to its end.
const ENDED: u64 = u64::MAX;

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
    /// Shows that it goes on.
    pub fn beat(&self) {
        self.beats.fetch_add(1, Ordering::Relaxed);
    }

    /// Shows that there is nothing more to go on with.
    pub fn end(&self) {
        self.beats.store(ENDED, Ordering::Relaxed);
    }

    /// Whether it has gone on since there were so many beats, or has ended; they are counted anew.
    pub fn has_gone_on(&self, since: &mut u64) -> bool {
        let beats = self.beats.load(Ordering::Relaxed);
        std::mem::replace(since, beats) != beats || beats == ENDED
    }

    /// Shows where it is.
    pub fn publish(&self, recorder: &Recorder) {
        if let Ok(mut seen) = self.seen.lock() {
            seen.counts = recorder.progress();
            seen.newest.clear();
            seen.newest.add(recorder.newest());
        }
    }

    /// Shows that it goes on, and where it is unless it did a moment ago.
    pub fn publish_now_and_then(&self, recorder: &Recorder, now: Nanos) {
        self.beat();
        let is_due = self.seen.lock().is_ok_and(|mut seen| {
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
        self.seen.lock().map(|seen| seen.clone()).unwrap_or_default()
    }
}
