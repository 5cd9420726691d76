//! The ratio of two sums whose terms were measured in rounds, on a sample that stands for more than was measured.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::drawings::DRAWINGS;
use crate::summary::quantile;

/// The probability beyond each end of an interval at 95%.
const TAIL: f64 = 0.025;

/// What adds to one of both sums, or to both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Term {
    /// What it adds to the first sum.
    pub first: f64,
    /// What it adds to the second.
    pub second: f64,
    /// The measured figure that both are in proportion to, by its number; none: they are known exactly.
    pub figure: Option<usize>,
    /// The stratum that it stands for, by its number; none: it stands for itself.
    pub stratum: Option<usize>,
}

/// Standard deviations of logarithms: how far a stratum may be from what was measured of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StratumError {
    /// Of first ÷ second.
    pub ratio: f64,
    pub size: f64,
}

/// The 95% interval of first sum ÷ second sum. `figures` has the factors of the true figures to the measured ones, as
/// [`crate::drawn_figures`] gives them; a figure in both sums cancels as far as it does in the ratio. `None` if the second sum is
/// not above zero.
pub fn ratio_of_sums(
    terms: &[Term],
    figures: &[Vec<f64>],
    strata: &[StratumError],
    seed: u64,
) -> Option<(f64, f64)> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let ratio = |drawing: usize| {
        let off = |error: &StratumError| {
            let (ratio, size) = normal_pair(&mut random);
            ((error.ratio * ratio).exp(), (error.size * size).exp())
        };
        let strata: Vec<(f64, f64)> = strata.iter().map(off).collect();
        let (mut first, mut second) = (0.0, 0.0);
        for term in terms {
            let figure = term.figure.map_or(1.0, |at| figures[at][drawing]);
            let (ratio, size) = term.stratum.map_or((1.0, 1.0), |at| strata[at]);
            first += term.first * figure * size * ratio;
            second += term.second * figure * size;
        }
        first / second
    };
    let ratios: Vec<f64> = (0..DRAWINGS).map(ratio).collect();
    Some((quantile(&ratios, TAIL)?, quantile(&ratios, 1.0 - TAIL)?))
}

/// Two independent values of the standard normal distribution: G. E. P. Box and M. E. Muller, Annals of Mathematical Statistics 29 (1958).
fn normal_pair(random: &mut ChaCha8Rng) -> (f64, f64) {
    let (radius, turn): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    let length = (-2.0 * radius.ln()).sqrt();
    let angle = std::f64::consts::TAU * turn;
    (length * angle.cos(), length * angle.sin())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawings::drawn_figures;
    use crate::summary::quantile;

    /// Rounds of a figure: neighbours only add, in the kinds of noise that machines have.
    fn rounds(level: f64, count: u32, kind: usize, random: &mut ChaCha8Rng) -> Vec<(u32, f64)> {
        let mut one = |round| {
            let noise = match kind {
                0 => 0.02 * normal_pair(random).0,
                1 => -0.15 * (1.0 - random.random::<f64>()).ln(),
                _ => 0.02 * normal_pair(random).0 + if random.random_bool(0.5) { 0.3 } else { 0.0 },
            };
            (round, level * noise.exp())
        };
        (1..=count).map(&mut one).collect()
    }

    #[test]
    fn the_true_ratio_lies_in_the_interval_also_where_some_have_a_single_round() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        for kind in 0..3 {
            let (mut inside, mut widths, times) = (0, 0.0, 300);
            for seed in 0..times {
                let count = |at: usize| if at.is_multiple_of(5) { 1 } else { 6 };
                let levels: Vec<f64> = (0..16).map(|_| random.random_range(1.0..10.0)).collect();
                let units: Vec<_> = levels
                    .iter()
                    .enumerate()
                    .map(|(at, level)| rounds(*level, count(at), kind, &mut random))
                    .collect();
                let value = |at: usize| {
                    let amounts: Vec<f64> = units[at].iter().map(|round| round.1).collect();
                    quantile(&amounts, 0.1).unwrap()
                };
                let term = |at: usize| {
                    let of = |is_first| if is_first { value(at) } else { 0.0 };
                    Term {
                        first: of(at.is_multiple_of(2)),
                        second: of(!at.is_multiple_of(2)),
                        figure: Some(at),
                        stratum: None,
                    }
                };
                let terms: Vec<Term> = (0..16).map(term).collect();
                let sum = |odd: usize| levels.iter().skip(odd).step_by(2).sum::<f64>();
                let figures = drawn_figures(&units, 0.1, seed);
                let (low, high) = ratio_of_sums(&terms, &figures, &[], seed).unwrap();
                let truth = sum(0) / sum(1);
                inside += usize::from(low <= truth && truth <= high);
                widths += (high - low) / truth / times as f64;
            }
            // 0.95, less two standard errors of 300 drawings.
            assert!(inside as f64 >= 0.925 * times as f64, "kind {kind}: {inside} of {times}");
            assert!(widths < 0.35, "kind {kind}: {widths}");
        }
    }

    #[test]
    fn what_is_in_both_sums_cancels_and_a_sample_widens() {
        let figures = vec![(0..DRAWINGS).map(|at| 1.0 + 0.001 * at as f64).collect::<Vec<_>>()];
        let same = Term { first: 3.0, second: 3.0, figure: Some(0), stratum: Some(0) };
        let (low, high) = ratio_of_sums(&[same], &figures, &[StratumError::default()], 1).unwrap();
        assert!((low - 1.0).abs() < 1e-12 && (high - 1.0).abs() < 1e-12);
        let sample = StratumError { ratio: 0.1, size: 0.0 };
        let (low, high) = ratio_of_sums(&[same], &figures, &[sample], 1).unwrap();
        assert!((low.ln() + 0.196).abs() < 0.03 && (high.ln() - 0.196).abs() < 0.03, "{low} {high}");
        assert_eq!(ratio_of_sums(&[Term::default()], &figures, &[], 1), None);
    }
}
