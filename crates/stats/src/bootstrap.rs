//! The bootstrap distribution of a quantile.
//!
//! The bootstrap (Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979);
//! Efron & Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13 for percentile intervals) asks
//! how a quantile would vary over samples drawn with replacement from the one at hand. Drawing them is only
//! a way to approximate that distribution. For a quantile it can be written down (Maritz & Jarrett, "A note
//! on estimating the variance of the sample median", JASA 73 (1978)), so up to [`EXACT_UP_TO`] values no
//! random number is used: it is cheaper than drawing, and free of the noise of drawing. Larger samples are
//! resampled with a fixed seed.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::summary::{Place, sorted};

/// Up to this many values the distribution is exact; beyond, it is resampled.
pub const EXACT_UP_TO: usize = 128;

/// Resamples of a sample that is too large for the exact distribution.
const RESAMPLES: usize = 1000;

/// Less probable pairs of values are left out: there are thousands of pairs, and all that are left out do not
/// add up to anything that shows.
const NEGLIGIBLE: f64 = 1e-14;

/// How a quantile of a sample varies over samples drawn from it with replacement.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantileDistribution {
    value: f64,
    /// (value, probability), ascending by value; the probabilities add up to 1 but for rounding.
    points: Vec<(f64, f64)>,
}

impl QuantileDistribution {
    /// The distribution of the quantile at `p` (0 to 1, see [`crate::quantile`]) of these values; `None` without values
    /// or with one that is not finite. `seed` is used only beyond [`EXACT_UP_TO`] values.
    pub fn of(xs: &[f64], p: f64, seed: u64) -> Option<QuantileDistribution> {
        let sorted = sorted(xs)?;
        let place = Place::of(sorted.len(), p);
        let mut points = match sorted.len() {
            n if n > EXACT_UP_TO => resampled(&sorted, place, seed),
            _ if place.part == 0.0 => exact_at(&sorted, place.below),
            _ => exact_between(&sorted, place),
        };
        points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Some(QuantileDistribution { value: place.in_sorted(&sorted), points })
    }

    /// The quantile of the values themselves.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The smallest value that the resampled quantile does not exceed with probability `p` (0 to 1).
    pub fn quantile(&self, p: f64) -> f64 {
        let total: f64 = self.points.iter().map(|point| point.1).sum();
        let mut cumulated = 0.0;
        for &(value, probability) in &self.points {
            cumulated += probability;
            if cumulated >= p * total {
                return value;
            }
        }
        self.points.last().map_or(self.value, |point| point.0)
    }

    /// The probability (0 to 1) that the resampled quantile is greater than `bound`.
    pub fn share_above(&self, bound: f64) -> f64 {
        let above: f64 = self.points.iter().filter(|point| point.0 > bound).map(|point| point.1).sum();
        above.min(1.0)
    }

    /// The percentile interval at `confidence` (0 to 1): the ends that leave out half of the rest each.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
        // A value that repeats makes the quantile of the values one of its own quantiles only up to
        // rounding of the probabilities, so the interval is widened to hold it.
        (self.quantile(tail).min(self.value), self.quantile(1.0 - tail).max(self.value))
    }
}

/// The quantile is one of the draws in order, the one at `index` from 0: it is at most the i-th value exactly when at
/// least `index` + 1 of n draws fall on the first i values.
fn exact_at(sorted: &[f64], index: usize) -> Vec<(f64, f64)> {
    let n = sorted.len();
    let mut before = 0.0;
    sorted
        .iter()
        .enumerate()
        .map(|(at, &value)| {
            let at_most = binomial_tail(n, (at + 1) as f64 / n as f64, index + 1);
            let probability = (at_most - before).max(0.0);
            before = at_most;
            (value, probability)
        })
        .collect()
}

/// The quantile lies between the m-th and the (m+1)-th draw in order. The m-th falls on one of the first i values
/// while the next falls behind the first j, i ≤ j, exactly when m draws are among the first i and the other n − m
/// behind the first j: C(n, m) · (i/n)^m · (1 − j/n)^(n − m).
fn exact_between(sorted: &[f64], place: Place) -> Vec<(f64, f64)> {
    let (n, m) = (sorted.len(), place.below + 1);
    let power = |numerator: usize, times: usize| (numerator as f64 / n as f64).powi(times as i32);
    let ways = (1..=m).fold(1.0, |ways, k| ways * (n - m + k) as f64 / k as f64);
    let mut points = Vec::new();
    let mut before = 0.0;
    for j in 1..=n {
        let behind = power(n - (j - 1), n - m) - power(n - j, n - m);
        let mut apart = 0.0;
        for i in 1..j {
            let probability = ways * (power(i, m) - power(i - 1, m)) * behind;
            apart += probability;
            if probability > NEGLIGIBLE {
                points.push((place.between(sorted[i - 1], sorted[j - 1]), probability));
            }
        }
        // The (m+1)-th draw falls on the j-th value; what is not apart from the m-th draw is with it.
        let at_most = binomial_tail(n, j as f64 / n as f64, m + 1);
        points.push((sorted[j - 1], (at_most - before - apart).max(0.0)));
        before = at_most;
    }
    points
}

/// The probability of at least `least` successes in `n` draws of probability `p`; n ≤ [`EXACT_UP_TO`], so
/// that no product leaves the range of a double.
fn binomial_tail(n: usize, p: f64, least: usize) -> f64 {
    let mut ways = 1.0;
    let mut tail = 0.0;
    for k in 0..=n {
        if k > 0 {
            ways *= (n - k + 1) as f64 / k as f64;
        }
        if k >= least {
            tail += ways * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32);
        }
    }
    tail
}

/// Draws [`RESAMPLES`] samples. Drawing positions in the ordered values and counting them finds the quantile
/// of a resample without sorting it.
fn resampled(sorted: &[f64], place: Place, seed: u64) -> Vec<(f64, f64)> {
    let n = sorted.len();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut counts = vec![0usize; n];
    (0..RESAMPLES)
        .map(|_| {
            counts.fill(0);
            for _ in 0..n {
                counts[random.random_range(0..n)] += 1;
            }
            let (lower, upper) = (nth_drawn(&counts, place.below), nth_drawn(&counts, place.above));
            (place.between(sorted[lower], sorted[upper]), 1.0 / RESAMPLES as f64)
        })
        .collect()
}

/// The position that holds the draw of this index (from 0) once the draws are in order.
fn nth_drawn(counts: &[usize], index: usize) -> usize {
    let mut seen = 0;
    for (position, count) in counts.iter().enumerate() {
        seen += count;
        if seen > index {
            return position;
        }
    }
    counts.len() - 1
}
