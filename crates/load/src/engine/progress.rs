//! Progress that a thread shows to others while it runs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Nanos;
use crate::record::Recorder;
use weigh_stats::hist::{Hist, Packed};

/// How often a thread shows its progress.
const EVERY: Nanos = 500_000_000;

/// The progress of a run.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Progress {
    /// Whether the preflight is running.
    #[serde(default)]
    pub is_preflight: bool,
    /// Whether the preflight is over and the load waits for its common start.
    #[serde(default)]
    pub is_ready: bool,
    /// Seconds since the start.
    pub seconds: f64,
    pub completed: u64,
    pub faulted: u64,
    /// Median response time of the latest slice, in seconds.
    pub p50: Option<f64>,
    /// 99th percentile of the response time of the latest slice.
    pub p99: Option<f64>,
    /// The response times of the latest slice, if several agents share the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest: Option<Packed>,
    /// The nodes of agents that were lost, of several.
    #[serde(skip)]
    pub lost: Vec<String>,
}

impl Progress {
    /// What several agents say together, as far as each is.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Progress>) -> Progress {
        let (mut sum, mut newest) =
            (Progress { is_preflight: true, is_ready: true, ..Progress::default() }, Hist::default());
        for one in all {
            sum.is_preflight &= one.is_preflight;
            sum.is_ready &= one.is_ready;
            sum.seconds = sum.seconds.max(one.seconds);
            sum.completed += one.completed;
            sum.faulted += one.faulted;
            // A histogram that cannot be read is one that another program made up; there is no more to it than this line.
            let own = one.newest.as_ref().and_then(|newest| newest.unpack().ok());
            own.iter().for_each(|own| newest.add(own));
        }
        (sum.p50, sum.p99) = (newest.quantile(0.5), newest.quantile(0.99));
        sum
    }
}

/// The shared progress of one thread.
#[derive(Debug, Default)]
pub struct Window {
    seen: Mutex<ProgressSnapshot>,
    /// Grows as long as the thread is alive and working.
    beats: AtomicU64,
}

/// The beats of a thread that has ended.
const ENDED: u64 = u64::MAX;

/// The values that are shown.
#[derive(Clone, Debug, Default)]
pub struct ProgressSnapshot {
    shown: Nanos,
    pub counts: (u64, u64),
    /// Response times of the latest slice.
    pub newest: Hist,
}

impl Window {
    /// Shows that the thread goes on.
    pub fn beat(&self) {
        self.beats.fetch_add(1, Ordering::Relaxed);
    }

    /// Shows that the thread has ended.
    pub fn end(&self) {
        self.beats.store(ENDED, Ordering::Relaxed);
    }

    /// Whether the thread has gone on since `beats` was read, or has ended; updates `beats`.
    pub fn has_gone_on(&self, since: &mut u64) -> bool {
        let beats = self.beats.load(Ordering::Relaxed);
        std::mem::replace(since, beats) != beats || beats == ENDED
    }

    pub fn publish(&self, recorder: &Recorder) {
        if let Ok(mut seen) = self.seen.lock() {
            seen.counts = recorder.progress();
            seen.newest.clear();
            seen.newest.add(recorder.newest());
        }
    }

    /// Shows that the thread goes on, and its progress unless that was shown a moment ago.
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

    pub fn look(&self) -> ProgressSnapshot {
        self.seen.lock().map(|seen| seen.clone()).unwrap_or_default()
    }
}
