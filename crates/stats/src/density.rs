//! The density of a run's noise, and by it the level of a configuration: where its rounds are most likely.
//!
//! A kernel estimate on a grid, as logarithms. Two rows that neighbours disturbed at other times have the same two modes: a
//! level by the whole density is right even where a mean, a median or the most frequent value lies in the other mode.

use serde::Serialize;

use crate::summary::sorted;

/// The share of the values in the narrowest interval, whose width is the bandwidth.
const NARROWEST: f64 = 0.2;

/// The share of values that are expected anywhere.
const ANYWHERE: f64 = 0.01;

/// The most steps of a grid.
const STEPS: f64 = 512.0;

const PEAKS: usize = 4;

const FINE: f64 = 2.0;

/// The logarithm of a density on an even grid; elsewhere it is the least one.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
pub struct Density {
    /// Where the grid begins.
    pub from: f64,
    /// Its step; 0 without values that differ.
    pub step: f64,
    /// The logarithms, rounded.
    pub logs: Vec<f64>,
    /// The highest places, from which a level is looked for.
    pub peaks: Vec<f64>,
}

impl Density {
    pub(crate) fn of(values: &[f64]) -> Density {
        let values = sorted(values).unwrap_or_default();
        let many = ((values.len() as f64 * NARROWEST).ceil() as usize).max(3).min(values.len());
        let narrowest = values.windows(many.max(1)).map(|part| part[part.len() - 1] - part[0]);
        let (Some(first), Some(last)) = (values.first(), values.last()) else { return Density::default() };
        let range = last - first;
        let width = narrowest.fold(f64::INFINITY, f64::min).max(range * FINE / STEPS);
        if range == 0.0 || !width.is_finite() {
            return Density { from: *first, ..Density::default() };
        }
        let step = width / FINE;
        let from = first - 2.0 * width;
        let count = ((range + 4.0 * width) / step).ceil() as usize + 1;
        let mut counts = vec![0.0; count];
        values.iter().for_each(|value| counts[((value - from) / step).round() as usize] += 1.0);
        // A triangle that reaches twice the bandwidth.
        let reach = (2.0 * FINE) as usize;
        let weight = |off: usize| (1.0 - off as f64 / (reach + 1) as f64) / (reach + 1) as f64;
        let smooth = |at: usize| -> f64 {
            let near = at.saturating_sub(reach)..(at + reach + 1).min(count);
            near.map(|other| counts[other] * weight(at.abs_diff(other))).sum()
        };
        let all = values.len() as f64;
        let log = |at: usize| (smooth(at) / all + ANYWHERE / count as f64).ln();
        let logs: Vec<f64> = (0..count).map(|at| (log(at) * 1e4).round() / 1e4).collect();
        let is_peak = |at: &usize| logs[*at] > logs[at - 1] && logs[*at] >= logs[at + 1];
        let mut peaks: Vec<usize> = (1..count - 1).filter(is_peak).collect();
        peaks.sort_by(|a, b| logs[*b].total_cmp(&logs[*a]));
        let peaks = peaks.into_iter().take(PEAKS).map(|at| from + step * at as f64).collect();
        Density { from, step, logs, peaks }
    }

    fn at(&self, x: f64) -> f64 {
        let place = (x - self.from) / self.step;
        let below = place.floor();
        let least = self.logs[0];
        if !(0.0..(self.logs.len() - 1) as f64).contains(&place) {
            return least;
        }
        let (low, high) = (self.logs[below as usize], self.logs[below as usize + 1]);
        low + (high - low) * (place - below)
    }

    /// The level of rounds in ascending order, whose noise is `scale` times as wide.
    pub(crate) fn level(&self, sorted: &[f64], scale: f64) -> f64 {
        if self.logs.is_empty() {
            return sorted[0] - self.from * scale;
        }
        let likelihood = |level: f64| sorted.iter().map(|x| self.at((x - level) / scale)).sum::<f64>();
        let mut best = (f64::NEG_INFINITY, sorted[0]);
        let look = |level: f64, best: &mut (f64, f64)| {
            let own = likelihood(level);
            let is_better = own > best.0;
            if is_better {
                *best = (own, level);
            }
            is_better
        };
        for x in sorted {
            for peak in &self.peaks {
                look(x - peak * scale, &mut best);
            }
        }
        // Uphill from there, first in steps of the grid.
        for part in [1.0, 0.25, 0.0625] {
            let step = self.step * scale * part;
            while look(best.1 + step, &mut best) || look(best.1 - step, &mut best) {}
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_in_one_of_two_modes_has_its_level_in_the_likelier_one() {
        let noise: Vec<f64> =
            (0..200).map(|at| if at % 5 == 0 { 0.0 } else { 0.3 } + 1e-4 * f64::from(at % 97)).collect();
        let density = Density::of(&noise);
        let of = |rows: &[f64]| density.level(rows, 1.0);
        assert!(of(&[0.301, 0.302, 0.304, 0.306, 0.308]).abs() < 0.01, "all slow");
        assert!((of(&[1.0, 1.001, 1.002, 1.303, 1.304]) - 1.0).abs() < 0.01, "most of them quick");
        // Noise that is half as wide in all.
        assert!((density.level(&[5.001, 5.002, 5.151, 5.153], 0.5) - 5.0).abs() < 0.01);
    }

    #[test]
    fn values_that_do_not_differ_are_a_level() {
        assert_eq!(Density::of(&[0.5; 9]).level(&[2.0; 5], 1.0), 1.5);
        assert!(Density::of(&[]).logs.is_empty());
    }
}
