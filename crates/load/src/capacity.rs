//! Finds the knee: the highest rate of an open model that a server holds. Pure logic; a closure runs each step.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::caveats::{Caveat, caveats, response};
use crate::result::LoadResult;

/// What the server has to keep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The quantile of the response time, as 0.99.
    pub quantile: f64,
    /// Seconds that it may come to.
    pub seconds: f64,
}

/// Where to search, and how exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// What the server has to keep.
    pub limit: Limit,
    /// The first rate; a fraction of a closed model's is a good one, see [`start_below`].
    pub start: f64,
    /// No lower rate is tried.
    pub lowest: f64,
    /// No higher rate is tried.
    pub highest: f64,
    /// Seconds of a step; longer where the quantile would rest on a few requests alone.
    pub step_seconds: f64,
    /// The search ends when the rate that is held and the one that is not are as near as this, relatively.
    pub width: f64,
    /// Steps at most.
    pub most_steps: usize,
}

impl Search {
    /// The usual search.
    pub fn new(limit: Limit) -> Search {
        Search {
            limit,
            start: 100.0,
            lowest: 1.0,
            highest: 1e6,
            step_seconds: 5.0,
            width: 0.05,
            most_steps: 60,
        }
    }
}

/// Requests above the quantile that a step should have: with fewer, one slow one decides.
const IN_TAIL: f64 = 5.0;
/// A step is made longer by this at most.
const LONGEST_STEP: f64 = 6.0;
/// The share of what is offered that has to be achieved.
const ACHIEVED: f64 = 0.99;
/// A border is decided by two of three.
const ENOUGH: u32 = 2;

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The rate is held.
    Held,
    /// The response time is over the limit.
    Slow,
    /// Fewer responses a second came, right ones, than were asked for.
    Behind,
    /// Requests were due and never sent.
    Dropped,
    /// It was not held, and the generator may be why.
    Generator,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Step {
    /// Requests a second that were offered.
    pub rate: f64,
    /// Seconds that the schedule took.
    pub seconds: f64,
    /// Completed responses a second.
    pub achieved: f64,
    /// The limit's quantile of the response time in seconds; none: nothing was completed.
    pub response: Option<f64>,
    /// How it went.
    pub verdict: Verdict,
}

/// Why the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The border is known as exactly as was asked.
    Found,
    /// Even the lowest rate is not held.
    NothingHeld,
    /// Even the highest rate is held: the server's capacity is above it.
    NeverOver,
    /// Above the rate that is held, the generator was the limit: the server's capacity may be higher.
    Generator,
    /// The steps were used up before the border was known; it is between the rates that are given.
    OutOfSteps,
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Capacity {
    /// What the server had to keep.
    pub limit: Limit,
    /// The highest rate that is held; none: no rate is.
    pub held: Option<f64>,
    /// The lowest rate that is not held; none: every rate is.
    pub over: Option<f64>,
    /// Why the search ended.
    pub ended: Ended,
    /// Every step, in the order in which it was run.
    pub steps: Vec<Step>,
}

/// A rate from which a search climbs, below what a closed model reached: there, the server was at its limit.
pub fn start_below(closed: &LoadResult) -> f64 {
    let completed: u64 = closed.classes.iter().map(|c| c.counts.completed).sum();
    (completed as f64 / closed.seconds.max(1e-9) / 4.0).max(1.0)
}

/// Searches. `run` offers a rate for so many seconds.
///
/// The rate doubles (or halves) until one is held and one is not, then the geometric middle is tried until the two are
/// near enough. A hiccup of the machine must not move the answer: the two rates at the border are tried again, and each
/// stands as two of three tries have it.
///
/// # Errors
/// As `run`.
pub fn find_capacity<E>(
    search: &Search,
    mut run: impl FnMut(f64, f64) -> Result<LoadResult, E>,
) -> Result<Capacity, E> {
    let mut tried = Tried::default();
    let mut steps = Vec::new();
    let ended = loop {
        let rate = match tried.next(search) {
            Next::End(ended) => break ended,
            Next::Try(_) if steps.len() >= search.most_steps => break Ended::OutOfSteps,
            Next::Try(rate) => rate,
        };
        let enough = IN_TAIL / (1.0 - search.limit.quantile).max(1e-6) / rate;
        let seconds = enough.min(search.step_seconds * LONGEST_STEP).max(search.step_seconds);
        let step = judge(&search.limit, rate, seconds, &run(rate, seconds)?);
        tried.add(&step);
        steps.push(step);
    };
    let (held, over) = tried.border();
    let (held, over) = (held.map(|r| r.rate), over.map(|r| r.rate));
    Ok(Capacity { limit: search.limit, held, over, ended, steps })
}

