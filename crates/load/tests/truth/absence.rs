//! Absences of a processor: its host gave it to another machine, and nothing could run on it.

use std::ops::Range;
use std::time::{Duration, Instant};

/// A client whose processor is available reads a response within this time after it left.
const WAY: Duration = Duration::from_micros(200);

/// Periods in which a processor was away for a while, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Absences(Vec<Range<Instant>>);

impl Absences {
    /// Whether the processor may have been away when a response that left in this period had to be read.
    pub fn touch(&self, left: &Range<Instant>) -> bool {
        let over = self.0.partition_point(|absence| absence.end <= left.start);
        self.0.get(over).is_some_and(|absence| absence.start <= left.end + WAY)
    }

    /// Adds a period that is later than all others.
    pub fn push(&mut self, absence: Range<Instant>) {
        self.0.push(absence);
    }
}

#[test]
fn a_response_that_was_to_be_read_in_an_absence_is_touched() {
    let begin = Instant::now();
    let at = |us: u64| begin + Duration::from_micros(us);
    let mut absences = Absences::default();
    assert!(!absences.touch(&(at(0)..at(7))));
    absences.push(at(1_000)..at(2_000));
    absences.push(at(5_000)..at(5_400));
    let left = [(0, 799), (2_000, 2_010), (3_000, 4_799), (5_400, 9_000)];
    assert!(left.iter().all(|(from, until)| !absences.touch(&(at(*from)..at(*until)))));
    let touched = [(0, 800), (0, 900), (1_500, 1_510), (1_999, 2_010), (4_790, 4_800), (900, 6_000)];
    assert!(touched.iter().all(|(from, until)| absences.touch(&(at(*from)..at(*until)))));
}
