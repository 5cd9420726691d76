//! When requests are due: one model a file, all behind one trait, all named by a text such as `constant:200`.

use std::fmt::Debug;

use crate::Nanos;

/// An arrival model with its parameters.
pub trait Model: Debug + Send + Sync {
    /// The schedule of one thread's part of it.
    fn schedule(&self, part: &Part) -> Box<dyn Schedule>;

    /// Whether requests are due at instants of their own, whatever the server does.
    fn is_open(&self) -> bool;

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
    fn ended(&mut self, now: Nanos);
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
