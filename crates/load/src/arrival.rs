//! Arrival models decide when requests are due. Each model has a file and implements one trait; a text such as
//! `constant:200` selects it.

use std::fmt::Debug;

use crate::{Nanos, units};

/// Declares the modules and lists their forms.
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

/// The text form of a model.
struct Form {
    /// The name, before the colon.
    name: &'static str,
    /// Examples, for errors and help.
    shapes: &'static str,
    /// Parses the arguments, after the colon.
    read: fn(Option<&str>, &Run) -> Read,
}

/// A model, or a message that says what is wrong.
type Read = Result<Box<dyn Model>, String>;

/// What a model may need to know about the run.
struct Run {
    seconds: Option<f64>,
}

/// A text that does not name an arrival model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("arrival {text:?}: {wrong}; the forms are {}", forms())]
pub struct ArrivalError {
    text: String,
    wrong: String,
}

/// The model that a text names, for a run of unknown length.
///
/// # Errors
/// As [`parse_for`]; also for a model that takes its length from the run.
pub fn parse(text: &str) -> Result<Box<dyn Model>, ArrivalError> {
    parse_for(text, None)
}

/// The model that a text names, for a run of this many seconds.
///
/// # Errors
/// One line with the text, what is wrong with it, and the known forms.
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

/// The highest rate: more than any server handles. Above it, instants coincide when rounded to nanoseconds.
const HIGHEST_RATE: f64 = 1e8;

/// Requests per second.
fn rate(text: &str) -> Result<f64, String> {
    units::positive(text).filter(|rate| *rate <= HIGHEST_RATE).ok_or_else(|| {
        format!("{text:?} is not a rate; give requests per second, above 0 and up to 1e8, such as 200")
    })
}

/// A duration above 0, in seconds.
fn span(text: &str) -> Result<f64, String> {
    match units::seconds(text)? {
        0.0 => Err(format!("{text:?} is not a time above 0")),
        seconds => Ok(seconds),
    }
}

/// The instant after which nothing is due.
fn end_of(part: &ThreadShare) -> Nanos {
    part.seconds.map_or(Nanos::MAX, |seconds| (seconds * 1e9).round() as Nanos)
}

/// An arrival model with its parameters.
pub trait Model: Debug + Send + Sync {
    /// The schedule of one thread's part of the model. It allocates no memory after its start.
    fn schedule(&self, part: &ThreadShare) -> Box<dyn Schedule>;

    /// Whether requests are due at given instants, independent of the server (an open model).
    fn is_open(&self) -> bool {
        true
    }

    /// The model's requests per second over all threads, `seconds` into the run; none for a closed model.
    fn offered(&self, seconds: f64) -> Option<f64>;
}

/// One thread's part of a stream.
#[derive(Clone, Copy, Debug)]
pub struct ThreadShare {
    /// The part's number, from 0.
    pub index: u32,
    /// The number of parts. Rates are for the whole run, and each part has a share of the instants.
    pub count: u32,
    /// The most requests in flight in this part.
    pub slots: u32,
    /// Seed of everything drawn at random in this stream; the same for every part.
    pub seed: u64,
    /// The length of the run, if it is known.
    pub seconds: Option<f64>,
}

/// The instants of one part.
pub trait Schedule: Send {
    /// The state at `now`. [`Due::Now`] removes the instant.
    fn next(&mut self, now: Nanos) -> Due;

    /// A request of this part has ended, with or without a failure.
    fn ended(&mut self, _now: Nanos) {}
}

/// The state of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// A request was due at this instant, now or earlier.
    Now(Nanos),
    /// The next request is due then.
    At(Nanos),
    /// Nothing is due until a request in flight ends.
    OnEnd,
    Never,
}

/// The instants of a whole run by number.
trait Instants: Send {
    /// Seconds from the start to instant `n`, from 0; none: there is no such instant. Called with ascending numbers.
    fn at(&mut self, n: u64) -> Option<f64>;
}

/// One part of a schedule whose n-th instant has a closed formula. Parts take the numbers in turn: together they are
/// exactly the schedule of the whole run, and rounding errors do not add up.
struct Numbered<I> {
    instants: I,
    /// The number of the next instant.
    number: u64,
    /// The distance to the next instant of this part.
    step: u64,
    end: Nanos,
    next: Option<Nanos>,
}

impl<I: Instants> Numbered<I> {
    fn new(instants: I, part: &ThreadShare) -> Numbered<I> {
        let (number, step) = (u64::from(part.index), u64::from(part.count.max(1)));
        let mut numbered = Numbered { instants, number, step, end: end_of(part), next: None };
        numbered.look();
        numbered
    }

    fn look(&mut self) {
        // An f64 holds the nanoseconds of an hour with a precision of 1/2000 ns.
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