fn judge(limit: &Limit, rate: f64, seconds: f64, result: &LoadResult) -> Step {
    let sum = |count: fn(&crate::result::Counts) -> u64| -> u64 {
        result.classes.iter().map(|class| count(&class.counts)).sum()
    };
    let (scheduled, completed, dropped) = (sum(|c| c.scheduled), sum(|c| c.completed), sum(|c| c.dropped));
    // The last requests may take as long as the limit; what comes later is a queue that was left.
    let taken = seconds.max(result.seconds - limit.seconds);
    let achieved = completed as f64 / taken;
    let response = response(result).quantile(limit.quantile);
    // What is due is random in some models, so that it is held against what was due, not against the rate.
    let share = if scheduled == 0 { 0.0 } else { completed as f64 / scheduled as f64 * seconds / taken };
    let verdict = match response {
        _ if dropped > 0 => Verdict::Dropped,
        _ if share < ACHIEVED => Verdict::Behind,
        Some(response) if response <= limit.seconds => Verdict::Held,
        _ => Verdict::Slow,
    };
    let is_generator =
        caveats(result, false).iter().any(|caveat| matches!(caveat, Caveat::SaturatedClient { .. }));
    let verdict = if verdict != Verdict::Held && is_generator { Verdict::Generator } else { verdict };
    Step { rate, seconds, achieved, response, verdict }
}

/// A rate with its tries.
#[derive(Clone, Copy, Debug)]
struct Rate {
    rate: f64,
    held: u32,
    over: u32,
    /// Of those over, the ones in which the generator may be why.
    generator: u32,
}

impl Rate {
    /// Whether it is held (greater) or not (less); equal: not known.
    fn stands(&self) -> Ordering {
        self.held.cmp(&self.over)
    }
}

/// What is to be done.
enum Next {
    Try(f64),
    End(Ended),
}

/// The rates that were tried, in rising order.
#[derive(Default)]
struct Tried(Vec<Rate>);

impl Tried {
    fn add(&mut self, step: &Step) {
        let at = self.0.partition_point(|r| r.rate < step.rate);
        if self.0.get(at).is_none_or(|r| r.rate != step.rate) {
            self.0.insert(at, Rate { rate: step.rate, held: 0, over: 0, generator: 0 });
        }
        let rate = &mut self.0[at];
        match step.verdict {
            Verdict::Held => rate.held += 1,
            Verdict::Generator => (rate.over, rate.generator) = (rate.over + 1, rate.generator + 1),
            Verdict::Slow | Verdict::Behind | Verdict::Dropped => rate.over += 1,
        }
    }

    /// The lowest rate that is not held, and the highest below it that is.
    fn border(&self) -> (Option<Rate>, Option<Rate>) {
        let over = self.0.iter().position(|r| r.stands().is_lt());
        let held = self.0[..over.unwrap_or(self.0.len())].iter().rev().find(|r| r.stands().is_gt());
        (held.copied(), over.map(|at| self.0[at]))
    }

    fn next(&self, search: &Search) -> Next {
        if let Some(torn) = self.0.iter().find(|r| r.stands().is_eq()) {
            return Next::Try(torn.rate);
        }
        let unsure = |r: &Rate| (r.held.max(r.over) < ENOUGH).then_some(r.rate);
        match self.border() {
            (None, None) => Next::Try(search.start.max(search.lowest).min(search.highest)),
            (Some(held), None) if held.rate < search.highest => {
                Next::Try((held.rate * 2.0).min(search.highest))
            }
            (Some(held), None) => unsure(&held).map_or(Next::End(Ended::NeverOver), Next::Try),
            (None, Some(over)) if over.rate > search.lowest => {
                Next::Try((over.rate / 2.0).max(search.lowest))
            }
            (None, Some(over)) => {
                unsure(&over).map_or(Next::End(ended(&over, Ended::NothingHeld)), Next::Try)
            }
            (Some(held), Some(over)) if over.rate > held.rate * (1.0 + search.width) => {
                Next::Try((held.rate * over.rate).sqrt())
            }
            (Some(held), Some(over)) => {
                unsure(&held).or(unsure(&over)).map_or(Next::End(ended(&over, Ended::Found)), Next::Try)
            }
        }
    }
}

fn ended(over: &Rate, otherwise: Ended) -> Ended {
    if over.generator > 0 { Ended::Generator } else { otherwise }
}
