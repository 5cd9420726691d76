//! The slices of a run: the latest one open, the earlier ones packed.

use crate::Nanos;
use crate::result::Slice;
use weigh_stats::hist::{Hist, Packed};

/// The most slices of a run; beyond that, neighbours are joined and slices become twice as long.
const SLICES: usize = 256;

/// The content of the open slice.
#[derive(Debug, Default)]
pub(super) struct Open {
    pub scheduled: u64,
    pub completed: u64,
    pub faulted: u64,
    pub body_bytes: u64,
    pub response: Hist,
}

#[derive(Clone, Debug, Default)]
struct ClosedSlice {
    scheduled: u64,
    completed: u64,
    faulted: u64,
    body_bytes: u64,
    response: Packed,
}

/// The slices of one thread: one open, the earlier ones packed.
#[derive(Debug)]
pub(super) struct Timeline {
    slice: Nanos,
    /// Where the open slice ends.
    until: Nanos,
    kept: Vec<ClosedSlice>,
    open: Open,
}

impl Timeline {
    pub fn new(slice: Nanos) -> Timeline {
        let slice = slice.max(1);
        Timeline { slice, until: slice, kept: Vec::new(), open: Open::default() }
    }

    /// Response times of the open slice.
    pub fn newest(&self) -> &Hist {
        &self.open.response
    }

    /// The open slice at an instant. Earlier events count towards the open slice: events come in order, except after a
    /// late schedule.
    #[inline]
    pub fn at(&mut self, at: Nanos) -> &mut Open {
        if at >= self.until {
            self.advance(at);
        }
        &mut self.open
    }

    fn advance(&mut self, at: Nanos) {
        while at >= self.until {
            self.kept.push(self.open.keep());
            self.until += self.slice;
            if self.kept.len() == SLICES {
                self.halve();
            }
        }
    }

    fn halve(&mut self) {
        let mut kept = std::mem::take(&mut self.kept).into_iter();
        while let Some(mut joined) = kept.next() {
            kept.next().iter().for_each(|next| joined.add(next));
            self.kept.push(joined);
        }
        self.slice *= 2;
        self.until = (self.kept.len() as u64 + 1) * self.slice;
    }

    pub fn add(&mut self, mut other: Timeline) {
        other.kept.push(other.open.keep());
        self.kept.push(self.open.keep());
        while self.slice < other.slice {
            self.halve();
        }
        while other.slice < self.slice {
            other.halve();
        }
        if self.kept.len() < other.kept.len() {
            std::mem::swap(&mut self.kept, &mut other.kept);
        }
        for (own, theirs) in self.kept.iter_mut().zip(&other.kept) {
            own.add(theirs);
        }
        if let Some(last) = self.kept.pop() {
            self.open = last.open();
        }
        self.until = (self.kept.len() as u64 + 1) * self.slice;
    }

    pub fn finish(mut self) -> Vec<Slice> {
        self.kept.push(self.open.keep());
        let seconds = self.slice as f64 / 1e9;
        let slice = |(at, k): (usize, ClosedSlice)| Slice {
            start: at as f64 * seconds,
            seconds,
            scheduled: k.scheduled,
            completed: k.completed,
            faulted: k.faulted,
            body_bytes: k.body_bytes,
            response: k.response,
        };
        self.kept.into_iter().enumerate().map(slice).collect()
    }
}

impl Open {
    /// Packs it and empties it; its memory is kept.
    fn keep(&mut self) -> ClosedSlice {
        let response = if self.completed == 0 { Packed::default() } else { Packed::coarse(&self.response) };
        self.response.clear();
        let kept = ClosedSlice {
            scheduled: self.scheduled,
            completed: self.completed,
            faulted: self.faulted,
            body_bytes: self.body_bytes,
            response,
        };
        (self.scheduled, self.completed, self.faulted, self.body_bytes) = (0, 0, 0, 0);
        kept
    }
}

impl ClosedSlice {
    /// Adds another slice, with no more memory than both need.
    fn add(&mut self, other: &ClosedSlice) {
        self.scheduled += other.scheduled;
        self.completed += other.completed;
        self.faulted += other.faulted;
        self.body_bytes += other.body_bytes;
        self.response.add(&other.response);
    }

    fn open(self) -> Open {
        let ClosedSlice { scheduled, completed, faulted, body_bytes, response } = self;
        Open { scheduled, completed, faulted, body_bytes, response: response.unpack().unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A timeline of slices of 10 ns with one response at each of these instants.
    fn timeline(instants: &[Nanos]) -> Timeline {
        let mut timeline = Timeline::new(10);
        for at in instants {
            let open = timeline.at(*at);
            open.completed += 1;
            open.response.record(1_000_000 + at);
        }
        timeline
    }

    fn completed(slices: &[Slice]) -> Vec<u64> {
        slices.iter().map(|s| s.completed).collect()
    }

    #[test]
    fn what_happens_is_in_the_slice_of_its_instant() {
        let slices = timeline(&[0, 9, 10, 35, 36]).finish();
        assert_eq!(completed(&slices), [2, 1, 0, 2]);
        let counts: Vec<u64> = slices.iter().map(|s| s.response.unpack().unwrap().count()).collect();
        assert_eq!(counts, completed(&slices));
        assert!((slices[3].start - 30e-9).abs() < 1e-15 && (slices[3].seconds - 10e-9).abs() < 1e-15);
    }

    #[test]
    fn the_number_of_slices_is_bounded_and_nothing_is_lost() {
        let instants: Vec<Nanos> = (0..5 * SLICES as u64).map(|i| i * 10).collect();
        let slices = timeline(&instants).finish();
        assert!(slices.len() <= SLICES, "{} slices", slices.len());
        assert_eq!(slices.iter().map(|s| s.completed).sum::<u64>(), instants.len() as u64);
        let counted: u64 = slices.iter().map(|s| s.response.unpack().unwrap().count()).sum();
        assert_eq!(counted, instants.len() as u64);
        let full = &slices[..slices.len() - 1];
        assert!(full.iter().all(|s| s.completed == full[0].completed), "slices of one length hold as much");
    }

    #[test]
    fn timelines_of_other_lengths_add_up() {
        let long: Vec<Nanos> = (0..2 * SLICES as u64).map(|i| i * 10 + 5).collect();
        let mut sum = timeline(&[5, 15]);
        sum.add(timeline(&long));
        let slices = sum.finish();
        assert_eq!(slices.iter().map(|s| s.completed).sum::<u64>(), long.len() as u64 + 2);
        assert_eq!(
            slices[0].completed,
            slices[1].completed + 2,
            "both of the short one are in the first slice"
        );
    }
}
