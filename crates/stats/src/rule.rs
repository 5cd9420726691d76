//! The rule for a significant difference: a moderated t test over rounds, corrected for all comparisons, whose
//! direction must agree with the figures.

use crate::moderated::{LogRatio, Shrinkage};
use crate::multiple::{benjamini_hochberg_cutoff, holm_cutoff};

/// The significance level of claims. With it, the probability of one or more wrong claims in a run is at most 0.05 in
/// simulation: variances do not quite follow the model of the moderated t, see docs/dev/SIMULATIONS.md.
pub const FAMILY_WISE: f64 = 0.02;

/// The level of differences that tables mark. With it, on average at most a share of 0.05 of them is wrong in
/// simulation.
pub const FALSE_DISCOVERIES: f64 = 0.03;

/// Confidence of intervals without correction.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The least number of common rounds for a significant difference. With three, too many cells have a small spread by
/// chance: simulated families of 99 comparisons without differences claimed one in up to 0.26 of all runs.
pub const ROUNDS: usize = 5;

/// How far the figures must differ, as a share of the mean difference over rounds (both as logarithms). The mean also
/// changes if neighbours disturb one configuration more often than the other; the figures, which are low quantiles, do
/// not.
const PART: f64 = 0.5;

/// First ÷ second, with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio of the figures.
    pub value: f64,
    /// Lower end of its interval; the interval excludes 1 exactly if [`Ratio::is_listed`].
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The ends of its interval at 95% confidence without correction, for a decision on this ratio alone.
    pub alone: (f64, f64),
    /// The probability of rounds that differ at least as much, if there were no difference; 1 without a test, or if the
    /// figures do not agree with it.
    pub p: f64,
    /// Rounds that both have in common.
    pub rounds: usize,
    /// They differ at the level for tables, `FALSE_DISCOVERIES`.
    pub is_listed: bool,
    /// They differ at the level for recommendations, see [`FAMILY_WISE`].
    pub is_claimed: bool,
}

/// The test for comparisons of one quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The common variance; none if no comparison has a spread, or for a single comparison.
    pub shrinkage: Option<Shrinkage>,
    /// The largest p value of a difference that tables mark.
    pub listed: f64,
    /// The largest p value of a difference that is claimed.
    pub claimed: f64,
    /// The number of comparisons that it is corrected for.
    pub comparisons: usize,
}

impl Rule {
    /// The test for a single comparison.
    pub const ALONE: Rule =
        Rule { shrinkage: None, listed: FALSE_DISCOVERIES, claimed: FAMILY_WISE, comparisons: 1 };

    /// One rule for each quantity, from all its comparisons. The correction covers all quantities together; variances
    /// are shrunk to those of the same quantity. Comparisons with fewer than [`ROUNDS`] rounds are never claimed and do
    /// not count. `error` is the probability of a wrong claim ([`FAMILY_WISE`]; less if a run is tested repeatedly).
    pub fn family(quantities: &[Vec<LogRatio>], error: f64) -> Vec<Rule> {
        let tested: Vec<Vec<&LogRatio>> =
            quantities.iter().map(|q| q.iter().filter(|c| c.rounds >= ROUNDS).collect()).collect();
        let shrinkages: Vec<Option<Shrinkage>> =
            tested.iter().map(|q| Shrinkage::of(&q.iter().map(|c| **c).collect::<Vec<_>>())).collect();
        let with = tested.iter().zip(&shrinkages);
        let ps: Vec<f64> = with
            .flat_map(|(q, shrinkage)| q.iter().map(|c| p_value(shrinkage.as_ref(), c, c.mean.exp())))
            .collect();
        let (claimed, listed) = (holm_cutoff(&ps, error), benjamini_hochberg_cutoff(&ps, FALSE_DISCOVERIES));
        let rule = |shrinkage| Rule { shrinkage, listed, claimed, comparisons: ps.len() };
        shrinkages.into_iter().map(rule).collect()
    }

    /// Compares pairs of one quantity, measured in the same rounds; `value` is the ratio of the figures. `None` with
    /// fewer than two pairs that have logarithms, or if `value` has none.
    pub fn compare(&self, pairs: impl IntoIterator<Item = (f64, f64)>, value: f64) -> Option<Ratio> {
        self.compare_log(&LogRatio::of(pairs)?, value, 1.0)
    }

