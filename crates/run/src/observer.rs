//! What a run tells while it goes on, for a live display. Nothing an observer does changes the run.

use std::sync::Arc;

use crate::executor::PartsDone;
use weigh_model::cell::Cell;
use weigh_model::plan::Plan;
use weigh_model::record::Record;

/// A visit that is about to begin.
#[derive(Clone, Copy, Debug)]
pub struct Upcoming<'a> {
    pub cell: &'a Cell,
    /// The round, from 1.
    pub round: u32,
    /// Its place in the round, from 1.
    pub place: usize,
    pub of: usize,
    /// Seconds of wall time so far, interruptions left out.
    pub elapsed: f64,
    /// Seconds of wall time that the rest of the run is expected to take; a rough forecast, never a promise.
    pub remaining: f64,
}

/// Gets told. Every method does nothing unless implemented.
pub trait Observer {
    /// Something that the user should know of this run: a line.
    fn note(&mut self, _what: &str) {}

    /// The same of every run that is made: it needs to be said once.
    fn remark(&mut self, _what: &str) {}

    /// Measuring begins, or goes on after these records.
    fn begun(&mut self, _plan: &Plan, _earlier: &[Record]) {}

    /// Nothing more is measured for now.
    fn ended(&mut self) {}

    /// Where the parts of each visit are counted while it goes on.
    fn parts(&self) -> Arc<PartsDone> {
        Arc::default()
    }

    /// A round begins with this many live cells.
    fn round_begun(&mut self, _round: u32, _live: usize) {}

    /// A cell is about to be visited.
    fn visiting(&mut self, _upcoming: &Upcoming<'_>) {}

    fn recorded(&mut self, _record: &Record) {}
}

/// An observer that does nothing.
#[derive(Debug)]
pub struct Unobserved;

impl Observer for Unobserved {}
