//! When a processor was away: its host had given it to another machine, and nothing that is to run on it could.

use std::time::{Duration, Instant};

/// A response is on its way for so long; if the processor is taken meanwhile, it waits as well.
const WAY: Duration = Duration::from_micros(100);

/// When a processor was away, in the order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Absences(Vec<(Instant, Instant)>);

impl Absences {
    /// When a response that left at an instant could be read at the earliest: then, or when the processor was back.
    pub fn back(&self, left: Instant) -> Instant {
        let over = self.0.partition_point(|(_, until)| *until <= left);
        match self.0.get(over) {
            Some((from, until)) if *from <= left + WAY => *until,
            _ => left,
        }
    }

    /// Adds one that is later than all there are.
    pub fn push(&mut self, (from, until): (Instant, Instant)) {
        self.0.push((from, until));
    }
}

#[test]
fn a_response_waits_for_the_processor_to_be_back() {
    let begin = Instant::now();
    let at = |us: u64| begin + Duration::from_micros(us);
    let mut absences = Absences::default();
    assert_eq!(absences.back(at(7)), at(7));
    absences.push((at(1_000), at(2_000)));
    absences.push((at(5_000), at(5_400)));
    let cases =
        [(0, 0), (899, 899), (900, 2_000), (1_999, 2_000), (2_000, 2_000), (4_950, 5_400), (5_400, 5_400)];
    for (left, read) in cases {
        assert_eq!(absences.back(at(left)), at(read), "{left}");
    }
}
