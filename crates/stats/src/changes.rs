//! Change points of a series: E-divisive (Matteson and James, "A nonparametric approach for multiple change point
//! analysis of multivariate data", Journal of the American Statistical Association 109 (2014)), for numbers.
//!
//! A split of a segment is judged by the energy distance between its sides: how much further values of different
//! sides lie apart than values of one side. The best split of all segments is compared with the best splits of the
//! same values in random orders. It assumes no distribution, and a single outlier moves it little.
//!
//! Random orders are drawn until the answer is known: a split that chance reaches often is given up early (Besag and
//! Clifford, "Sequential Monte Carlo p-values", Biometrika 78 (1991)).

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Values on each side of a change point, at least: what one or two outliers do is not a change.
pub const LEAST_SIDE: usize = 3;
/// Orders as good as the split after which it is given up.
const ENOUGH: usize = 10;
/// Random orders per change point, at most, whatever the level: a level below about a thousandth of a percent is not reached.
const MOST_ORDERS: usize = 100_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The position of the first value after the change.
    pub at: usize,
    /// The share of random orders that have a split at least as good, with this one among them.
    pub p: f64,
}

/// The change points of a series, ascending, with an error probability of at most `level`: in a series without any, the
/// probability of finding one or more. The same values, level and seed give the same change points.
///
/// Each change point is looked for among the segments that those before leave, until one is not significant. `None` if a
/// value is not finite or the level is not between 0 and 1.
pub fn change_points(values: &[f64], level: f64, seed: u64) -> Option<Vec<ChangePoint>> {
    if !(level > 0.0 && level < 1.0) || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut found: Vec<ChangePoint> = Vec::new();
    loop {
        let edges = edges(&found, values.len());
        let segments: Vec<&[f64]> = edges.windows(2).map(|edge| &values[edge[0]..edge[1]]).collect();
        let Some((best, at)) = best_of(&segments, &edges).filter(|(best, _)| *best > 0.0) else { break };
        let Some(p) = probability(&segments, best, level, &mut random) else { break };
        found.push(ChangePoint { at, p });
        found.sort_by_key(|point| point.at);
    }
    Some(found)
}

/// The number of values that a series needs so that a change in its middle can be found at a level: with fewer there are
/// too few orders of them.
pub fn values_needed(level: f64) -> usize {
    // Of 2m values, 2 of the (2m over m) ways to deal them to two sides are as good as the best split.
    let mut side = 1.0_f64;
    let mut ways = 2.0_f64;
    while 2.0 / ways >= level && side < 512.0 {
        side += 1.0;
        ways *= 2.0 * (2.0 * side - 1.0) / side;
    }
    2 * (side as usize).max(LEAST_SIDE)
}

/// The positions at which segments begin, and the end of the last.
fn edges(found: &[ChangePoint], end: usize) -> Vec<usize> {
    std::iter::once(0).chain(found.iter().map(|point| point.at)).chain([end]).collect()
}

/// The best split of all segments, and its position in the series.
fn best_of(segments: &[&[f64]], edges: &[usize]) -> Option<(f64, usize)> {
    let splits = segments.iter().zip(edges).filter_map(|(segment, begin)| {
        let (energy, at) = best_split(segment)?;
        Some((energy, begin + at))
    });
    splits.max_by(|a, b| a.0.total_cmp(&b.0))
}

/// The share of random orders within the segments whose best split is at least as good; none if that share is above the
/// level.
fn probability(segments: &[&[f64]], best: f64, level: f64, random: &mut impl Rng) -> Option<f64> {
    // Twice as many as the level needs, so that a split that none reaches is well below it.
    let orders = ((2.0 / level).ceil() as usize).clamp(199, MOST_ORDERS);
    // Sums of the same values in another order differ in their last digits.
    let reached = best * (1.0 - 1e-9);
    let mut shuffled: Vec<Vec<f64>> = segments.iter().map(|segment| segment.to_vec()).collect();
    let mut as_good = 0;
    for _ in 0..orders {
        shuffled.iter_mut().for_each(|segment| segment.shuffle(random));
        let splits = shuffled.iter().filter_map(|segment| best_split(segment));
        as_good += usize::from(splits.map(|split| split.0).any(|energy| energy >= reached));
        let at_least = (as_good + 1) as f64 / (orders + 1) as f64;
        if as_good >= ENOUGH && at_least > level {
            return None;
        }
    }
    let p = (as_good + 1) as f64 / (orders + 1) as f64;
    (p <= level).then_some(p)
}

/// The split of a segment with the largest energy distance between its sides, scaled by their lengths; none if it is too
/// short for one.
fn best_split(values: &[f64]) -> Option<(f64, usize)> {
    let count = values.len();
    if count < 2 * LEAST_SIDE {
        return None;
    }
    let apart = |of: f64, among: &[f64]| among.iter().map(|value| (value - of).abs()).sum::<f64>();
    // Sums of distances: within the left side, within the right side, between both.
    let mut within_left = 0.0;
    let mut within_right: f64 = (1..count).map(|at| apart(values[at], &values[..at])).sum();
    let mut between = 0.0;
    let mut best = None;
    for at in 1..=count - LEAST_SIDE {
        // This value moves from the right side to the left.
        let moved = values[at - 1];
        let (to_left, to_right) = (apart(moved, &values[..at - 1]), apart(moved, &values[at..]));
        within_left += to_left;
        within_right -= to_right;
        between += to_right - to_left;
        if at < LEAST_SIDE {
            continue;
        }
        let (left, right) = (at as f64, (count - at) as f64);
        let pairs = |side: f64| side * (side - 1.0) / 2.0;
        let distance =
            2.0 * between / (left * right) - within_left / pairs(left) - within_right / pairs(right);
        let energy = left * right / (left + right) * distance;
        if best.is_none_or(|(most, _)| energy > most) {
            best = Some((energy, at));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_energy_distance_of_a_split_is_that_of_its_definition() {
        let values = [1.0, 2.5, 2.0, 7.0, 9.0, 8.0, 8.5];
        let (energy, at) = best_split(&values).unwrap();
        assert_eq!(at, 3);
        let (left, right) = values.split_at(at);
        let mean = |a: &[f64], b: &[f64]| {
            let all = a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs()));
            all.sum::<f64>()
        };
        let (m, n) = (left.len() as f64, right.len() as f64);
        let within = |side: &[f64], count: f64| mean(side, side) / (count * (count - 1.0));
        let direct = 2.0 * mean(left, right) / (m * n) - within(left, m) - within(right, n);
        assert!((energy - m * n / (m + n) * direct).abs() < 1e-9, "{energy} {direct}");
    }

    #[test]
    fn a_level_needs_enough_values_to_be_reached() {
        // 2 of 20 orders of sides are 0.1; 2 of 70 are 0.029; 2 of 3432 are 0.00058.
        assert_eq!(values_needed(0.2), 6);
        assert_eq!(values_needed(0.05), 8);
        assert_eq!(values_needed(0.05 / 60.0), 14);
    }
}
