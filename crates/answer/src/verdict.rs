//! Decides whether two configurations differ. Only this module does: fronts, sentences, crossovers and tables use it.
//!
//! Every comparison of a run is decided by the noise of its metric, [`weigh_stats::Noise`], at one level for sentences and
//! tables: see `derive::judge`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_stats::{
    Apart, Between, FAMILY_WISE, Interval, LogRatio, Noise, ROUNDS, Rule, TABLES, compare_apart,
    compare_machines, median, quantile,
};

use crate::estimate::{Estimate, MEDIAN, common};

/// A ratio with its interval, which excludes 1 exactly if the two differ significantly. It is wider than 95% if the run
/// has many comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Rounds that both have in common.
    pub rounds: u32,
    /// The probability of a difference at least as large in any comparison of the run, if there were none; 1 with fewer
    /// than five rounds. Between two runs, that of this comparison alone.
    pub p: f64,
    /// They differ significantly: a sentence may say so. Between two runs, tables mark more.
    pub claimed: bool,
}

/// How sure a comparison or a choice is. Readers see the same three words everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Fewer rounds than the rule needs: no order is claimed, and no equality.
    TooFewRounds,
    /// Enough rounds, and no significant difference.
    Tied,
    /// The difference is significant.
    Settled,
}

impl Confidence {
    pub fn name(self) -> &'static str {
        match self {
            Confidence::TooFewRounds => "too few rounds",
            Confidence::Tied => "tied",
            Confidence::Settled => "settled",
        }
    }
}

impl Ratio {
    /// How sure it is that the two differ.
    pub fn confidence(&self) -> Confidence {
        match (self.rounds as usize) < ROUNDS {
            true => Confidence::TooFewRounds,
            false if self.holds_one() => Confidence::Tied,
            false => Confidence::Settled,
        }
    }

    /// Whether the interval contains 1.
    pub fn holds_one(&self) -> bool {
        self.low <= 1.0 && 1.0 <= self.high
    }

    /// Whether it differs from 1 significantly; between two runs, at the level for tables.
    pub fn is_settled(&self) -> bool {
        !self.holds_one()
    }
}

/// `a` ÷ `b`, from at least two rounds of each.
pub fn ratio(a: &Estimate, b: &Estimate) -> Option<Ratio> {
    ratio_of_totals((a, 0.0), (b, 0.0))
}

/// Like [`ratio`], if both are known.
pub fn ratio_if(a: Option<&Estimate>, b: Option<&Estimate>) -> Option<Ratio> {
    ratio(a?, b?)
}

/// Like [`ratio`], with an exactly known amount added to each.
pub fn ratio_of_totals(a: (&Estimate, f64), b: (&Estimate, f64)) -> Option<Ratio> {
    Compared::of(a, b)?.ratio().map(Ratio::from)
}

/// A ratio with its interval before correction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioWithUncorrected {
    /// The ratio.
    pub ratio: Ratio,
    /// Its 95% interval without correction.
    pub alone: Interval,
}

impl From<weigh_stats::Ratio> for RatioWithUncorrected {
    fn from(told: weigh_stats::Ratio) -> RatioWithUncorrected {
        let alone = Interval { low: told.alone.0, high: told.alone.1 };
        RatioWithUncorrected { ratio: Ratio::from(told), alone }
    }
}

impl From<weigh_stats::Ratio> for Ratio {
    fn from(told: weigh_stats::Ratio) -> Ratio {
        let weigh_stats::Ratio { value, low, high, p, rounds, is_claimed, .. } = told;
        Ratio { value, low, high, rounds: rounds as u32, p, claimed: is_claimed }
    }
}

/// The inputs of a comparison of two amounts.
struct Compared<'a> {
    /// The amounts in the rounds that both have.
    pairs: Vec<(f64, f64)>,
    /// The ratio of the figures.
    value: f64,
    /// The share of the amounts that varies.
    part: f64,
    is_median: bool,
    noise: Option<&'a Noise>,
}

