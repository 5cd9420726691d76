//! Finds the knee: the highest rate of an open model that a server sustains. Pure logic; a closure runs each step.

use serde::{Deserialize, Serialize};

use crate::caveats::{Caveat, LATE_SHARE, caveats, response};
use crate::result::{Counts, LoadResult, Slice};
use weigh_stats::hist::Hist;

/// The limit on response times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The quantile of the response time, such as 0.99.
    pub quantile: f64,
    /// The longest time in seconds that this quantile may have.
    pub seconds: f64,
}

/// The range and the precision of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// The limit on response times.
    pub limit: Limit,
    /// The first rate; a fraction of a closed model's rate is a good choice, see [`start_below`].
    pub start: f64,
    /// The lowest rate to try.
    pub lowest: f64,
    /// The highest rate to try.
    pub highest: f64,
    /// The shortest step, in seconds.
    pub step_seconds: f64,
    /// No step starts that would end after this many seconds.
    pub most_seconds: f64,
    /// The search ends when the sustained rate and the lowest rate that is not sustained differ by at most this share.
    pub width: f64,
    pub most_steps: usize,
}

impl Search {
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

/// Requests above the quantile in a step far from the border: with fewer, one slow request decides.
const IN_TAIL: f64 = 5.0;
/// Such a step becomes longer by at most this factor.
const LONGEST_STEP: f64 = 6.0;
/// Requests above the quantile in a step at the border.
const IN_TAIL_AT_BORDER: f64 = 50.0;
/// A step at the border lasts this many times the limit: an overload of more than 10% shows before its end.
const LIMITS_AT_BORDER: f64 = 10.0;
/// Rates this close, relatively, are at the border.
const NEAR: f64 = 0.2;
/// The least share of scheduled requests that must be completed.
const ACHIEVED: f64 = 0.99;
/// The queue grows if its mean in the second half of a step is more than this factor × its mean in the first half, plus
/// one request. A queue that starts empty and grows linearly has a factor of 3; a queue at the exact limit grows with
/// the square root of time and has a factor of 1.83.
const GROWN: f64 = 2.0;
/// Slices per step: an even number, so that the middle is between two slices.
pub const SLICES: f64 = 32.0;
/// Long steps that decide about a rate: at least, and at most where they do not agree.
const ENOUGH: u32 = 3;
const MOST: u32 = 8;
/// A long step counts as at most this many times the share of slow requests that the limit allows: a pause of the machine
/// must not change the result.
const AT_MOST: f64 = 5.0;
/// A server that gets faster by this share from one step to the next is still warming up.
const FASTER: f64 = 0.1;
/// Steps at one rate at most while the server warms up.
const WARMING: u32 = 8;

/// Slices of a step at whose ends only a cold server has more requests waiting than the limit allows, and then fewer.
const COLD: usize = 2;
/// Fewer wait in the end if they are at most this share.
const FEWER: f64 = 0.95;
/// Steps become longer by at most this factor, where a server cools down between them.
const LONGEST_COLD: f64 = 8.0;

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The rate is sustained.
    Held,
    /// The response time is above the limit.
    Slow,
    /// Fewer requests were completed with a correct response than were scheduled.
    Behind,
    /// The number of waiting requests grew from one half to the other: the server does not keep up.
    Growing,
    /// Some scheduled requests were never sent.
    Dropped,
    /// The rate was not sustained, and the generator may be the reason: nothing is known of the server.
    Generator,
    /// The rate was not sustained, and what waited since the step's start became less: the server was cold, and may keep up.
    Cold,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Step {
    /// Scheduled requests per second.
    pub rate: f64,
    /// Seconds of the schedule.
    pub seconds: f64,
    /// Completed responses per second, until the last response.
    pub achieved: f64,
    /// The limit's quantile of the response time in the second half, in seconds; none: the quantile is among the
    /// requests without a response.
    pub response: Option<f64>,
    /// Seconds of the step and its drain: requests without a response took longer than this.
    pub lasted: f64,
    /// Requests in flight, mean of the first half and of the second; none: there are no slices.
    pub in_flight: Option<[f64; 2]>,
    /// Whether the step was long enough to decide about its rate. Others only guide the search.
    pub decides: bool,
    /// The outcome.
    pub verdict: Verdict,
}

/// Why the search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The border is known with the requested precision.
    Found,
    /// Even the lowest rate is not sustained.
    NothingHeld,
    /// Even the highest rate is sustained: the server's capacity is higher.
    NeverOver,
    /// Above the sustained rate, the generator was the limit: the server's capacity may be higher.
    Generator,
    /// Above the sustained rate, the server was cold at the start of each step: its capacity may be higher.
    Cold,
    /// The search used all its steps; the border is between the two rates.
    OutOfSteps,
    /// The search used all its time; the border is between the two rates.
    OutOfTime,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Capacity {
    /// The limit on response times.
    pub limit: Limit,
    /// The highest sustained rate, according to long steps; none: no rate is sustained, or no long step was possible.
    pub held: Option<f64>,
    /// The lowest rate that is not sustained, by long steps; none: every rate is sustained, or no long step showed one that is not.
    pub over: Option<f64>,
    /// Why the search ended.
    pub ended: Ended,
    /// Every step, in the order of running.
    pub steps: Vec<Step>,
}

/// A start rate for the search, below the rate of a closed model, where the server was at its limit.
pub fn start_below(closed: &LoadResult) -> f64 {
    let completed: u64 = closed.classes.iter().map(|c| c.counts.completed).sum();
    (completed as f64 / closed.seconds.max(1e-9) / 4.0).max(1.0)
}

/// Searches. `run` offers a rate for this many seconds, in [`SLICES`] slices, and waits until the requests in flight
/// have ended, so that a step does not inherit a queue. `elapsed` returns the seconds since the start of the search.
///
/// The rate doubles (or halves) until one rate is sustained and another is not. Then the geometric mean is tried until
/// the two are close enough. A short step may miss an overload, and a pause of the machine must not change the result.
/// Near the border, therefore, steps are long, and three to eight of them decide about each rate, by the mean of their shares
/// of slow requests: queues near their limit are slow in few steps and very slow in these, so that most steps of a rate that
/// is not sustained are quick. After a step in which the server was cold at first, all steps are longer. A step in which the generator may have been the limit decides nothing, and is repeated. While nothing is sustained,
/// a rate is halved only if a longer step at it shows the server to be no faster: it may have been cold.
///
/// # Errors
/// Those of `run`.
pub fn find_capacity<E>(
    search: &Search,
    elapsed: impl Fn() -> f64,
    mut run: impl FnMut(f64, f64) -> Result<LoadResult, E>,
) -> Result<Capacity, E> {
    let mut tried = TriedRates::default();
    let mut steps = Vec::new();
    let mut longer = 1.0;
    let ended = loop {
        let (rate, decides, times) = match tried.next(search) {
            Next::End(ended) => break ended,
            _ if steps.len() >= search.most_steps => break Ended::OutOfSteps,
            Next::Try(rate, decides) => (rate, decides, 1.0),
            Next::Warm(rate) => (rate, false, 2.0),
        };
        let seconds = search.seconds_of(rate, decides) * times * longer;
        if elapsed() + seconds > search.most_seconds {
            break Ended::OutOfTime;
        }
        let (step, slow) = judge(&search.limit, (rate, seconds, decides), &run(rate, seconds)?);
        match step.verdict {
            Verdict::Cold if longer < LONGEST_COLD => longer *= 2.0,
            _ => tried.add(&step, slow),
        }
        steps.push(step);
    };
    let (held, over) = tried.decided(ended);
    Ok(Capacity { limit: search.limit, held, over, ended, steps })
}

impl Search {
    fn seconds_of(&self, rate: f64, decides: bool) -> f64 {
        let for_tail = |requests: f64| requests / (1.0 - self.limit.quantile).max(1e-6) / rate;
        if decides {
            for_tail(IN_TAIL_AT_BORDER).max(self.limit.seconds * LIMITS_AT_BORDER).max(self.step_seconds)
        } else {
            for_tail(IN_TAIL).min(self.step_seconds * LONGEST_STEP).max(self.step_seconds)
        }
    }
}

/// A step, and its share of slow requests ÷ that which the limit allows.
fn judge(limit: &Limit, (rate, seconds, decides): (f64, f64, bool), result: &LoadResult) -> (Step, f64) {
    let sum = |count: fn(&Counts) -> u64| -> u64 { result.classes.iter().map(|c| count(&c.counts)).sum() };
    let (scheduled, completed, dropped) = (sum(|c| c.scheduled), sum(|c| c.completed), sum(|c| c.dropped));
    let (response, slow) = second_half(limit, seconds, dropped, result);
    let in_flight = in_flight(seconds, result);
    let offered_in_half = scheduled as f64 / 2.0;
    let is_growing = in_flight.is_some_and(|[first, second]| {
        second > GROWN * first + 1.0 && second - first > (1.0 - ACHIEVED) * offered_in_half
    });
    let verdict = match response {
        _ if dropped > 0 => Verdict::Dropped,
        // Some models draw requests at random, so the number is compared with what was scheduled, not with the rate.
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
    // It sent too little, or so late that the response time may be that of the generator.
    let is_saturated =
        caveats(result, false).iter().any(|caveat| matches!(caveat, Caveat::SaturatedClient { .. }));
    let lateness = result.client.lateness.quantile(limit.quantile);
    let is_generator = is_saturated || lateness.is_some_and(|late| late > limit.seconds * LATE_SHARE);
    let verdict = match verdict {
        Verdict::Held => verdict,
        _ if is_generator => Verdict::Generator,
        _ if was_cold(limit.seconds * rate, seconds, result) => Verdict::Cold,
        _ => verdict,
    };
    let lasted = result.seconds.max(seconds);
    let achieved = completed as f64 / lasted;
    let slow = if matches!(verdict, Verdict::Held | Verdict::Slow) { slow.min(AT_MOST) } else { AT_MOST };
    (Step { rate, seconds, achieved, response, lasted, in_flight, decides, verdict }, slow)
}

/// The limit's quantile of the response times of requests that ended in the second half of the schedule or later, with
/// requests that were never sent, and the share of those above the limit ÷ that which is allowed. Without slices, over all
/// requests.
fn second_half(limit: &Limit, seconds: f64, dropped: u64, result: &LoadResult) -> (Option<f64>, f64) {
    let told = |times: &Hist, unanswered: u64| {
        let slow = (times.above(limit.seconds) + unanswered) as f64;
        let allowed = (1.0 - limit.quantile) * (times.count() + unanswered) as f64;
        (times.quantile_with(limit.quantile, unanswered), slow / allowed)
    };
    if result.slices.is_empty() {
        return told(&response(result), result.classes.iter().map(|class| class.counts.unanswered()).sum());
    }
    let (mut times, mut unanswered) = (Hist::default(), dropped);
    for slice in result.slices.iter().filter(|slice| is_late(slice, seconds)) {
        unanswered += slice.faulted;
        // A histogram that cannot be read has no times.
        match slice.response.unpack() {
            Ok(hist) => times.add(&hist),
            Err(_) => unanswered += slice.completed,
        }
    }
    told(&times, unanswered)
}

/// Whether a slice starts in the second half of the schedule or after it.
fn is_late(slice: &Slice, seconds: f64) -> bool {
    slice.start + slice.seconds / 2.0 > seconds / 2.0
}

/// Requests in flight at the ends of the schedule's slices, and whether they are of the second half.
fn at_ends(seconds: f64, result: &LoadResult) -> impl Iterator<Item = (f64, bool)> {
    let of_schedule = result.slices.iter().filter(move |s| s.start + s.seconds / 2.0 < seconds);
    of_schedule.scan(0i64, move |now, slice| {
        *now += slice.scheduled as i64 - slice.completed as i64 - slice.faulted as i64;
        Some(((*now).max(0) as f64, is_late(slice, seconds)))
    })
}

/// The mean of each half of the schedule.
fn in_flight(seconds: f64, result: &LoadResult) -> Option<[f64; 2]> {
    let mut halves = [(0.0, 0u32); 2];
    for (now, is_late) in at_ends(seconds, result) {
        let (sum, count) = &mut halves[usize::from(is_late)];
        (*sum, *count) = (*sum + now, *count + 1);
    }
    let [first, second] = halves.map(|(sum, count)| (count > 0).then(|| sum / f64::from(count)));
    Some([first?, second?])
}

/// Whether more requests than these waited from the start on, and in the end fewer than at most.
fn was_cold(allowed: f64, seconds: f64, result: &LoadResult) -> bool {
    let waiting: Vec<f64> = at_ends(seconds, result).map(|(now, _)| now).collect();
    let most = waiting.iter().copied().fold(0.0, f64::max);
    let is_over = waiting.iter().take(COLD).any(|now| *now > allowed);
    is_over && waiting.last().is_some_and(|last| *last < most * FEWER)
}

#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    rate: f64,
    /// Steps at this rate, with short ones.
    tries: u32,
    /// The outcome of the latest step that was too short to decide.
    hint: Option<bool>,
    /// Steps that were long enough to decide, and the sum and the sum of squares of their shares of slow requests ÷ the
    /// share that is allowed.
    long: u32,
    slow: f64,
    squares: f64,
    /// Steps that failed and in which the generator may be the reason.
    generator: u32,
    /// Steps, as long as they get, in which the server was cold at first.
    cold: u32,
    /// Whether the latest step was to decide.
    decides: bool,
    /// What the latest step achieved, and its response time.
    latest: (f64, f64),
    /// Whether the latest step was faster than the one before.
    is_warming: bool,
}

impl Rate {
    /// Whether it is sustained; none: unknown. A short step counts until a long step has decided. Where the generator was
    /// the limit again and again, the rate is not sustained.
    fn is_held(&self) -> Option<bool> {
        match self.long {
            0 if self.is_given_up() => Some(false),
            0 => self.hint,
            long => Some(self.slow <= f64::from(long)),
        }
    }

