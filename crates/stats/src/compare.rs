//! Intervals of one sample's quantile, and ratios formed inside rounds.

use crate::bootstrap::QuantileDistribution;
use crate::summary::sorted;

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Half of the width ÷ `center`: how exactly the center is known. Infinite when the center is 0 and the
    /// interval has a width.
    pub fn half_width_relative(&self, center: f64) -> f64 {
        let half = (self.high - self.low) / 2.0;
        if half == 0.0 { 0.0 } else { half / center.abs() }
    }

    /// Whether the two have a value in common.
    pub fn overlaps(&self, other: &Interval) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// The bootstrap percentile interval of the median at `confidence` (0.95), see [`QuantileDistribution`].
///
/// `None` with fewer than two values, for one value says nothing of how it would repeat, or with one that is
/// not finite. Up to five values the 95% interval is their range; the range of n values holds the true median with
/// probability 1 − 2^(1−n) only, so two to four values do not make 95%.
pub fn median_interval(xs: &[f64], confidence: f64, seed: u64) -> Option<Interval> {
    if xs.len() < 2 {
        return None;
    }
    let (low, high) = QuantileDistribution::of(xs, 0.5, seed)?.interval(confidence);
    Some(Interval { low, high })
}

/// The bootstrap percentile interval of a low quantile (`p` from 0 to 0.5) at `confidence` (0.95), see
/// [`QuantileDistribution`], with its low end put down by [`reach`].
///
/// `None` with fewer than two values, or with one that is not finite.
pub fn quantile_interval(xs: &[f64], p: f64, confidence: f64, seed: u64) -> Option<Interval> {
    if xs.len() < 2 {
        return None;
    }
    let p = p.clamp(0.0, 0.5);
    let (low, high) = QuantileDistribution::of(xs, p, seed)?.interval(confidence);
    Some(Interval { low: low - reach(xs, p, confidence), high })
}

/// How far below the values at hand a low quantile may lie.
///
/// A resample never holds less than the smallest value, while all n values lie above the quantile at `p` with
/// probability (1 − p)^n: 0.59 for five values and p = 0.1. As long as that is more than the interval may leave out
/// below, its low end is put down by the distance between the two smallest values, for an end of a distribution is at
/// most that far off in half of all samples (Robson & Whitlock, "Estimation of a truncation point", Biometrika 51
/// (1964)); by half of the smallest value at most, so that positive values keep a positive end.
///
/// 0 with fewer than two values, or with one that is not finite.
pub fn reach(xs: &[f64], p: f64, confidence: f64) -> f64 {
    let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
    match sorted(xs).as_deref() {
        Some([first, second, ..]) if (1.0 - p).powf(xs.len() as f64) > tail => {
            (second - first).min(first.abs() / 2.0)
        }
        _ => 0.0,
    }
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The ratio first ÷ second of pairs measured in the same round: the ratio is formed inside each round, so
/// that what slows a whole round cancels, and summarised by its median and bootstrap interval.
///
/// Pairs that are not positive and finite have no ratio and are left out; `None` with fewer than two others.
pub fn paired_ratio(pairs: &[(f64, f64)], confidence: f64, seed: u64) -> Option<Ratio> {
    let ratios: Vec<f64> = pairs
        .iter()
        .filter(|(a, b)| *a > 0.0 && *b > 0.0)
        .map(|(a, b)| a / b)
        .filter(|ratio| ratio.is_finite())
        .collect();
    if ratios.len() < 2 {
        return None;
    }
    let distribution = QuantileDistribution::of(&ratios, 0.5, seed)?;
    let (low, high) = distribution.interval(confidence);
    Some(Ratio { value: distribution.value(), low, high })
}
