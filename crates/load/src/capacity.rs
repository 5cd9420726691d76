//! Finds the knee: the highest rate of an open model that a server holds. Pure logic; a closure runs each step.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::caveats::{Caveat, LATE_SHARE, caveats, response};
use crate::hist::Hist;
use crate::result::{Counts, LoadResult, Slice};

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
    /// Seconds of a step at least.
    pub step_seconds: f64,
    /// No step begins that would end later, in seconds from the begin.
    pub most_seconds: f64,
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
            most_seconds: 900.0,
            width: 0.03,
            most_steps: 60,
        }
    }
}

/// Requests above the quantile that a step far from the border should have: with fewer, one slow one decides.
const IN_TAIL: f64 = 5.0;
/// Such a step is made longer by this at most.
const LONGEST_STEP: f64 = 6.0;
/// Requests above the quantile that a step at the border has.
const IN_TAIL_AT_BORDER: f64 = 50.0;
/// A step at the border lasts so many times the limit: an overload of more than a tenth shows before its end.
const LIMITS_AT_BORDER: f64 = 10.0;
/// Rates as near as this are at the border, relatively.
const NEAR: f64 = 0.2;
/// The share of what is offered that has to be completed.
const ACHIEVED: f64 = 0.99;
/// In the mean of its second half, a queue that grows holds so many times what it held in that of its first, and one more. From
/// empty, one that grows evenly has three times as many; one at the very limit grows with the root of time, which is 1.83.
const GROWN: f64 = 2.0;
/// Slices of a step: the middle is between two.
pub const SLICES: f64 = 32.0;
/// A border is decided by three of five.
const ENOUGH: u32 = 3;

