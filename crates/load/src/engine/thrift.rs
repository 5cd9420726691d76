//! Which of two ways of working takes less CPU time. Machines do not agree: where to be woken is dear a rest saves much, and where a timer is
//! dear it costs more than it saves. A thread goes both ways in turn, a window at a time, and then keeps to the cheaper one. What counts is
//! the ratio of windows that follow each other, for the machine changes by more than the ways differ.

use crate::Nanos;

/// How long a window is at least.
const WINDOW: Nanos = 20_000_000;
/// And how many responses end in it at least.
const FEWEST: u64 = 64;
/// In so many windows at the begin the ways take turns.
const TRIAL: u32 = 24;
/// After them, one in so many goes the dearer way.
const AGAIN: u32 = 12;
/// How many ratios the moving mean of them goes back.
const MEMORY: u32 = 32;

/// Two ways: one with rests, and one without.
#[derive(Debug, Default)]
pub struct Thrift {
    /// The way of this window.
    is_awake: bool,
    /// When this window began, and the thread's CPU seconds then; none before the first.
    began: Option<(Nanos, f64)>,
    /// Responses that ended in it.
    responses: u64,
    windows: u32,
    /// CPU seconds a response in the window before, and its way.
    before: Option<(f64, bool)>,
    /// The mean of the logarithms of ratios: below zero, rests are cheaper.
    rests: f64,
    ratios: u32,
}

impl Thrift {
    /// Whether this window goes without rests.
    #[inline]
    pub fn is_awake(&self) -> bool {
        self.is_awake
    }

    /// A response is whole.
    #[inline]
    pub fn ended(&mut self) {
        self.responses += 1;
    }

    /// Ends the window when it is over. `cpu` gives the CPU seconds of the thread.
    #[inline]
    pub fn look(&mut self, now: Nanos, cpu: impl FnOnce() -> f64) {
        match self.began {
            None => self.began = Some((now, cpu())),
            Some((began, before)) if now >= began + WINDOW && self.responses >= FEWEST => {
                let used = cpu();
                self.weigh((used - before) / self.responses as f64);
                (self.began, self.responses) = (Some((now, used)), 0);
            }
            Some(_) => {}
        }
    }

    /// A window is over in which a response took so much.
    fn weigh(&mut self, cost: f64) {
        if let Some((before, _)) =
            self.before.filter(|(before, way)| *way != self.is_awake && *before > 0.0 && cost > 0.0)
        {
            let ratio = if self.is_awake { before / cost } else { cost / before };
            self.ratios = (self.ratios + 1).min(MEMORY);
            self.rests += (ratio.ln() - self.rests) / f64::from(self.ratios);
        }
        self.before = Some((cost, self.is_awake));
        self.windows = self.windows.wrapping_add(1);
        self.is_awake = if self.windows < TRIAL {
            !self.is_awake
        } else {
            (self.rests > 0.0) != self.windows.is_multiple_of(AGAIN)
        };
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// A machine on which a response takes 15 µs, give or take what neighbours do to it, and rests change that by a factor.
    struct Machine {
        thrift: Thrift,
        rng: ChaCha8Rng,
        now: Nanos,
        cpu: f64,
    }

    impl Machine {
        fn new(seed: u64) -> Machine {
            Machine { thrift: Thrift::default(), rng: ChaCha8Rng::seed_from_u64(seed), now: 0, cpu: 0.0 }
        }

        /// Goes on for so many windows; the part of them that had rests.
        fn go_on(&mut self, windows: u32, rests: f64) -> f64 {
            let mut with = 0;
            for window in 0..windows {
                let neighbours = 1.0 + 0.3 * f64::from(window / 40 % 2) + 0.1 * self.rng.random::<f64>();
                for _ in 0..1000 {
                    let factor = if self.thrift.is_awake() { 1.0 } else { rests };
                    with += u32::from(!self.thrift.is_awake());
                    self.now += 20_000;
                    self.cpu += 15e-6 * neighbours * factor;
                    self.thrift.ended();
                    self.thrift.look(self.now, || self.cpu);
                }
            }
            f64::from(with) / f64::from(1000 * windows)
        }
    }

    #[test]
    fn the_cheaper_way_is_gone_mostly() {
        for seed in 0..20 {
            let with = Machine::new(seed).go_on(400, 0.9);
            assert!(with > 0.8, "rests are cheaper: {with}");
            let with = Machine::new(seed).go_on(400, 1.1);
            assert!(with < 0.2, "rests are dearer: {with}");
        }
    }

    #[test]
    fn it_turns_when_the_machine_does() {
        let mut machine = Machine::new(1);
        machine.go_on(400, 0.8);
        machine.go_on(400, 1.25);
        let with = machine.go_on(200, 1.25);
        assert!(with < 0.2, "{with}");
    }

    #[test]
    fn a_window_is_long_and_full() {
        let mut thrift = Thrift::default();
        thrift.look(0, || 0.0);
        thrift.look(WINDOW, || unreachable!("no response has ended"));
        (0..FEWEST).for_each(|_| thrift.ended());
        thrift.look(WINDOW - 1, || unreachable!("it is not over"));
        assert!(!thrift.is_awake());
        thrift.look(WINDOW, || 1.0);
        assert!(thrift.is_awake());
    }
}
