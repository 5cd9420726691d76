//! Pairs of runs on a machine that changes between them, with its noise in each: what a comparison claims without a
//! change, and what it finds of one.

use rand_chacha::ChaCha8Rng;
use weigh_stats::{FAMILY_WISE, apart, compare_apart};

use crate::noise::{Noise, normal, observe};

/// What changes from run to run.
#[derive(Clone, Copy, Debug)]
pub struct Drift {
    /// The standard deviation of what all configurations have in common.
    pub common: f64,
    /// That of each configuration alone.
    pub own: f64,
}

/// The share of trials with a wrong claim, and the share in which the last configuration is claimed, whose cost in the
/// second run is `factor` times that in the first.
pub fn claims(
    noise: Noise,
    drift: Drift,
    (cells, rounds): (usize, usize),
    factor: f64,
    trials: usize,
    random: &mut ChaCha8Rng,
) -> (f64, f64) {
    let (mut wrong, mut found) = (0u32, 0u32);
    for trial in 0..trials {
        let mut costs: Vec<f64> = vec![1.0; cells];
        let first = units(&observe(noise, &costs, rounds, random));
        let common = drift.common * normal(random);
        costs.iter_mut().for_each(|cost| *cost *= (common + drift.own * normal(random)).exp());
        costs[cells - 1] *= factor;
        let second = units(&observe(noise, &costs, rounds, random));
        let (_, ratios) = compare_apart(&[apart(&first, &second, 0.1, trial as u64)], FAMILY_WISE).remove(0);
        let changed = if factor == 1.0 { cells } else { cells - 1 };
        wrong += u32::from(ratios[..changed].iter().any(|ratio| ratio.is_claimed));
        found += u32::from(ratios[cells - 1].is_claimed);
    }
    (f64::from(wrong) / trials as f64, f64::from(found) / trials as f64)
}

fn units(seen: &[Vec<f64>]) -> Vec<Vec<(u32, f64)>> {
    seen.iter().map(|seen| (1..).zip(seen.iter().copied()).collect()).collect()
}
