//! Lets events gather. In a closed model with many connections a server that is busy answers one request after the other, and a generator
//! that is quicker than it sleeps and wakes for each. A rest that is short beside a response lets several come together, as network cards do it.
//! Whether that pays is the machine's matter, and so it is tried: see [`Thrift`].

use std::num::NonZeroU64;

use rustix::thread::{Timespec, nanosleep, set_current_timer_slack};

use super::thrift::Thrift;
use crate::{Nanos, sys};

/// A rest is at most this part of the time that the quickest of the latest responses took. What comes in it is dealt with half a rest
/// later on average, and so the figures stay true to a percent, also those of the quick ones among slow ones.
const PART: Nanos = 50;
/// And it is no longer than this.
const LONGEST: Nanos = 240_000;
/// A shorter one costs more than it saves.
const SHORTEST: Nanos = 10_000;
/// Where fewer responses are to be expected in it, it saves nothing.
const EXPECTED: f64 = 0.6;
/// After so many events at once they gather by themselves.
const MANY: usize = 8;
/// How many responses the mean of their times goes back.
const MEMORY: Nanos = 64;
/// By this part of it the quickest time grows with each response that took longer.
const GROWTH: Nanos = 256;
/// How much later than asked for a rest may end; the system's default is longer than a rest.
const SLACK: Option<NonZeroU64> = NonZeroU64::new(1000);

/// One thread's rests.
#[derive(Debug, Default)]
pub struct Gather {
    /// The moving mean of the times that responses took.
    service: Nanos,
    /// The time of the quickest of the latest.
    quickest: Nanos,
    /// Events that came together last.
    last: usize,
    /// Whether rests are worth it.
    thrift: Thrift,
}

impl Gather {
    /// For the thread that this is called in.
    pub fn begin() -> Gather {
        // Without it a rest is longer than planned; it is no reason to fail.
        let _ = set_current_timer_slack(SLACK);
        Gather::default()
    }

    /// A response is whole, that long after its request was sent.
    #[inline]
    pub fn ended(&mut self, service: Nanos) {
        self.thrift.ended();
        if self.service == 0 {
            (self.service, self.quickest) = (service, service);
        } else {
            self.service = self.service - self.service / MEMORY + service / MEMORY;
            self.quickest = service.min(self.quickest + self.quickest / GROWTH);
        }
    }

    /// So many events came at once.
    #[inline]
    pub fn came(&mut self, events: usize) {
        self.last = events;
    }

    /// Looks now and then what rests cost and save, in the thread that this is called in.
    #[inline]
    pub fn look(&mut self, now: Nanos) {
        self.thrift.look(now, sys::thread_cpu_seconds);
    }

    /// Whether it is worth a rest with so many requests in flight, and how long.
    pub fn rest(&self, in_flight: usize) -> Option<Nanos> {
        if self.thrift.is_awake() {
            return None;
        }
        let rest = (self.quickest / PART).min(LONGEST);
        let expected = in_flight as f64 * rest as f64 / self.service.max(1) as f64;
        (self.last < MANY && rest >= SHORTEST && expected >= EXPECTED).then_some(rest)
    }
}

/// Rests.
pub fn rest(nanos: Nanos) {
    // Woken by a signal, it is over earlier.
    let _ = nanosleep(&Timespec { tv_sec: 0, tv_nsec: nanos as _ });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(service: Nanos, events: usize) -> Gather {
        let mut gather = Gather::default();
        (0..1000).for_each(|_| gather.ended(service));
        gather.came(events);
        gather
    }

    #[test]
    fn a_rest_is_short_beside_a_response() {
        for service in [640_000, 1_300_000, 2_000_000, 20_000_000] {
            let rest = after(service, 1).rest(1000).unwrap();
            assert!((SHORTEST..=LONGEST).contains(&rest) && rest <= service / PART, "{service}: {rest}");
        }
        assert_eq!(after(400_000, 1).rest(1000), None, "too short to pay");
        assert_eq!(Gather::default().rest(1000), None, "nothing is known");
    }

    #[test]
    fn nobody_rests_for_nothing() {
        let few = |in_flight| after(1_300_000, 1).rest(in_flight).is_none();
        assert!(few(1) && few(16) && !few(100));
        // Slow responses come one by one, although there are many.
        assert_eq!(after(100_000_000, 1).rest(100), None);
        assert_eq!(after(1_300_000, MANY).rest(100), None, "the thread is busy");
    }

    #[test]
    fn a_rest_is_short_beside_a_quick_response_among_slow_ones() {
        let mut gather = after(12_000_000, 1);
        assert!(gather.rest(100).unwrap() > 200_000);
        for _ in 0..5 {
            gather.ended(1_000_000);
            (0..50).for_each(|_| gather.ended(12_000_000));
            assert!(gather.rest(1000).unwrap() < 25_000);
        }
        (0..1000).for_each(|_| gather.ended(12_000_000));
        assert!(gather.rest(100).unwrap() > 200_000, "there are none any more");
    }

    #[test]
    fn one_slow_response_is_soon_forgotten() {
        let mut gather = after(1_300_000, 1);
        gather.ended(2_000_000_000);
        assert_eq!(gather.rest(100), None);
        (0..300).for_each(|_| gather.ended(1_300_000));
        assert!(gather.rest(100).is_some());
    }
}
