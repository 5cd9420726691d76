//! Order statistics of one sample: minimum, median, quantiles, spread.

/// Summary statistics of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    pub n: usize,
    pub min: f64,
    pub median: f64,
    /// The median absolute deviation from the median (not scaled to a standard deviation).
    pub mad: f64,
}

/// Count, minimum, median and median absolute deviation; `None` without values or with one that is not
/// finite.
pub fn summary(xs: &[f64]) -> Option<Summary> {
    let sorted = sorted(xs)?;
    let median = median_of_sorted(&sorted);
    let deviations: Vec<f64> = sorted.iter().map(|x| (x - median).abs()).collect();
    Some(Summary { n: sorted.len(), min: sorted[0], median, mad: self::median(&deviations)? })
}

/// The median; of an even number of values, the mean of the two in the middle. `None` without values or
/// with one that is not finite.
pub fn median(xs: &[f64]) -> Option<f64> {
    sorted(xs).map(|s| median_of_sorted(&s))
}

/// The quantile at `p` (0 to 1, clamped), interpolated linearly: definition 7 of Hyndman & Fan, "Sample
/// quantiles in statistical packages", The American Statistician 50 (1996). `None` without values or with
/// one that is not finite.
pub fn quantile(xs: &[f64], p: f64) -> Option<f64> {
    let sorted = sorted(xs)?;
    Some(QuantilePosition::of(sorted.len(), p).in_sorted(&sorted))
}

/// The values in ascending order; none without values, or if one is not finite.
pub(crate) fn sorted(xs: &[f64]) -> Option<Vec<f64>> {
    if xs.is_empty() || xs.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mut sorted = xs.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(sorted)
}

/// The median of values in ascending order; there must be at least one.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let upper = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[upper] } else { midpoint(sorted[upper - 1], sorted[upper]) }
}

/// The position of a quantile among values in ascending order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuantilePosition {
    /// The index of the value below, from 0.
    pub below: usize,
    /// The index of the value above; the same if the quantile is a value itself.
    pub above: usize,
    /// The position between the two, 0 to 1.
    pub part: f64,
}

impl QuantilePosition {
    /// The position of the quantile at `p` (0 to 1, clamped) of `n` values, at least one.
    pub fn of(n: usize, p: f64) -> QuantilePosition {
        let at = p.clamp(0.0, 1.0) * (n - 1) as f64;
        QuantilePosition { below: at.floor() as usize, above: at.ceil() as usize, part: at.fract() }
    }

    /// The quantile of values in ascending order.
    pub fn in_sorted(self, sorted: &[f64]) -> f64 {
        self.between(sorted[self.below], sorted[self.above])
    }

    /// The quantile from the values below and above.
    pub fn between(self, below: f64, above: f64) -> f64 {
        if self.part == 0.5 {
            return midpoint(below, above);
        }
        (below + (above - below) * self.part).clamp(below, above)
    }
}

/// Halfway between two values, without overflow, and never outside them.
pub(crate) fn midpoint(a: f64, b: f64) -> f64 {
    (a / 2.0 + b / 2.0).clamp(a.min(b), a.max(b))
}
