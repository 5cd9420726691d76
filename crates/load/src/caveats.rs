//! Caveats about the generator: results that the generator, not the server, may have limited. Pure functions of
//! results; caveats are printed beside the numbers and never hidden.

use serde::{Deserialize, Serialize};

use crate::result::{Counts, LoadResult};
use weigh_stats::hist::Hist;

/// A thread that used this share of a core could not send more. The remaining 5% go to interrupts and to the
/// scheduler's accounting of a thread that never sleeps. A lower limit would also match a thread that still sleeps
/// between responses. Loads, visits and estimates all use this limit.
pub const BUSY_SHARE: f64 = 0.95;
/// If a thread waited for a processor for this share of the block, the times include it.
pub const WAIT_SHARE: f64 = 0.02;
/// Above 10% of the server's response time, lateness changes the percentiles by more than the difference between runs.
pub const LATE_SHARE: f64 = 0.1;

/// By Little's law, a closed load is off if its requests in flight differ from its concurrency by more than this share.
const LITTLE_SHARE: f64 = 0.1;

/// The rate was reached if this share of the scheduled requests was completed.
const MET: f64 = 0.99;

/// A warning that belongs to a result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "code")]
pub enum Caveat {
    /// The generator, not the server, was the limit.
    SaturatedClient {
        /// The sign of it.
        sign: Sign,
    },
    /// A thread was ready but waited for a processor, which the server or another program used. It only seemed idle,
    /// and the times include the wait.
    WaitingClient {
        /// The share of the block that the thread with the longest wait waited.
        share: f64,
    },
    /// The rate was reached, but requests were sent late although a connection was free; the response times include
    /// this.
    LateClient {
        /// The 99th percentile of the lateness in seconds.
        seconds: f64,
    },
}

/// Signs that the generator was the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "sign")]
pub enum Sign {
    /// In a closed model: a thread was fully busy, so that users waited for it.
    Busy {
        /// The share of a core that the busiest thread used.
        share: f64,
    },
    /// In an open model whose rate was not reached: requests were sent late although a connection was free.
    Late {
        /// The 99th percentile of the lateness in seconds.
        seconds: f64,
    },
    /// In an open model: requests were dropped while a thread was fully busy.
    Dropped {
        /// Dropped requests.
        dropped: u64,
        /// The share of a core that the busiest thread used.
        share: f64,
    },
}

/// The caveats of a result. `has_closed`: the plan has a stream with a closed model.
///
/// In an open model, a busy thread alone is no sign: its schedule is known, and lateness shows if it falls behind.
pub fn caveats(result: &LoadResult, has_closed: bool) -> Vec<Caveat> {
    by_node(result, has_closed).into_iter().map(|(caveat, _)| caveat).collect()
}

/// The same, with the nodes of the agents that each holds for, if several agents sent the load. One agent of many that is at its
/// limit hardly shows in the sum, so each is judged alone; of one kind, the most serious is kept.
pub fn by_node(result: &LoadResult, has_closed: bool) -> Vec<(Caveat, Vec<String>)> {
    if result.agents.is_empty() {
        return of_one(result, has_closed).into_iter().map(|caveat| (caveat, Vec::new())).collect();
    }
    let mut found: Vec<(Caveat, Vec<String>)> = Vec::new();
    for agent in &result.agents {
        for caveat in of_one(&agent.result, has_closed) {
            match found.iter_mut().find(|(known, _)| known.is_like(&caveat)) {
                Some((known, nodes)) => {
                    *known = if caveat.measure() > known.measure() { caveat } else { *known };
                    nodes.push(agent.node.clone());
                }
                None => found.push((caveat, vec![agent.node.clone()])),
            }
        }
    }
    found
}

