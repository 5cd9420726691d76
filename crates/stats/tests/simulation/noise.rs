//! Simulated noise of a shared machine: a round visits every configuration once in a random order.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

/// A kind of noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Lognormal, 2%.
    Calm,
    /// Neighbours only add time: one-sided exponential, mean 10%, with lognormal 0.5%.
    Exponential,
    /// Half of the visits take 1.35 times as long, over lognormal 1%.
    TwoModesHalf,
    /// 80% of the visits take 1.35 times as long.
    TwoModesMost,
    /// A neighbour that stays for a while: visits in a row take 1.3 times as long; it comes and goes once in 20 visits.
    Sticky,
    /// Student's t with two degrees of freedom, times 2%: some visits are far off, to both sides.
    Heavy,
    /// The machine becomes slower by 2% per round, with lognormal 2%.
    Drift,
    /// Three rounds in ten take 1.5 times as long as a whole, with lognormal 2%.
    SlowRounds,
    /// Lognormal, of 0.5% for one configuration up to 8% for another.
    Unequal,
}

/// The eight kinds, and the one with unequal spreads. Levels are kept in all, differences are found in the first [`SIX`].
pub const ALL: [Noise; 9] = [
    Noise::Calm,
    Noise::Exponential,
    Noise::TwoModesHalf,
    Noise::TwoModesMost,
    Noise::Sticky,
    Noise::Heavy,
    Noise::Drift,
    Noise::SlowRounds,
    Noise::Unequal,
];

/// The number of kinds with one state of the machine and one spread.
pub const SIX: usize = 6;

/// A standard normal number.
pub fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// What configurations with these costs show in each of this many rounds.
pub fn observe(noise: Noise, costs: &[f64], rounds: usize, random: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let mut seen = vec![Vec::with_capacity(rounds); costs.len()];
    let mut order: Vec<usize> = (0..costs.len()).collect();
    let mut is_disturbed = random.random::<bool>();
    for round in 0..rounds {
        order.shuffle(random);
        let is_slow = random.random::<f64>() < 0.3;
        for &i in &order {
            if random.random::<f64>() < 0.05 {
                is_disturbed = !is_disturbed;
            }
            let factor = match noise {
                Noise::Calm => (0.02 * normal(random)).exp(),
                Noise::Exponential => {
                    (0.005 * normal(random)).exp() * (1.0 - 0.1 * (1.0 - random.random::<f64>()).ln())
                }
                Noise::TwoModesHalf => (0.01 * normal(random)).exp() * mode(random, 0.5),
                Noise::TwoModesMost => (0.01 * normal(random)).exp() * mode(random, 0.8),
                Noise::Sticky => (0.01 * normal(random)).exp() * if is_disturbed { 1.3 } else { 1.0 },
                Noise::Heavy => (0.02 * normal(random) / (-(1.0 - random.random::<f64>()).ln()).sqrt()).exp(),
                Noise::Drift => (0.02 * normal(random) + 0.02 * round as f64).exp(),
                Noise::SlowRounds => (0.02 * normal(random)).exp() * if is_slow { 1.5 } else { 1.0 },
                Noise::Unequal => {
                    let spread = 0.005 * 16f64.powf(i as f64 / (costs.len() - 1).max(1) as f64);
                    (spread * normal(random)).exp()
                }
            };
            seen[i].push(costs[i] * factor);
        }
    }
    seen
}

fn mode(random: &mut impl Rng, slow: f64) -> f64 {
    if random.random::<f64>() < slow { 1.35 } else { 1.0 }
}

/// The 0.1 quantile and the median of what a configuration with cost 1 shows in the long run, for noise that is the same in
/// all rounds and for all configurations.
pub fn long_run(noise: Noise, random: &mut ChaCha8Rng) -> [f64; 2] {
    let one = observe(noise, &[1.0; 60], 30_000, random).remove(30);
    [0.1, 0.5].map(|p| weigh_stats::quantile(&one, p).expect("finite"))
}

/// The share of trials in which the interval of the 0.1 quantile, and that of the median if there is one, contain the
/// value of a configuration in the long run.
pub fn coverage(
    noise: Noise,
    [low_truth, middle]: [f64; 2],
    rounds: usize,
    trials: usize,
    random: &mut ChaCha8Rng,
) -> (f64, Option<f64>) {
    let (mut low, mut median, mut has_median) = (0, 0, true);
    for _ in 0..trials {
        // Others are visited in between, so that a neighbour that stays is gone in the next round.
        let seen = observe(noise, &[1.0; 60], rounds, random).remove(30);
        let (from, to) = weigh_stats::low_quantile_interval(&seen, 0.1, 0.95).expect("rounds");
        low += u32::from(from.is_none_or(|from| from <= low_truth) && low_truth <= to);
        match weigh_stats::median_interval(&seen, 0.95) {
            Some(interval) => median += u32::from(interval.low <= middle && middle <= interval.high),
            None => has_median = false,
        }
    }
    let share = |count: u32| f64::from(count) / trials as f64;
    (share(low), has_median.then(|| share(median)))
}