/// How a step went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The rate is held.
    Held,
    /// The response time is over the limit.
    Slow,
    /// Fewer requests were completed, with a right response, than were offered.
    Behind,
    /// More requests were waiting from one half to the other: the server does not keep up.
    Growing,
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
    /// Completed responses a second, until the last one.
    pub achieved: f64,
    /// The limit's quantile of the response time in the second half, in seconds; none: it falls among the requests without an answer.
    pub response: Option<f64>,
    /// Seconds of step and drain: what has no answer took longer.
    pub lasted: f64,
    /// Requests in flight, in the mean of the first half and of the second; none: no slices say.
    pub in_flight: Option<[f64; 2]>,
    /// It was long enough to decide about its rate. Others only show the way.
    pub decides: bool,
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
    /// The time was used up before the border was known; it is between the rates that are given.
    OutOfTime,
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Capacity {
    /// What the server had to keep.
    pub limit: Limit,
    /// The highest rate that is held, as steps long enough have it; none: no rate is, or none was tried for so long.
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

/// Searches. `run` offers a rate for so many seconds, in [`SLICES`] slices, and waits until what is in flight has ended, so that a step
/// inherits no queue. `elapsed` tells the seconds since the search began.
///
/// The rate doubles (or halves) until one is held and one is not, then the geometric middle is tried until the two are
/// near enough. A short step may swallow an overload, and a hiccup of the machine must not move the answer: near the border
/// steps are long, only long ones decide, and each of the two rates stands as three of five long tries have it.
///
/// # Errors
/// As `run`.
pub fn find_capacity<E>(
    search: &Search,
    elapsed: impl Fn() -> f64,
    mut run: impl FnMut(f64, f64) -> Result<LoadResult, E>,
) -> Result<Capacity, E> {
    let mut tried = Tried::default();
    let mut steps = Vec::new();
    let ended = loop {
        let (rate, decides) = match tried.next(search) {
            Next::End(ended) => break ended,
            Next::Try(..) if steps.len() >= search.most_steps => break Ended::OutOfSteps,
            Next::Try(rate, decides) => (rate, decides),
        };
        let seconds = search.seconds_of(rate, decides);
        if elapsed() + seconds > search.most_seconds {
            break Ended::OutOfTime;
        }
        let step = judge(&search.limit, (rate, seconds, decides), &run(rate, seconds)?);
        tried.add(&step);
        steps.push(step);
    };
    let (held, over) = tried.decided();
    Ok(Capacity { limit: search.limit, held, over, ended, steps })
}

impl Search {
    /// Seconds of a step.
    fn seconds_of(&self, rate: f64, decides: bool) -> f64 {
        let for_tail = |requests: f64| requests / (1.0 - self.limit.quantile).max(1e-6) / rate;
        if decides {
            for_tail(IN_TAIL_AT_BORDER).max(self.limit.seconds * LIMITS_AT_BORDER).max(self.step_seconds)
        } else {
            for_tail(IN_TAIL).min(self.step_seconds * LONGEST_STEP).max(self.step_seconds)
        }
    }
}

fn judge(limit: &Limit, (rate, seconds, decides): (f64, f64, bool), result: &LoadResult) -> Step {
    let sum = |count: fn(&Counts) -> u64| -> u64 { result.classes.iter().map(|c| count(&c.counts)).sum() };
    let (scheduled, completed, dropped) = (sum(|c| c.scheduled), sum(|c| c.completed), sum(|c| c.dropped));
    let response = second_half(limit.quantile, seconds, dropped, result);
    let in_flight = in_flight(seconds, result);
    let offered_in_half = scheduled as f64 / 2.0;
    let is_growing = in_flight.is_some_and(|[first, second]| {
        second > GROWN * first + 1.0 && second - first > (1.0 - ACHIEVED) * offered_in_half
    });
    let verdict = match response {
        _ if dropped > 0 => Verdict::Dropped,
        // What is due is random in some models, so that it is held against what was due, not against the rate.
        _ if scheduled == 0 || (completed as f64) < ACHIEVED * scheduled as f64 => Verdict::Behind,
        Some(response) if response <= limit.seconds => {
            if is_growing {
                Verdict::Growing
            } else {
                Verdict::Held
            }
        }
        _ => Verdict::Slow,
    };
    // It sent too little, or so late that the response time may be its own.
    let is_saturated =
        caveats(result, false).iter().any(|caveat| matches!(caveat, Caveat::SaturatedClient { .. }));
    let lateness = result.client.lateness.quantile(limit.quantile);
    let is_generator = is_saturated || lateness.is_some_and(|late| late > limit.seconds * LATE_SHARE);
    let verdict = if verdict != Verdict::Held && is_generator { Verdict::Generator } else { verdict };
    let lasted = result.seconds.max(seconds);
    Step { rate, seconds, achieved: completed as f64 / lasted, response, lasted, in_flight, decides, verdict }
}

/// A quantile of the response times of what ended in the second half of the schedule or later, with what was never sent. Without
/// slices, of all.
fn second_half(q: f64, seconds: f64, dropped: u64, result: &LoadResult) -> Option<f64> {
    if result.slices.is_empty() {
        let unanswered = result.classes.iter().map(|class| class.counts.unanswered()).sum();
        return response(result).quantile_with(q, unanswered);
    }
    let (mut times, mut unanswered) = (Hist::default(), dropped);
    for slice in result.slices.iter().filter(|slice| is_late(slice, seconds)) {
        unanswered += slice.faulted;
        // What cannot be read has no time.
        match slice.response.unpack() {
            Ok(hist) => times.add(&hist),
            Err(_) => unanswered += slice.completed,
        }
    }
    times.quantile_with(q, unanswered)
}

/// Whether a slice begins in the second half of the schedule or after it.
fn is_late(slice: &Slice, seconds: f64) -> bool {
    slice.start + slice.seconds / 2.0 > seconds / 2.0
}

/// Requests in flight at the ends of slices, in the mean of each half of the schedule.
fn in_flight(seconds: f64, result: &LoadResult) -> Option<[f64; 2]> {
    let mut halves = [(0.0, 0u32); 2];
    let mut now = 0i64;
    for slice in result.slices.iter().filter(|s| s.start + s.seconds / 2.0 < seconds) {
        now += slice.scheduled as i64 - slice.completed as i64 - slice.faulted as i64;
        let (sum, count) = &mut halves[usize::from(is_late(slice, seconds))];
        (*sum, *count) = (*sum + now.max(0) as f64, *count + 1);
    }
    let [first, second] = halves.map(|(sum, count)| (count > 0).then(|| sum / f64::from(count)));
    Some([first?, second?])
}

/// A rate with its tries.
#[derive(Clone, Copy, Debug)]
struct Rate {
    rate: f64,
    /// Steps at it, short ones too.
    tries: u32,
    /// How the newest step went that was too short to decide.
    hint: Option<bool>,
    held: u32,
    over: u32,
    /// Of those over, the ones in which the generator may be why.
    generator: u32,
}

impl Rate {
    /// Whether it is held (greater) or not (less); equal: not known. A hint counts until a long step has decided.
    fn stands(&self) -> Ordering {
        match (self.held, self.over, self.hint) {
            (0, 0, Some(true)) => Ordering::Greater,
            (0, 0, Some(false)) => Ordering::Less,
            (held, over, _) => held.cmp(&over),
        }
    }
}

/// What is to be done.
enum Next {
    /// A rate, and whether the step is long enough to decide.
    Try(f64, bool),
    End(Ended),
}

/// The rates that were tried, in rising order.
#[derive(Default)]
struct Tried(Vec<Rate>);

impl Tried {
    fn add(&mut self, step: &Step) {
        let at = self.0.partition_point(|r| r.rate < step.rate);
        if self.0.get(at).is_none_or(|r| r.rate != step.rate) {
            self.0.insert(at, Rate { rate: step.rate, tries: 0, hint: None, held: 0, over: 0, generator: 0 });
        }
        let rate = &mut self.0[at];
        let is_held = step.verdict == Verdict::Held;
        rate.tries += 1;
        rate.generator += u32::from(step.verdict == Verdict::Generator);
        if !step.decides {
            rate.hint = Some(is_held);
        } else if is_held {
            rate.held += 1;
        } else {
            rate.over += 1;
        }
    }

    /// The lowest rate that is not held, and the highest below it that is.
    fn border(&self) -> (Option<Rate>, Option<Rate>) {
        let over = self.0.iter().position(|r| r.stands().is_lt());
        let held = self.0[..over.unwrap_or(self.0.len())].iter().rev().find(|r| r.stands().is_gt());
        (held.copied(), over.map(|at| self.0[at]))
    }

    /// The same for the answer: a short step shows no rate to be held.
    fn decided(&self) -> (Option<f64>, Option<f64>) {
        let (_, over) = self.border();
        let is_below = |r: &&Rate| over.is_none_or(|over| r.rate < over.rate);
        let held = self.0.iter().filter(is_below).rfind(|r| r.held > r.over);
        (held.map(|r| r.rate), over.map(|r| r.rate))
    }

    fn next(&self, search: &Search) -> Next {
        if let Some(torn) = self.0.iter().find(|r| r.stands().is_eq()) {
            return Next::Try(torn.rate, true);
        }
        let surely = |rate: f64| Next::Try(rate, true);
        let unsure = |r: &Rate| (r.held.max(r.over) < ENOUGH).then_some(r.rate);
        match self.border() {
            (None, None) => Next::Try(search.start.max(search.lowest).min(search.highest), false),
            (Some(held), None) if held.rate < search.highest => {
                Next::Try((held.rate * 2.0).min(search.highest), false)
            }
            (Some(held), None) => unsure(&held).map_or(Next::End(Ended::NeverOver), surely),
            (None, Some(over)) if over.rate > search.lowest => {
                Next::Try((over.rate / 2.0).max(search.lowest), false)
            }
            // What a short step shows not to be held is not: at so low a rate a long one would take an hour.
            (None, Some(over)) if over.tries < ENOUGH => Next::Try(over.rate, false),
            (None, Some(over)) => Next::End(ended(&over, Ended::NothingHeld)),
            (Some(held), Some(over)) if over.rate > held.rate * (1.0 + search.width) => {
                Next::Try((held.rate * over.rate).sqrt(), over.rate <= held.rate * (1.0 + NEAR))
            }
            (Some(held), Some(over)) => {
                unsure(&held).or(unsure(&over)).map_or(Next::End(ended(&over, Ended::Found)), surely)
            }
        }
    }
}

fn ended(over: &Rate, otherwise: Ended) -> Ended {
    if over.generator > 0 { Ended::Generator } else { otherwise }
}