fn of_one(result: &LoadResult, has_closed: bool) -> Vec<Caveat> {
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

/// Whether the scheduled requests were completed.
fn is_met(result: &LoadResult) -> bool {
    let sum = |of: fn(&Counts) -> u64| -> u64 { result.classes.iter().map(|class| of(&class.counts)).sum() };
    sum(|c| c.completed) as f64 >= MET * sum(|c| c.scheduled) as f64
}

/// Whether lateness of this size means that the generator fell behind. If so, the share of the schedule that was not
/// sent equals the lateness as a share of the time. If the lateness is far from that, the server kept connections busy
/// or refused requests, and the rate is the server's.
fn is_behind(result: &LoadResult, late: f64) -> bool {
    let sum = |of: fn(&Counts) -> u64| -> u64 { result.classes.iter().map(|class| of(&class.counts)).sum() };
    let owed = sum(|c| c.scheduled).saturating_sub(sum(|c| c.completed) + sum(|c| c.faulted));
    let share = owed as f64 / sum(|c| c.scheduled).max(1) as f64;
    share > 1.0 - MET && late >= share * result.seconds / 2.0
}

/// The mean number of requests in flight, if by Little's law it cannot be that of a load that always has `concurrency`
/// requests in flight (a closed model without think time): rate × mean response time (Little, "A proof for the queuing
/// formula L = λW", Operations Research 9 (1961)), over a block of this many `seconds`. Requests without a response time may
/// have been in flight for another `unknown_seconds` in all. Each of its `blocks` ended with its longest response at the
/// latest, before which the other connections may have had nothing to send. `None`: no contradiction, or no response.
pub fn off_littles_law(
    concurrency: u64,
    response: &Hist,
    seconds: f64,
    blocks: f64,
    unknown_seconds: f64,
) -> Option<f64> {
    let (mean, longest, concurrency) = (response.mean()?, response.max()?, concurrency as f64);
    let spent = response.count() as f64 * mean;
    let idle = (concurrency - 1.0).max(0.0) * longest * blocks;
    let is_below = spent + idle + unknown_seconds < (1.0 - LITTLE_SHARE) * concurrency * seconds;
    let is_above = spent > (1.0 + LITTLE_SHARE) * concurrency * seconds;
    (seconds > 0.0 && concurrency > 0.0 && (is_below || is_above)).then(|| spent / seconds)
}

/// Response times of all classes together.
pub fn response(result: &LoadResult) -> Hist {
    let mut all = Hist::default();
    result.classes.iter().for_each(|class| all.add(&class.times.response));
    all
}

impl Caveat {
    /// Whether it says the same but for the measure of it.
    fn is_like(&self, other: &Caveat) -> bool {
        let sign = |caveat: &Caveat| match caveat {
            Caveat::SaturatedClient { sign } => Some(std::mem::discriminant(sign)),
            Caveat::WaitingClient { .. } | Caveat::LateClient { .. } => None,
        };
        self.code() == other.code() && sign(self) == sign(other)
    }

    /// How serious it is among those that are like it.
    fn measure(&self) -> f64 {
        match *self {
            Caveat::SaturatedClient { sign: Sign::Busy { share } } | Caveat::WaitingClient { share } => share,
            Caveat::SaturatedClient { sign: Sign::Late { seconds } } | Caveat::LateClient { seconds } => {
                seconds
            }
            Caveat::SaturatedClient { sign: Sign::Dropped { dropped, .. } } => dropped as f64,
        }
    }

    /// The label in tables, such as `SATURATED-CLIENT`.
    pub fn code(&self) -> &'static str {
        match self {
            Caveat::SaturatedClient { .. } => "SATURATED-CLIENT",
            Caveat::LateClient { .. } => "LATE-CLIENT",
            Caveat::WaitingClient { .. } => "WAITING-CLIENT",
        }
    }

    /// What was observed, what it means, and what to do.
    pub fn sentence(&self) -> String {
        let sign = match self {
            Caveat::SaturatedClient { sign } => sign,
            Caveat::WaitingClient { share } => {
                return format!(
                    "a generator thread waited for a processor during {:.0}% of the block, which the times include; pin generator and \
                     server to separate cores (--threads 1 --cpus 0)",
                    share * 100.0
                );
            }
            Caveat::LateClient { seconds } => {
                return format!(
                    "the rate was met, but 1% of requests were sent at least {:.2} ms late although a connection was free, which response \
                     times include; use more threads, or pin each thread to a core of its own",
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
                    "1% of requests were sent at least {:.1} ms late although a connection was free",
                    seconds * 1e3
                ),
                "use more threads, pin each thread to a core of its own, or lower the rate",
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
