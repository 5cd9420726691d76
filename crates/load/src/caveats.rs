//! What a result says about the generator itself: numbers that it, not the server, may have limited.
//! Pure functions of results; what they find is printed beside the number and never hidden.

use serde::{Deserialize, Serialize};

use crate::hist::Hist;
use crate::result::{Counts, LoadResult};

/// A thread that used this share of a core had none left to send more. The rest of 5% is what a thread loses to
/// interrupts and to the scheduler's own accounting when it never sleeps. A lower bound would call a thread the limit that still
/// sleeps between responses. The one bound for loads, visits and estimates.
pub const BUSY_SHARE: f64 = 0.95;
/// A thread that waited for a processor for this share of the block has that in what it measured.
pub const WAIT_SHARE: f64 = 0.02;
/// Above a tenth of what the server takes, lateness moves the percentiles of the response time by more than runs differ.
pub const LATE_SHARE: f64 = 0.1;

/// The share of what was due that has to be completed for the rate to be what was asked for.
const MET: f64 = 0.99;

/// A warning that travels with a result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "code")]
pub enum Caveat {
    /// The generator, not the server, was the limit.
    SaturatedClient {
        /// How that shows.
        sign: Sign,
    },
    /// A thread was ready and waited for a processor, which the server or another program had: it was idle only to look at, and that is in
    /// the times.
    WaitingClient {
        /// The share of the block, of the thread that waited most.
        share: f64,
    },
    /// The rate was met, and requests left late although a connection was free: that is in the response times.
    LateClient {
        /// The 99th percentile of the lateness in seconds.
        seconds: f64,
    },
}

/// How it shows that the generator was the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "sign")]
pub enum Sign {
    /// In a closed model: a thread had no time left, so that users waited for it.
    Busy {
        /// The busiest thread's share of a core.
        share: f64,
    },
    /// In an open model whose rate was not met: requests left late although a connection was free.
    Late {
        /// The 99th percentile of the lateness in seconds.
        seconds: f64,
    },
    /// In an open model: requests were dropped while a thread had no time left.
    Dropped {
        /// How many.
        dropped: u64,
        /// The busiest thread's share of a core.
        share: f64,
    },
}

/// The caveats of a result. `has_closed`: the plan has a stream with a closed model.
///
/// A busy thread alone is no sign in an open model: what it owes is known, and it shows when it is late with it.
pub fn caveats(result: &LoadResult, has_closed: bool) -> Vec<Caveat> {
    let share = result.client.thread_shares.iter().copied().fold(0.0, f64::max);
    let is_busy = share >= BUSY_SHARE;
    let lateness = result.client.lateness.quantile(0.99);
    let bound = response(result).quantile(0.5).map_or(0.0, |median| median * LATE_SHARE);
    let wait = result.client.thread_waits.iter().copied().fold(0.0, f64::max);
    let dropped = result.classes.iter().map(|c| c.counts.dropped).sum();
    let saturated = |sign| Caveat::SaturatedClient { sign };
    let late = lateness.filter(|late| *late > bound).and_then(|seconds| match is_met(result) {
        true => Some(Caveat::LateClient { seconds }),
        false => is_behind(result, seconds).then(|| saturated(Sign::Late { seconds })),
    });
    let found = [
        (has_closed && is_busy).then_some(saturated(Sign::Busy { share })),
        late,
        (dropped > 0 && is_busy).then_some(saturated(Sign::Dropped { dropped, share })),
        (wait >= WAIT_SHARE).then_some(Caveat::WaitingClient { share: wait }),
    ];
    found.into_iter().flatten().collect()
}

/// Whether what was due was completed.
fn is_met(result: &LoadResult) -> bool {
    let sum = |of: fn(&Counts) -> u64| -> u64 { result.classes.iter().map(|class| of(&class.counts)).sum() };
    sum(|c| c.completed) as f64 >= MET * sum(|c| c.scheduled) as f64
}

/// Whether so much lateness is that of a generator that has fallen behind. What it owes at the end it is late with: a share of the
/// schedule that was not sent is as late as that share of the time. Where the lateness is far from that, the server kept connections busy,
/// or refused what was sent, and the rate is its own.
fn is_behind(result: &LoadResult, late: f64) -> bool {
    let sum = |of: fn(&Counts) -> u64| -> u64 { result.classes.iter().map(|class| of(&class.counts)).sum() };
    let owed = sum(|c| c.scheduled).saturating_sub(sum(|c| c.completed) + sum(|c| c.faulted));
    let share = owed as f64 / sum(|c| c.scheduled).max(1) as f64;
    share > 1.0 - MET && late >= share * result.seconds / 2.0
}

/// Response times of all classes together.
pub(crate) fn response(result: &LoadResult) -> Hist {
    let mut all = Hist::default();
    result.classes.iter().for_each(|class| all.add(&class.times.response));
    all
}

impl Caveat {
    /// The word that a table prints, as `SATURATED-CLIENT`.
    pub fn code(&self) -> &'static str {
        match self {
            Caveat::SaturatedClient { .. } => "SATURATED-CLIENT",
            Caveat::LateClient { .. } => "LATE-CLIENT",
            Caveat::WaitingClient { .. } => "WAITING-CLIENT",
        }
    }

    /// What was seen, what it means, and what to do.
    pub fn sentence(&self) -> String {
        let sign = match self {
            Caveat::SaturatedClient { sign } => sign,
            Caveat::WaitingClient { share } => {
                return format!(
                    "a generator thread waited for a processor during {:.0}% of the block, which its times include; pin generator and \
                     server to separate cores (--threads 1 --cpus 0)",
                    share * 100.0
                );
            }
            Caveat::LateClient { seconds } => {
                return format!(
                    "the rate was met, but 1% of requests left at least {:.2} ms late although a connection was free, which response \
                     times include; use more threads, or pin them to cores of their own",
                    seconds * 1e3
                );
            }
        };
        let (seen, remedy) = match sign {
            Sign::Busy { share } => (
                format!("a thread used {:.0}% of its core", share * 100.0),
                "use more threads or another machine",
            ),
            Sign::Late { seconds } => (
                format!(
                    "1% of requests left at least {:.1} ms late although a connection was free",
                    seconds * 1e3
                ),
                "use more threads, pin them to cores of their own, or lower the rate",
            ),
            Sign::Dropped { dropped, share } => (
                format!(
                    "{dropped} {} dropped while a thread used {:.0}% of its core",
                    if *dropped == 1 { "request was" } else { "requests were" },
                    share * 100.0
                ),
                "use more threads or another machine, or lower the rate",
            ),
        };
        format!("the generator was the bottleneck, so this is not the server's rate: {seen}; {remedy}")
    }
}