impl<'a> Compared<'a> {
    fn of((a, more_a): (&'a Estimate, f64), (b, more_b): (&'a Estimate, f64)) -> Option<Compared<'a>> {
        let (x, y) = (a.drawn.as_ref()?, b.drawn.as_ref()?);
        let pairs: Vec<(f64, f64)> =
            common(&x.rounds, &y.rounds).map(|(_, a, b)| (a + more_a, b + more_b)).collect();
        let is_median = x.quantile >= MEDIAN;
        let value = if is_median {
            // What changes with a round changes in both.
            median(&pairs.iter().map(|(a, b)| a / b).collect::<Vec<_>>())?
        } else if x.rounds.len() == pairs.len() && y.rounds.len() == pairs.len() {
            (a.value + more_a) / (b.value + more_b)
        } else {
            let figure =
                |of: fn(&(f64, f64)) -> f64, q| quantile(&pairs.iter().map(of).collect::<Vec<_>>(), q);
            figure(|pair| pair.0, x.quantile)? / figure(|pair| pair.1, y.quantile)?
        };
        let part = (a.value + b.value) / (a.value + more_a + b.value + more_b);
        let noise = x.noise.as_deref().or(y.noise.as_deref());
        Some(Compared { pairs, value, part, is_median, noise })
    }

    /// Decided by the noise of their run; of two estimates without a run, by their own.
    fn ratio(&self) -> Option<weigh_stats::Ratio> {
        match self.noise {
            Some(noise) => noise.compare(&self.pairs, self.value, self.part),
            None => self.own_noise().compare(&self.pairs, self.value, self.part),
        }
    }

    fn own_noise(&self) -> Noise {
        let side = |of: fn(&(f64, f64)) -> f64| -> Vec<(u32, f64)> {
            (0..).zip(self.pairs.iter().map(of)).collect()
        };
        let sides = [side(|pair| pair.0), side(|pair| pair.1)];
        Noise::of(&[sides.iter().map(Vec::as_slice).collect()], self.is_median, TABLES, 0)
    }
}

/// Compares pairs (first, second) of two runs, whose rounds are not pairs: for each quantity what sets the runs apart,
/// and second ÷ first beside what all have in common. The correction covers all quantities together. `None`: one of the
/// two was not observed in rounds, or is not above zero.
pub fn between_runs(
    quantities: &[Vec<(&Estimate, &Estimate)>],
    seed: u64,
) -> Vec<(Between, Vec<Option<RatioWithUncorrected>>)> {
    let (known, tested) = known_apart(quantities, seed);
    spread_out(known, compare_apart(&tested, FAMILY_WISE)).collect()
}

/// Compares pairs (first, second) of runs on two machines, for each pair of machines: second ÷ first of all together, and of each.
/// `None`: nothing can be tested; one of the two was not observed in rounds, or is not above zero.
pub fn between_machines(
    machines: &[Vec<(&Estimate, &Estimate)>],
    seed: u64,
) -> Vec<(Option<Ratio>, Vec<Option<Ratio>>)> {
    let (known, tested) = known_apart(machines, seed);
    let told = spread_out(known, compare_machines(&tested, FAMILY_WISE));
    told.map(|(together, each)| (together.map(Ratio::from), each)).collect()
}

/// What can be compared of all pairs: in their places, and without gaps.
fn known_apart(all: &[Vec<(&Estimate, &Estimate)>], seed: u64) -> (Vec<Vec<Option<Apart>>>, Vec<Vec<Apart>>) {
    let known: Vec<Vec<Option<Apart>>> = all.iter().map(|pairs| apart(pairs, seed)).collect();
    let tested = known.iter().map(|all| all.iter().flatten().copied().collect()).collect();
    (known, tested)
}

/// Ratios without gaps in the places of what they were made of.
fn spread_out<T, R: From<weigh_stats::Ratio>>(
    known: Vec<Vec<Option<Apart>>>,
    told: Vec<(T, Vec<weigh_stats::Ratio>)>,
) -> impl Iterator<Item = (T, Vec<Option<R>>)> {
    known.into_iter().zip(told).map(|(known, (together, ratios))| {
        let mut ratios = ratios.into_iter().map(R::from);
        (together, known.iter().map(|one| one.and_then(|_| ratios.next())).collect())
    })
}

/// The log ratios of one quantity with their variances within both runs.
fn apart(pairs: &[(&Estimate, &Estimate)], seed: u64) -> Vec<Option<Apart>> {
    let is_usable = |estimate: &Estimate| estimate.value > 0.0 && estimate.drawn_rounds().len() > 1;
    let usable: Vec<bool> = pairs.iter().map(|(a, b)| is_usable(a) && is_usable(b)).collect();
    let kept: Vec<(&Estimate, &Estimate)> =
        pairs.iter().zip(&usable).filter(|(_, usable)| **usable).map(|(pair, _)| *pair).collect();
    let quantile = kept.first().and_then(|(a, _)| a.drawn.as_ref()).map_or(MEDIAN, |drawn| drawn.quantile);
    let units = |of: Vec<&Estimate>| -> Vec<Vec<(u32, f64)>> {
        of.iter().map(|one| one.drawn_rounds().to_vec()).collect()
    };
    let first = units(kept.iter().map(|pair| pair.0).collect());
    let second = units(kept.iter().map(|pair| pair.1).collect());
    let mut drawn = weigh_stats::apart(&first, &second, quantile, seed).into_iter();
    let of = |((a, b), usable): (&(&Estimate, &Estimate), &bool)| {
        known_logs(a, b).or_else(|| if *usable { drawn.next() } else { None })
    };
    pairs.iter().zip(&usable).map(of).collect()
}

