//! When requests are due: one model a file, all behind one trait, all named by a text such as `constant:200`.

use std::fmt::Debug;

use crate::{Nanos, units};

/// Declares the modules and, from the same line, lists their forms.
macro_rules! models {
    ($($model:ident),* $(,)?) => {
        $(mod $model;)*

        const FORMS: &[Form] = &[$($model::FORM),*];
    };
}

models! {
    closed,
    constant,
    poisson,
    ramp,
    steps,
}

/// How a model is written.
struct Form {
    /// What comes before the colon.
    name: &'static str,
    /// Examples of it, for errors and help.
    shapes: &'static str,
    /// Reads what comes after the colon, where there is one.
    read: fn(Option<&str>, &Run) -> Read,
}

/// A model, or what is wrong.
type Read = Result<Box<dyn Model>, String>;

/// What a model may want to know of the run that it is for.
struct Run {
    seconds: Option<f64>,
}

/// A text that names no arrival model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("arrival {text:?}: {wrong}; the forms are {}", forms())]
pub struct ArrivalError {
    text: String,
    wrong: String,
}

/// The model that a text names, for a run whose length in seconds is not known.
///
/// # Errors
/// As [`parse_for`]; also for a model that takes its length from the run.
pub fn parse(text: &str) -> Result<Box<dyn Model>, ArrivalError> {
    parse_for(text, None)
}

/// The model that a text names, for a run of so many seconds.
///
/// # Errors
/// One line with the text, what is wrong with it, and the forms that there are.
pub fn parse_for(text: &str, seconds: Option<f64>) -> Result<Box<dyn Model>, ArrivalError> {
    let (name, arguments) = text.split_once(':').map_or((text, None), |(n, a)| (n, Some(a)));
    let form = FORMS.iter().find(|form| form.name == name.trim());
    let read = form.ok_or_else(|| format!("there is no model {:?}", name.trim()));
    let run = Run { seconds: seconds.filter(|s| s.is_finite() && *s > 0.0) };
    read.and_then(|form| (form.read)(arguments.map(str::trim), &run))
        .map_err(|wrong| ArrivalError { text: text.to_string(), wrong })
}

/// Examples of every form, for help and errors.
pub fn forms() -> String {
    FORMS.iter().map(|form| form.shapes).collect::<Vec<_>>().join(", ")
}

/// More than any server takes; above it, instants fall together in a nanosecond's rounding.
const HIGHEST_RATE: f64 = 1e8;

/// Requests a second.
fn rate(text: &str) -> Result<f64, String> {
    units::positive(text)
        .filter(|rate| *rate <= HIGHEST_RATE)
        .ok_or_else(|| format!("{text:?} is no rate; write requests a second above 0 and up to 1e8, as 200"))
}

/// A length of time that is not 0, in seconds.
fn span(text: &str) -> Result<f64, String> {
    match units::seconds(text)? {
        0.0 => Err(format!("{text:?} is no time above 0")),
        seconds => Ok(seconds),
    }
}

/// The instant from which on nothing is due.
fn end_of(part: &Part) -> Nanos {
    part.seconds.map_or(Nanos::MAX, |seconds| (seconds * 1e9).round() as Nanos)
}

/// An arrival model with its parameters.
pub trait Model: Debug + Send + Sync {
    /// The schedule of one thread's part of it. After its start it allocates nothing.
    fn schedule(&self, part: &Part) -> Box<dyn Schedule>;

    /// Whether requests are due at instants of their own, whatever the server does.
    fn is_open(&self) -> bool {
        true
    }

    /// Requests a second at `seconds` into the run that the model asks for over all threads; none in a closed one.
    fn offered(&self, seconds: f64) -> Option<f64>;
}

/// One thread's part of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Which part this is, from 0.
    pub index: u32,
    /// Parts in all. Rates are for the whole run: a part has its share of the instants.
    pub count: u32,
    /// Requests that may be in flight in this part.
    pub slots: u32,
    /// Seed of everything drawn in this stream; the same for every part.
    pub seed: u64,
    /// The length of the run, where it has one.
    pub seconds: Option<f64>,
}

/// The instants of one part.
pub trait Schedule: Send {
    /// What is due at `now`. [`Due::Now`] takes the instant out.
    fn next(&mut self, now: Nanos) -> Due;

    /// A request of this part has ended, well or not.
    fn ended(&mut self, _now: Nanos) {}
}

/// An answer of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// A request was due at that instant, now or before.
    Now(Nanos),
    /// The next is due then.
    At(Nanos),
    /// None before one that is in flight has ended.
    OnEnd,
    /// None any more.
    Never,
}

/// The instants of a whole run by their number.
trait Instants: Send {
    /// Seconds from the start to the instant `n`, from 0; none: there are no more. Asked for in rising order.
    fn at(&mut self, n: u64) -> Option<f64>;
}

/// One part of a schedule whose n-th instant is known by a closed form: parts take the numbers in turn, so that together they are exactly
/// the schedule of the whole, and no rounding adds up.
struct Numbered<I> {
    instants: I,
    /// The number of the instant that is next.
    number: u64,
    /// From it to the next of this part.
    step: u64,
    end: Nanos,
    next: Option<Nanos>,
}

impl<I: Instants> Numbered<I> {
    fn new(instants: I, part: &Part) -> Numbered<I> {
        let (number, step) = (u64::from(part.index), u64::from(part.count.max(1)));
        let mut numbered = Numbered { instants, number, step, end: end_of(part), next: None };
        numbered.look();
        numbered
    }

    fn look(&mut self) {
        // A float holds the nanoseconds of an hour with 1/2000 ns to spare.
        let next = self.instants.at(self.number).map(|seconds| (seconds * 1e9).round() as Nanos);
        self.next = next.filter(|&instant| instant < self.end);
    }
}

impl<I: Instants> Schedule for Numbered<I> {
    fn next(&mut self, now: Nanos) -> Due {
        match self.next {
            None => Due::Never,
            Some(instant) if instant > now => Due::At(instant),
            Some(instant) => {
                self.number += self.step;
                self.look();
                Due::Now(instant)
            }
        }
    }
}
