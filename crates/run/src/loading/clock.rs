//! The clock of an agent on another machine, as far as round trips show it.

use std::time::{Duration, Instant};

/// Round trips of which the shortest counts: of all, it left the least time for the two ways to differ.
const TRIPS: usize = 16;

/// What an agent's clock shows.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    here: Instant,
    /// The agent's nanoseconds at that instant.
    there: u64,
    /// The round trip from which it is known.
    pub trip: Duration,
}

impl Clock {
    /// From the best of several questions; each returns what the agent's clock showed. The answer was given at some instant of the
    /// round trip, so the middle of it is off by half of it at most.
    ///
    /// # Errors
    /// Those of `ask`.
    pub fn best<E>(mut ask: impl FnMut() -> Result<u64, E>) -> Result<Clock, E> {
        let mut trip = || {
            let asked = Instant::now();
            let there = ask()?;
            let trip = asked.elapsed();
            Ok(Clock { here: asked + trip / 2, there, trip })
        };
        let mut best = trip()?;
        for _ in 1..TRIPS {
            let next = trip()?;
            best = if next.trip < best.trip { next } else { best };
        }
        Ok(best)
    }

    /// How far it may be off.
    pub fn uncertainty(&self) -> Duration {
        self.trip / 2
    }

    /// What the agent's clock shows at an instant here.
    pub fn there(&self, at: Instant) -> u64 {
        let later = at.saturating_duration_since(self.here).as_nanos();
        let earlier = self.here.saturating_duration_since(at).as_nanos();
        let ns = u128::from(self.there).saturating_add(later).saturating_sub(earlier);
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// Seconds from an instant here to the one that the agent's clock showed; negative: it was earlier.
    pub fn seconds_after(&self, at: Instant, there: u64) -> f64 {
        let then = self.there(at);
        (i128::from(there) - i128::from(then)) as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_trip_counts_and_says_how_far_it_may_be_off() {
        let origin = Instant::now();
        let ahead = Duration::from_secs(100);
        let mut asked = 0;
        let clock = Clock::best(|| {
            asked += 1;
            std::thread::sleep(Duration::from_millis(if asked == 5 { 1 } else { 30 }));
            Ok::<u64, ()>((origin.elapsed() + ahead).as_nanos() as u64)
        });
        let clock = clock.unwrap();
        assert_eq!(asked, TRIPS);
        let at = origin + Duration::from_secs(3);
        let error = clock.seconds_after(at, 103_000_000_000);
        assert!(error.abs() <= clock.uncertainty().as_secs_f64() + 1e-6, "{error} {clock:?}");
        assert_eq!(clock.seconds_after(at, clock.there(at) + 5_000_000), 0.005);
        assert_eq!(clock.seconds_after(at, clock.there(at) - 5_000_000), -0.005);
    }

    #[test]
    fn an_agent_that_does_not_answer_has_no_clock() {
        assert_eq!(Clock::best(|| Err::<u64, _>("gone")).unwrap_err(), "gone");
    }
}