/// Of two estimates that bring their logarithms; none where both are zero, which is no difference.
fn known_logs(a: &Estimate, b: &Estimate) -> Option<Apart> {
    let log = |of: &Estimate| of.drawn.as_ref()?.log;
    let ((x, of_x), (y, of_y)) = (log(a)?, log(b)?);
    let rounds = a.rounds.min(b.rounds) as usize;
    (a.value != 0.0 || b.value != 0.0).then_some(Apart { log: y - x, variance: of_x + of_y, rounds })
}

/// Compares pairs (first, second) whose sides took turns in each round, so that what changes with a round changes in both:
/// second ÷ first, by a t test within rounds. The correction covers exactly these comparisons.
pub fn within_rounds(quantities: &[Vec<(&Estimate, &Estimate)>]) -> Vec<Vec<Option<RatioWithUncorrected>>> {
    let log = |(a, b): &(&Estimate, &Estimate)| {
        let Compared { pairs, value, .. } = Compared::of((b, 0.0), (a, 0.0))?;
        Some((LogRatio::of(pairs)?, value))
    };
    let all: Vec<Vec<Option<(LogRatio, f64)>>> =
        quantities.iter().map(|pairs| pairs.iter().map(log).collect()).collect();
    let logs: Vec<Vec<LogRatio>> =
        all.iter().map(|of| of.iter().flatten().map(|one| one.0).collect()).collect();
    let rules = Rule::family(&logs, FAMILY_WISE);
    let told = |rule: &Rule, (log, value): (LogRatio, f64)| {
        rule.compare_log(&log, value, 1.0).map(RatioWithUncorrected::from)
    };
    let of = |(pairs, rule): (Vec<Option<(LogRatio, f64)>>, &Rule)| {
        pairs.into_iter().map(|one| one.and_then(|one| told(rule, one))).collect()
    };
    all.into_iter().zip(&rules).map(of).collect()
}

/// `a` − `b` with its interval, from their ratio over the rounds that both have; without a ratio, the difference of the
/// figures without ends.
pub fn difference(a: &Estimate, b: &Estimate) -> (f64, Interval) {
    let more = |ratio: f64| b.value * (ratio - 1.0);
    match ratio(a, b) {
        Some(ratio) => (more(ratio.value), Interval { low: more(ratio.low), high: more(ratio.high) }),
        None => (a.value - b.value, Interval { low: f64::NEG_INFINITY, high: f64::INFINITY }),
    }
}

/// Whether the two differ significantly.
pub fn differ(a: &Estimate, b: &Estimate) -> bool {
    ratio(a, b).is_some_and(|ratio| ratio.is_settled())
}

/// Whether `a` is significantly less than `b`.
pub fn is_less(a: &Estimate, b: &Estimate) -> bool {
    is_total_less((a, 0.0), (b, 0.0))
}

/// Like [`is_less`], or by the figures alone if they have too few common rounds for any rule.
pub fn is_less_per_table_or_raw(a: Option<&Estimate>, b: Option<&Estimate>) -> bool {
    a.zip(b).is_some_and(|(a, b)| is_total_told_less((a, 0.0), (b, 0.0)))
}

/// Like [`is_less_per_table_or_raw`], with an exactly known amount added to each.
pub fn is_total_told_less(a: (&Estimate, f64), b: (&Estimate, f64)) -> bool {
    match ratio_of_totals(a, b).filter(|ratio| ratio.confidence() != Confidence::TooFewRounds) {
        Some(ratio) => ratio.value < 1.0 && ratio.is_settled(),
        None => a.0.value + a.1 < b.0.value + b.1,
    }
}

/// Like [`is_less`], with an exactly known amount added to each.
pub fn is_total_less(a: (&Estimate, f64), b: (&Estimate, f64)) -> bool {
    ratio_of_totals(a, b).is_some_and(|ratio| ratio.value < 1.0 && ratio.is_settled())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::QUANTILE;

    #[test]
    fn a_difference_lies_within_its_interval_whatever_rounds_only_one_of_them_has() {
        let noisy = |from: u32, to: u32, amount: f64| -> Vec<(u32, f64)> {
            (from..=to).map(|round| (round, amount * (1.0 + 0.01 * f64::from(round % 3)))).collect()
        };
        let estimate = |rounds| Estimate::over_rounds(rounds, QUANTILE).unwrap();
        // The last rounds were calm, and only one of the two was measured in them.
        let calm = [noisy(1, 5, 100.0), noisy(6, 9, 60.0)].concat();
        let (a, b) = (estimate(noisy(1, 5, 130.0)), estimate(calm));
        let (more, interval) = difference(&a, &b);
        assert!(interval.low <= more && more <= interval.high, "{more} {interval:?}");
        let share = more / b.value;
        assert!((share - 0.3).abs() < 0.02, "{share}: rounds of one alone make no difference");
        let few = estimate(vec![(20, 1.0)]);
        assert_eq!(difference(&a, &few).1.low, f64::NEG_INFINITY);
    }
}
