//! Intervals of medians, and ratios between two things measured in the same rounds.

use crate::bootstrap::MedianDistribution;

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

/// The bootstrap percentile interval of the median at `confidence` (0.95), see [`MedianDistribution`].
///
/// `None` with fewer than two values, for one value says nothing of how it would repeat, or with one that is
/// not finite. Up to five values the 95% interval is their range; the range of n values holds the true median with
/// probability 1 − 2^(1−n) only, so two to four values do not make 95%.
pub fn median_interval(xs: &[f64], confidence: f64, seed: u64) -> Option<Interval> {
    if xs.len() < 2 {
        return None;
    }
    let (low, high) = MedianDistribution::of(xs, seed)?.interval(confidence);
    Some(Interval { low, high })
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Median of the ratios.
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
    let distribution = MedianDistribution::of(&ratios, seed)?;
    let (low, high) = distribution.interval(confidence);
    Some(Ratio { value: distribution.median(), low, high })
}
