//! The uncertainty of figures from few rounds, by drawings: each drawing is a set of true values that is compatible
//! with the measurements.
//!
//! In each drawing, rounds are drawn with replacement (Efron, "Bootstrap methods: another look at the jackknife",
//! Annals of Statistics 7 (1979)). All units of a drawing use the same rounds, so that a disturbance of a whole round
//! affects all of them or none. This alone does not reach below the smallest value of few rounds, and ignores that
//! every visit of a unit may have been disturbed. So each figure is also multiplied by a random error. The error is
//! that of a figure from the same number of rounds when these are drawn from the residuals of all units (without the
//! levels of units and rounds).

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::blocks::block_effects;
use crate::summary::{QuantilePosition, quantile};

pub const DRAWINGS: usize = 400;

/// Number of random errors per number of rounds.
const OFFS: usize = 1000;

/// For each unit, the factors of its true figure to the measured one (the quantile at `p` over rounds), one in each of
/// [`DRAWINGS`] drawings. A unit is its measurements: (round, amount), ascending by round. A unit without amounts above
/// zero is known exactly, and has the factor 1 in all drawings.
pub fn drawn_figures(units: &[Vec<(u32, f64)>], p: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let pool = residuals(units);
    let offs = offs(units, &pool, p, &mut random);
    let mut rounds: Vec<u32> = units.iter().flatten().map(|(round, _)| *round).collect();
    rounds.sort_unstable();
    rounds.dedup();
    let ascending: Vec<Option<Vec<(usize, f64)>>> =
        units.iter().map(|unit| ascending(unit, &rounds)).collect();
    let once = vec![1u16; rounds.len()];
    let mut counts = vec![0u16; rounds.len()];
    let mut all: Vec<Vec<f64>> = vec![Vec::with_capacity(DRAWINGS); units.len()];
    for _ in 0..DRAWINGS {
        counts.fill(0);
        for _ in 0..rounds.len() {
            let count = &mut counts[random.random_range(0..rounds.len())];
            *count = count.saturating_add(1);
        }
        for (unit, factors) in ascending.iter().zip(&mut all) {
            let Some(unit) = unit else {
                factors.push(1.0);
                continue;
            };
            // If none of its rounds was drawn, the factor stays 1.
            let own = drawn(unit, &once, p).unwrap_or(f64::NAN);
            let moved = drawn(unit, &counts, p).map_or(1.0, |figure| figure / own);
            let offs = &offs[&unit.len()];
            factors.push(moved / offs[random.random_range(0..offs.len())]);
        }
    }
    all
}

/// The amounts of a unit in ascending order, each with the index of its round; none if it has no amounts, or one that
/// is not above zero.
fn ascending(unit: &[(u32, f64)], rounds: &[u32]) -> Option<Vec<(usize, f64)>> {
    let place = |round: &u32| rounds.binary_search(round).ok();
    let sound = |amount: f64| amount.is_finite() && amount > 0.0;
    let mut ascending: Vec<(usize, f64)> = unit
        .iter()
        .map(|(round, amount)| Some((place(round)?, *amount)).filter(|_| sound(*amount)))
        .collect::<Option<_>>()?;
    ascending.sort_by(|a, b| a.1.total_cmp(&b.1));
    (!ascending.is_empty()).then_some(ascending)
}

/// The quantile of the drawn amounts, which are in ascending order; none if none was drawn.
fn drawn(ascending: &[(usize, f64)], counts: &[u16], p: f64) -> Option<f64> {
    let n: usize = ascending.iter().map(|(place, _)| usize::from(counts[*place])).sum();
    if n == 0 {
        return None;
    }
    let at = QuantilePosition::of(n, p);
    let mut seen = 0;
    let mut below = None;
    for (place, amount) in ascending {
        seen += usize::from(counts[*place]);
        if seen > at.below && below.is_none() {
            below = Some(*amount);
        }
        if seen > at.above {
            return Some(at.between(below.unwrap_or(*amount), *amount));
        }
    }
    None
}