    /// A single comparison has only its own variance.
    fn shrunk(&self, log: &LogRatio, part: f64) -> Option<Shrinkage> {
        self.shrinkage.map(|s| s.scaled(part * part)).or_else(|| Shrinkage::of(&[*log]))
    }

    /// Like [`Rule::compare`], from the moments. `part` is the share of the amounts that varies: 1, or less if
    /// something known exactly was added to both.
    pub fn compare_log(&self, log: &LogRatio, value: f64, part: f64) -> Option<Ratio> {
        if !value.ln().is_finite() {
            return None;
        }
        let shrinkage = self.shrunk(log, part);
        let p = p_value(shrinkage.as_ref(), log, value);
        let is_listed = p <= self.listed;
        let (mut low, mut high) =
            shrinkage.map_or((value, value), |s| s.interval(log, 1.0 - self.listed.min(FALSE_DISCOVERIES)));
        (low, high) = (low.min(value), high.max(value));
        if !is_listed {
            (low, high) = (low.min(1.0), high.max(1.0));
        }
        let is_claimed = p <= self.claimed;
        let alone = shrinkage.map_or((value, value), |s| s.interval(log, CONFIDENCE));
        let alone = (alone.0.min(value), alone.1.max(value));
        Some(Ratio { value, low, high, alone, p, rounds: log.rounds, is_listed, is_claimed })
    }
}

/// 1 with too few rounds, or if the figures, whose ratio is `value`, do not agree. If no comparison has a spread, any
/// difference in all rounds is significant.
fn p_value(shrinkage: Option<&Shrinkage>, of: &LogRatio, value: f64) -> f64 {
    let figure = value.ln();
    let agrees = figure * of.mean >= 0.0 && figure.abs() >= PART * of.mean.abs();
    match shrinkage {
        _ if of.rounds < ROUNDS || !agrees => 1.0,
        Some(shrinkage) => shrinkage.p_value(of),
        None if of.mean == 0.0 => 1.0,
        None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(mean: f64, spread: f64, rounds: usize) -> LogRatio {
        LogRatio { mean, variance: spread * spread, rounds }
    }

    #[test]
    fn the_interval_leaves_out_one_exactly_when_a_table_says_so() {
        let many: Vec<LogRatio> = (0..200).map(|i| log(f64::from(i) * 0.0005, 0.02, 5)).collect();
        let rule = Rule::family(std::slice::from_ref(&many), FAMILY_WISE)[0];
        assert_eq!(rule.comparisons, 200);
        let told: Vec<Ratio> = many.iter().map(|l| rule.compare_log(l, l.mean.exp(), 1.0).unwrap()).collect();
        for ratio in &told {
            assert_eq!(ratio.is_listed, ratio.low > 1.0 || ratio.high < 1.0, "{ratio:?}");
            assert!(ratio.low <= ratio.value && ratio.value <= ratio.high);
            assert!(ratio.is_listed || !ratio.is_claimed, "{ratio:?}");
        }
        let (listed, claimed) =
            (told.iter().filter(|r| r.is_listed).count(), told.iter().filter(|r| r.is_claimed).count());
        assert!(0 < claimed && claimed < listed && listed < 200, "{claimed} {listed}");
    }

    #[test]
    fn what_the_figures_do_not_show_is_not_told() {
        let far = log(0.3, 0.01, 6);
        let told = |value: f64| Rule::ALONE.compare_log(&far, value, 1.0).unwrap();
        assert!(told(1.3).is_claimed && told(1.2).is_claimed);
        for value in [1.1, 1.0, 0.8] {
            assert!(!told(value).is_listed && told(value).low <= 1.0, "{value}");
        }
        assert!(Rule::ALONE.compare_log(&far, f64::NAN, 1.0).is_none());
    }

    #[test]
    fn four_rounds_are_never_enough() {
        assert!(!Rule::ALONE.compare_log(&log(2.0, 0.001, 4), 7.4, 1.0).unwrap().is_listed);
        assert!(Rule::family(&[vec![log(2.0, 0.001, 4)]], FAMILY_WISE)[0].comparisons == 0);
    }

    #[test]
    fn what_never_varies_differs_where_it_differs() {
        let told = |a: f64| Rule::ALONE.compare([(a, 2.0); 5], a / 2.0).unwrap();
        assert!(told(3.0).is_claimed && !told(2.0).is_listed);
        assert_eq!((told(3.0).low, told(3.0).high), (1.5, 1.5));
    }
}
