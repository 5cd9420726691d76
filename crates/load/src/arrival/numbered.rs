//! A schedule whose n-th instant is known by a closed form: parts take the numbers in turn, so that together they
//! are exactly the schedule of the whole, and no rounding adds up.

use super::{Due, Part, Schedule, end_of};
use crate::Nanos;

/// The instants of a whole run by their number.
pub(super) trait Instants: Send {
    /// Seconds from the start to the instant `n`, from 0; none: there are no more. Asked for in rising order.
    fn at(&mut self, n: u64) -> Option<f64>;
}

/// One part of them.
pub(super) struct Numbered<I> {
    instants: I,
    /// The number of the instant that is next.
    number: u64,
    /// From it to the next of this part.
    step: u64,
    end: Nanos,
    next: Option<Nanos>,
}

impl<I: Instants> Numbered<I> {
    pub(super) fn new(instants: I, part: &Part) -> Numbered<I> {
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

    fn ended(&mut self, _: Nanos) {}
}