/// Logarithms of the values of units in rounds, without the levels of both; widened because subtracting a unit's mean
/// reduces their spread.
fn residuals(units: &[Vec<(u32, f64)>]) -> Vec<f64> {
    let effects = block_effects(units);
    let of_unit = |unit: &Vec<(u32, f64)>| -> Vec<f64> {
        let level = |round: &u32| effects.get(round).copied().unwrap_or(1.0).ln();
        let logs: Vec<f64> = unit.iter().map(|(round, amount)| amount.ln() - level(round)).collect();
        let n = logs.len() as f64;
        if n < 2.0 || logs.iter().any(|log| !log.is_finite()) {
            return Vec::new();
        }
        let mean = logs.iter().sum::<f64>() / n;
        logs.iter().map(|log| (log - mean) * (n / (n - 1.0)).sqrt()).collect()
    };
    units.iter().flat_map(of_unit).collect()
}

/// By number of rounds: the factors of figures from this many rounds drawn from the pool to the figure of the pool.
fn offs(
    units: &[Vec<(u32, f64)>],
    pool: &[f64],
    p: f64,
    random: &mut ChaCha8Rng,
) -> BTreeMap<usize, Vec<f64>> {
    let mut offs = BTreeMap::new();
    let whole = quantile(pool, p).unwrap_or(0.0);
    for unit in units {
        let n = unit.len();
        offs.entry(n).or_insert_with(|| {
            if pool.is_empty() || n == 0 {
                return vec![1.0];
            }
            let place = QuantilePosition::of(n, p);
            let mut drawn = vec![0.0; n];
            let mut off = || {
                drawn.iter_mut().for_each(|one| *one = pool[random.random_range(0..pool.len())]);
                drawn.sort_unstable_by(f64::total_cmp);
                (place.in_sorted(&drawn) - whole).exp()
            };
            (0..OFFS).map(|_| off()).collect()
        });
    }
    offs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(amounts: &[f64]) -> Vec<(u32, f64)> {
        amounts.iter().enumerate().map(|(round, amount)| (round as u32 + 1, *amount)).collect()
    }

    #[test]
    fn the_same_units_and_seed_give_the_same_worlds() {
        let units = [unit(&[1.0, 1.1, 1.2, 1.0, 1.3]), unit(&[2.0, 2.2, 2.1, 2.4, 2.0]), Vec::new()];
        let worlds = drawn_figures(&units, 0.1, 3);
        assert_eq!(worlds, drawn_figures(&units, 0.1, 3));
        assert_ne!(worlds, drawn_figures(&units, 0.1, 4));
        assert!(worlds.iter().all(|unit| unit.len() == DRAWINGS));
        assert!(worlds[2].iter().all(|factor| *factor == 1.0), "nothing is drawn where nothing varies");
    }

    #[test]
    fn what_never_varies_is_known() {
        let worlds = drawn_figures(&[unit(&[3.0; 6]), unit(&[5.0; 6])], 0.1, 1);
        assert!(worlds.iter().flatten().all(|factor| (factor - 1.0).abs() < 1e-12));
    }

    /// A unit whose every visit was disturbed may be as fast as the variation of the others suggests.
    #[test]
    fn the_true_figure_may_lie_below_every_round() {
        // Two visits in five were disturbed, each time in other rounds.
        let rotated = |i: usize| {
            let mut amounts = [1.0, 1.0, 1.0, 1.4, 1.4];
            amounts.rotate_left(i % 5);
            unit(&amounts.map(|amount| amount * (i + 1) as f64))
        };
        let mut units: Vec<_> = (0..15).map(rotated).collect();
        units.push(unit(&[1.4; 5]));
        let worlds = drawn_figures(&units, 0.1, 1);
        let below = worlds[15].iter().filter(|factor| **factor < 0.9).count();
        assert!(below > DRAWINGS / 50, "{below}");
    }

    #[test]
    fn amounts_that_cannot_be_are_known_exactly() {
        let worlds = drawn_figures(&[unit(&[0.0, 0.0]), unit(&[f64::NAN, 1.0]), unit(&[1.0])], 0.1, 1);
        assert!(worlds.iter().flatten().all(|factor| factor.is_finite()));
    }
}