    /// Whether steps told nothing of the server too often to try again.
    fn is_given_up(&self) -> bool {
        self.generator + self.cold >= ENOUGH + self.long
    }

    /// Whether more long steps are to decide about it: there are few, or their mean is within two errors of the limit.
    fn is_unsure(&self) -> bool {
        let long = f64::from(self.long);
        let mean = self.slow / long;
        let error = ((self.squares / long - mean * mean).max(0.0) / (long - 1.0)).sqrt();
        let is_near = self.long < MOST && (mean - 1.0).abs() < 2.0 * error;
        (self.long < ENOUGH || is_near) && !self.is_given_up()
    }

    fn add(&mut self, step: &Step, slow: f64) {
        let now = (step.achieved, step.response.unwrap_or(f64::INFINITY));
        let was = std::mem::replace(&mut self.latest, now);
        self.is_warming =
            self.tries > 0 && (now.0 > was.0 * (1.0 + FASTER) || now.1 < was.1 * (1.0 - FASTER));
        self.tries += 1;
        self.decides = step.decides;
        match step.verdict {
            Verdict::Generator => self.generator += 1,
            Verdict::Cold => self.cold += 1,
            of if !step.decides => self.hint = Some(of == Verdict::Held),
            _ => {
                self.long += 1;
                self.slow += slow;
                self.squares += slow * slow;
            }
        }
    }
}

enum Next {
    /// A rate, and whether the step is long enough to decide.
    Try(f64, bool),
    /// A rate again, for longer: it was not sustained, and the server may have been cold.
    Warm(f64),
    End(Ended),
}

/// The rates that were tried, ascending.
#[derive(Default)]
struct TriedRates(Vec<Rate>);

impl TriedRates {
    fn add(&mut self, step: &Step, slow: f64) {
        let at = self.0.partition_point(|r| r.rate < step.rate);
        if self.0.get(at).is_none_or(|r| r.rate != step.rate) {
            self.0.insert(at, Rate { rate: step.rate, ..Rate::default() });
        }
        self.0[at].add(step, slow);
    }

