//! Confidence intervals of a quantile of one sample, from its order statistics.
//!
//! The number of n values below a quantile at p is binomial, whatever their distribution. So two order statistics make
//! an interval with known coverage (Thompson, "On confidence ranges for the median and other expectation
//! distributions", Annals of Mathematical Statistics 7 (1936)). A low quantile of few values has no such lower end: all
//! values may lie above it.

use crate::summary::{QuantilePosition, sorted};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// With fewer values, a low quantile has only an upper end. If four visits in five are disturbed, all of 13 are with a
/// probability of 0.055.
pub const TWO_SIDED_FROM: usize = 14;

/// The interval of the median at `confidence` (0.95). For five values it is their range, which contains the median with
/// a probability of 0.94.
///
/// `None` with fewer than five values, whose range would contain it less often, or with a value that is not finite.
pub fn median_interval(xs: &[f64], confidence: f64) -> Option<Interval> {
    let sorted = sorted(xs).filter(|sorted| sorted.len() >= 5)?;
    let (n, tail) = (sorted.len(), (1.0 - confidence) / 2.0);
    // The largest number of values to leave out at each end so that the coverage is still as requested.
    let is_out = |(out, share): &(usize, f64)| *out == 0 || *share <= tail;
    let (out, _) = at_most(n, 0.5).take(n / 2).enumerate().take_while(is_out).last()?;
    Some(Interval { low: sorted[out], high: sorted[n - 1 - out] })
}

/// The upper end of a low quantile (`p` from 0 to 0.5) and, from [`TWO_SIDED_FROM`] values on, its lower end, at
/// `confidence` (0.95). With two ends, both together have this coverage; with one, the upper end alone.
///
/// From about 34 values on (for p = 0.1) the lower end is one of them. With fewer, the smallest value may lie above the
/// quantile. The end is then below the smallest value by a part of its distance to the fourth; simulation gave the size
/// of this part, see docs/dev/SIMULATIONS.md.
///
/// `None` with fewer than two values, or with a value that is not finite.
pub fn low_quantile_interval(xs: &[f64], p: f64, confidence: f64) -> Option<(Option<f64>, f64)> {
    let sorted = sorted(xs).filter(|sorted| sorted.len() >= 2)?;
    let n = sorted.len();
    let tail = if n < TWO_SIDED_FROM { 1.0 - confidence } else { (1.0 - confidence) / 2.0 };
    let above = at_most(n, p).take(n).position(|share| share >= 1.0 - tail).unwrap_or(n - 1);
    let below = at_most(n, p).take(n).take_while(|share| *share <= tail).count().checked_sub(1);
    let low = match (below, n) {
        (Some(below), _) => Some(sorted[below]),
        (None, ..TWO_SIDED_FROM) => None,
        (None, ..20) => Some(sorted[0] - (sorted[3] - sorted[0])),
        (None, _) => Some(sorted[0] - (sorted[3] - sorted[0]) / 2.0),
    };
    let value = QuantilePosition::of(n, p).in_sorted(&sorted);
    Some((low.map(|low| low.max(sorted[0].min(0.0)).min(value)), sorted[above].max(value)))
}

/// The probabilities that at most 0, 1, 2, … of `n` values are below a quantile at `p`. In logarithms: of many values, that none is below is less likely
/// than the least number.
fn at_most(n: usize, p: f64) -> impl Iterator<Item = f64> {
    let (mut term, mut sum) = (n as f64 * (1.0 - p).ln(), 0.0);
    (0..=n).map(move |k| {
        sum += term.exp();
        term += ((n - k) as f64 / (k + 1) as f64 * p / (1.0 - p)).ln();
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_values_in_order() {
        let xs: Vec<f64> = (1..=40).map(f64::from).collect();
        // Tables for the median: n = 8 leaves out none, 9 one, 12 two, 20 five, 40 thirteen at each end.
        for (n, out) in [(5, 0), (8, 0), (9, 1), (12, 2), (20, 5), (40, 13)] {
            let interval = median_interval(&xs[..n], 0.95).unwrap();
            assert_eq!((interval.low, interval.high), (xs[out], xs[n - 1 - out]), "{n}");
        }
        assert!(median_interval(&xs[..4], 0.95).is_none());
        // Of many values the ends are as far from the quantile as 1.96 standard deviations of a binomial: 10,000 ± 186 of 100,000.
        let many: Vec<f64> = (1..=100_000).map(f64::from).collect();
        let (low, high) = low_quantile_interval(&many, 0.1, 0.95).unwrap();
        assert!((low.unwrap() - 9_814.0).abs() < 10.0 && (high - 10_186.0).abs() < 10.0, "{low:?} to {high}");
        // 0.9^5 + 5 · 0.1 · 0.9^4 = 0.919, with two below 0.991: the third value is the upper end.
        assert_eq!(low_quantile_interval(&xs[..5], 0.1, 0.95), Some((None, 3.0)));
        assert_eq!(low_quantile_interval(&xs[..14], 0.1, 0.95), Some((Some(0.0), 5.0)));
        assert_eq!(low_quantile_interval(&xs, 0.1, 0.95).unwrap().0, Some(1.0));
        assert!(low_quantile_interval(&xs[..1], 0.1, 0.95).is_none());
        assert!(low_quantile_interval(&[1.0, f64::NAN], 0.1, 0.95).is_none());
    }
}
