//! How far apart two configurations are that were measured in the same rounds, by two figures that neighbours on the machine
//! change at different times.
//!
//! Neighbours only add time. So the least rounds of two configurations differ as their costs do, unless one of them was
//! disturbed in all its rounds; and so do their levels by the [`Density`] of the run's noise, unless their rounds are too few
//! to tell its modes apart. The **shift** is the smaller of the two where both have one sign, and none where they do not.

use crate::density::Density;
use crate::summary::median_of_sorted;

/// The amounts of one configuration as logarithms, in the order of rounds and ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    /// In the order of rounds.
    pub by_round: Vec<f64>,
    /// Ascending.
    pub sorted: Vec<f64>,
    /// The width of the narrowest interval that holds half of them: that of one mode, where there are two.
    pub spread: f64,
}

/// The two figures of a difference, as logarithms of first ÷ second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Contrast {
    /// The difference of the least rounds; for rates and wall times, whose figures are medians, the median difference
    /// within rounds.
    pub figure: f64,
    /// The difference of the levels.
    pub level: f64,
}

impl Sample {
    /// Of at least one finite logarithm.
    pub fn of(by_round: Vec<f64>) -> Sample {
        let mut sorted = by_round.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let half = sorted.windows(sorted.len().div_ceil(2)).map(|part| part[part.len() - 1] - part[0]);
        let spread = half.fold(f64::INFINITY, f64::min);
        Sample { by_round, sorted, spread }
    }

    /// The difference of the figures, see [`Contrast::figure`].
    pub fn figure(&self, other: &Sample, is_median: bool) -> f64 {
        if !is_median {
            return self.sorted[0] - other.sorted[0];
        }
        let mut differences: Vec<f64> =
            self.by_round.iter().zip(&other.by_round).map(|(a, b)| a - b).collect();
        differences.sort_unstable_by(f64::total_cmp);
        median_of_sorted(&differences)
    }
}

impl Contrast {
    /// The smaller of the two figures in absolute value; 0 if they differ in sign.
    pub fn shift(&self) -> f64 {
        match self.figure * self.level > 0.0 {
            true if self.figure.abs() < self.level.abs() => self.figure,
            true => self.level,
            false => 0.0,
        }
    }
}

/// The density of the noise of some configurations, each with the scale of its own noise, and their levels. From the widest
/// on, which show most of its modes, each is laid on those before; then each on all of them.
pub(crate) fn aligned(samples: &[Sample], scales: &[f64]) -> (Density, Vec<f64>) {
    let mut levels: Vec<f64> = samples.iter().map(|sample| median_of_sorted(&sample.sorted)).collect();
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by(|a, b| samples[*b].spread.total_cmp(&samples[*a].spread));
    let rests = |rows: &[usize], levels: &[f64]| -> Vec<f64> {
        let of = |row: &usize| {
            let (level, scale) = (levels[*row], scales[*row]);
            samples[*row].sorted.iter().map(move |log| (log - level) / scale)
        };
        rows.iter().flat_map(of).collect()
    };
    for at in 1..order.len() {
        let density = Density::of(&rests(&order[..at], &levels));
        levels[order[at]] = density.level(&samples[order[at]].sorted, scales[order[at]]);
    }
    let mut density = Density::of(&rests(&order, &levels));
    for _ in 0..2 {
        for row in &order {
            levels[*row] = density.level(&samples[*row].sorted, scales[*row]);
        }
        density = Density::of(&rests(&order, &levels));
    }
    (density, levels)
}