    /// The lowest rate that is not sustained, and the highest sustained rate below it.
    fn border(&self) -> (Option<Rate>, Option<Rate>) {
        let over = self.0.iter().position(|r| r.is_held() == Some(false));
        let held = self.0[..over.unwrap_or(self.0.len())].iter().rev().find(|r| r.is_held() == Some(true));
        (held.copied(), over.map(|at| self.0[at]))
    }

    /// The same for the result: short steps show neither, for the server may have been cold. Where nothing was sustained, they do.
    fn decided(&self, ended: Ended) -> (Option<f64>, Option<f64>) {
        let (_, over) = self.border();
        let is_below = |r: &&Rate| over.is_none_or(|over| r.rate < over.rate);
        let held = self.0.iter().filter(is_below).rfind(|r| r.long > 0 && r.is_held() == Some(true));
        let is_told = |r: &&Rate| r.long > 0 || r.is_given_up() || ended == Ended::NothingHeld;
        let over = self.0.iter().filter(is_told).find(|r| r.is_held() == Some(false));
        (held.map(|r| r.rate), over.map(|r| r.rate))
    }

    fn next(&self, search: &Search) -> Next {
        if let Some(open) = self.0.iter().find(|r| r.is_held().is_none()) {
            return Next::Try(open.rate, open.decides || open.cold > 0);
        }
        let surely = |rate: f64| Next::Try(rate, true);
        let unsure = |r: &Rate| r.is_unsure().then_some(r.rate);
        match self.border() {
            (None, None) => Next::Try(search.start.max(search.lowest).min(search.highest), false),
            (Some(held), None) if held.rate < search.highest => {
                Next::Try((held.rate * 2.0).min(search.highest), false)
            }
            (Some(held), None) => unsure(&held).map_or(Next::End(Ended::NeverOver), surely),
            (None, Some(over)) if over.tries < 2 || (over.is_warming && over.tries < WARMING) => {
                Next::Warm(over.rate)
            }
            (None, Some(over)) if over.rate > search.lowest => {
                Next::Try((over.rate / 2.0).max(search.lowest), false)
            }
            // A short step can show that a rate is not sustained: at such a low rate, a long step would take an hour.
            (None, Some(over)) if over.tries < ENOUGH => Next::Try(over.rate, false),
            (None, Some(over)) => Next::End(ended(&over, Ended::NothingHeld)),
            (Some(held), Some(over)) if over.rate > held.rate * (1.0 + search.width) => {
                match over.rate <= held.rate * (1.0 + NEAR) {
                    // Before long steps: the server may have been cold.
                    true if over.tries < 2 => Next::Try(over.rate, false),
                    is_near => Next::Try((held.rate * over.rate).sqrt(), is_near),
                }
            }
            (Some(held), Some(over)) => {
                let found = ended(&held, ended(&over, Ended::Found));
                unsure(&held).or(unsure(&over)).map_or(Next::End(found), surely)
            }
        }
    }
}

fn ended(over: &Rate, otherwise: Ended) -> Ended {
    match over.is_given_up() {
        true if over.cold > over.generator => Ended::Cold,
        true => Ended::Generator,
        false => otherwise,
    }
}
