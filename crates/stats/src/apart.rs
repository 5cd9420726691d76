//! Tests whether configurations differ between two runs, whose rounds are not pairs.
//!
//! Rounds of one run say how precisely that run knows a figure. They say nothing about what changes from run to run: the
//! machine's load and clock, where memory happens to lie, how a process started. Mytkowicz et al. ("Producing wrong data
//! without doing anything obviously wrong!", ASPLOS 2009) and Kalibera and Jones ("Rigorous benchmarking in reasonable
//! time", ISMM 2013) show that this is often the larger part. One pair of runs holds it once per configuration, so it is
//! estimated from all configurations together, as in a random-effects meta-analysis (Paule and Mandel, "Consensus values
//! and weighting factors", Journal of Research of the National Bureau of Standards 87 (1982)), with robust scales instead
//! of squares, so that configurations that did change do not widen it:
//!
//! - what all configurations have in common is the **shift**, the median of their log ratios;
//! - the **spread** is the standard deviation that makes the remaining log ratios as wide as they are, in addition to the
//!   variance within both runs. Where these variances alone are wider than that, they
//!   are left as they are: a quieter pair of runs may be chance, and disturbed visits make rare large ratios.
//!
//! A configuration differs if its log ratio is further from the shift than both explain, by a t test with the correction
//! of [`crate::Rule`].

use crate::contrast::{Sample, aligned};
use crate::drawings::{DRAWINGS, drawn_figures};
use crate::moderated::{t_quantile, two_sided};
use crate::multiple::{benjamini_hochberg_cutoff, holm_cutoff};
use crate::rule::{CONFIDENCE, FALSE_DISCOVERIES, ROUNDS, Ratio};
use crate::summary::{median, quantile};

/// With fewer configurations, a change of the machine looks like a change of the program.
pub const ENOUGH: usize = 10;

/// The standard deviation of a log ratio between two runs, where there are too few configurations to estimate it.
pub const ALLOWANCE: f64 = 0.05;

/// The least spread between runs: two runs that agree better do so by chance.
pub const LEAST_SPREAD: f64 = 0.005;

/// The share of configurations that may have changed without widening the spread.
const CHANGED: f64 = 0.2;

/// The efficiency of the robust scale, as a share of the degrees of freedom of a standard deviation.
const EFFICIENCY: f64 = 0.4;

/// Degrees of freedom of [`ALLOWANCE`].
const FREEDOM: f64 = 10.0;

/// The variance of a median as a multiple of that of a mean.
const OF_MEDIAN: f64 = 1.57;

/// One configuration in two runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    /// The natural logarithm of second figure ÷ first figure.
    pub log: f64,
    /// The variance of `log` that both runs explain by themselves.
    pub variance: f64,
    /// The rounds of the run with fewer rounds.
    pub rounds: usize,
}

impl Apart {
    /// Whether it has enough rounds for a test.
    fn is_tested(&self) -> bool {
        self.rounds >= ROUNDS && self.log.is_finite() && self.variance.is_finite()
    }
}

/// Each unit in two runs, by its figure: the quantile at `p` over its rounds, of which there must be two or more. Its variance is
/// that within both runs. Where a neighbour disturbed nearly all rounds of one run, that is not seen within it: the figure then
/// differs from the level by the density of the noise of all, and the variance is at least the square of that difference.
pub fn apart(first: &[Vec<(u32, f64)>], second: &[Vec<(u32, f64)>], p: f64, seed: u64) -> Vec<Apart> {
    let sample = |unit: &Vec<(u32, f64)>| {
        let logs: Vec<f64> =
            unit.iter().map(|(_, amount)| amount.ln()).filter(|log| log.is_finite()).collect();
        Sample::of(if logs.is_empty() { vec![0.0] } else { logs })
    };
    let samples: Vec<Sample> = first.iter().chain(second).map(sample).collect();
    let (_, levels) = aligned(&samples, &vec![1.0; samples.len()]);
    let within =
        variances_within(first, p, seed).into_iter().zip(variances_within(second, p, seed.wrapping_add(1)));
    let figure = |unit: &[(u32, f64)]| {
        let amounts: Vec<f64> = unit.iter().map(|(_, amount)| *amount).collect();
        quantile(&amounts, p).unwrap_or(f64::NAN).ln()
    };
    let unit = |(at, (x, y)): (usize, (f64, f64))| {
        let log = figure(&second[at]) - figure(&first[at]);
        let off = log - (levels[first.len() + at] - levels[at]);
        Apart { log, variance: (x + y).max(off * off), rounds: first[at].len().min(second[at].len()) }
    };
    within.enumerate().map(unit).collect()
}

/// The variance of the logarithm of each unit's figure (the quantile at `p` over rounds) within a run, from
/// [`drawn_figures`]. With [`ENOUGH`] units it is that beside what all units have in common: a drift within the run is
/// part of the shift between two runs.
fn variances_within(units: &[Vec<(u32, f64)>], p: f64, seed: u64) -> Vec<f64> {
    let mut logs: Vec<Vec<f64>> = drawn_figures(units, p, seed)
        .into_iter()
        .map(|factors| factors.into_iter().map(f64::ln).collect())
        .collect();
    if logs.len() >= ENOUGH {
        for drawing in 0..DRAWINGS {
            let common = median(&logs.iter().map(|unit| unit[drawing]).collect::<Vec<_>>()).unwrap_or(0.0);
            logs.iter_mut().for_each(|unit| unit[drawing] -= common);
        }
    }
    logs.iter().map(|unit| variance(unit)).collect()
}

fn variance(xs: &[f64]) -> f64 {
    let mean = xs.iter().sum::<f64>() / xs.len() as f64;
    xs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (xs.len() - 1) as f64
}

/// What two runs have in common and what sets them apart, for one quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// Second ÷ first of all configurations together; 1 if there are too few to tell.
    pub shift: f64,
    /// The standard deviation of a configuration's log ratio from run to run, in addition to its variance within runs.
    pub spread: f64,
    /// The degrees of freedom of the test.
    pub freedom: f64,
    /// The configurations that it was estimated from.
    pub configurations: usize,
    /// Whether there are at least [`ENOUGH`] of them: if not, a change of the machine looks like one of the program.
    pub is_told: bool,
}

impl Between {
    /// Of sides that were measured in the same rounds: nothing sets them apart.
    pub fn paired(configurations: usize) -> Between {
        Between { shift: 1.0, spread: 0.0, freedom: f64::INFINITY, configurations, is_told: true }
    }

    /// Where what all have in common cannot be told from what is asked about, or is that.
    fn of_machines(all: &[Apart]) -> Between {
        let configurations = all.iter().filter(|one| one.is_tested()).count();
        Between { shift: 1.0, spread: ALLOWANCE, freedom: FREEDOM, configurations, is_told: false }
    }

    /// From all configurations of one quantity.
    pub fn of(all: &[Apart]) -> Between {
        let tested: Vec<&Apart> = all.iter().filter(|one| one.is_tested()).collect();
        let configurations = tested.len();
        if configurations < ENOUGH {
            return Between::of_machines(all);
        }
        let logs: Vec<f64> = tested.iter().map(|one| one.log).collect();
        let shift = median(&logs).unwrap_or(0.0);
        let freedom = EFFICIENCY * (configurations - 1) as f64;
        let spread = spread(&tested, shift);
        Between { shift: shift.exp(), spread, freedom, configurations, is_told: true }
    }

    /// The log ratio beside the shift, and its standard error.
    fn residual(&self, one: &Apart) -> (f64, f64) {
        let variance = one.variance + self.spread * self.spread;
        // The shift has an error of its own.
        let of_shift = if self.is_told { 1.0 + OF_MEDIAN / self.configurations as f64 } else { 1.0 };
        (one.log - self.shift.ln(), (variance * of_shift).sqrt())
    }

    fn p_value(&self, one: &Apart) -> f64 {
        let (log, error) = self.residual(one);
        if one.is_tested() { two_sided(log.abs() / error, self.freedom) } else { 1.0 }
    }
}

/// The spread with which the log ratios, each divided by its standard error, are as wide as a normal distribution.
fn spread(tested: &[&Apart], shift: f64) -> f64 {
    let n = tested.len() as f64;
    let scale = |spread: f64| {
        let off = |one: &&Apart| (one.log - shift).abs() / (one.variance + spread * spread).sqrt();
        let offs: Vec<f64> = tested.iter().map(off).collect();
        let at = |p: f64, normal: f64| quantile(&offs, p).unwrap_or(0.0) / normal;
        // Half of the values of a normal distribution are within 0.6745, and 80% within 1.2816.
        at(0.5, 0.6745).max(at(1.0 - CHANGED, 1.2816)) * n / (n - 1.0)
    };
    if scale(LEAST_SPREAD) <= 1.0 {
        return LEAST_SPREAD;
    }
    let (mut low, mut high) = (LEAST_SPREAD, 2.0 * LEAST_SPREAD);
    while scale(high) > 1.0 && high < 1e3 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if scale(middle) > 1.0 { low = middle } else { high = middle }
    }
    high
}

/// Compares two runs: for each quantity what sets the runs apart, and for each of its configurations the ratio beside
/// the shift. The correction covers all quantities together. `error` is the probability of a wrong claim.
pub fn compare_apart(quantities: &[Vec<Apart>], error: f64) -> Vec<(Between, Vec<Ratio>)> {
    compare(quantities, quantities.iter().map(|all| Between::of(all)).collect(), error)
}

/// Compares runs on different machines, of which the machine is what is asked about: for each pair of machines second ÷ first of all
/// configurations together (none without a configuration that can be tested), and of each. What all have in common is a part of the
/// difference. How far it varies from run to run, and between two machines of a kind, one pair of runs cannot say: [`ALLOWANCE`] is added
/// for it. Each of the two lists has half of `error`.
pub fn compare_machines(pairs: &[Vec<Apart>], error: f64) -> Vec<(Option<Ratio>, Vec<Ratio>)> {
    let (together, each): (Vec<Vec<Apart>>, Vec<Vec<Apart>>) = pairs.iter().map(|all| widened(all)).unzip();
    let told = |quantities: &[Vec<Apart>]| {
        let between = quantities.iter().map(|all| Between::of_machines(all)).collect();
        compare(quantities, between, error / 2.0).into_iter().map(|(_, ratios)| ratios)
    };
    told(&together).map(|mut ratios| ratios.pop()).zip(told(&each)).collect()
}

/// All configurations of a pair of machines as one (or none), and each with what sets it apart from the others.
fn widened(all: &[Apart]) -> (Vec<Apart>, Vec<Apart>) {
    let between = Between::of(all);
    let own = if between.is_told { between.spread * between.spread } else { 0.0 };
    let each: Vec<Apart> = all.iter().map(|one| Apart { variance: one.variance + own, ..*one }).collect();
    let tested: Vec<&Apart> = each.iter().filter(|one| one.is_tested()).collect();
    let of = |of: fn(&Apart) -> f64| median(&tested.iter().map(|one| of(one)).collect::<Vec<_>>());
    let together = of(|one| one.log).zip(of(|one| one.variance)).map(|(log, variance)| Apart {
        log,
        variance: variance * OF_MEDIAN / tested.len() as f64,
        rounds: tested.iter().map(|one| one.rounds).min().unwrap_or(0),
    });
    (together.into_iter().collect(), each)
}

/// The comparison of each quantity with what sets its runs apart.
fn compare(quantities: &[Vec<Apart>], between: Vec<Between>, error: f64) -> Vec<(Between, Vec<Ratio>)> {
    let with = || quantities.iter().zip(&between);
    let tested = |(all, between): (&Vec<Apart>, &Between)| -> Vec<f64> {
        all.iter().filter(|one| one.is_tested()).map(|one| between.p_value(one)).collect()
    };
    let ps: Vec<f64> = with().flat_map(tested).collect();
    let (claimed, listed) = (holm_cutoff(&ps, error), benjamini_hochberg_cutoff(&ps, FALSE_DISCOVERIES));
    let cutoffs = Cutoffs { claimed: claimed.min(error), listed };
    with()
        .map(|(all, between)| (*between, all.iter().map(|one| cutoffs.ratio(between, one)).collect()))
        .collect()
}

/// The largest p values of differences that are claimed, and that tables mark.
struct Cutoffs {
    claimed: f64,
    listed: f64,
}

impl Cutoffs {
    fn ratio(&self, between: &Between, one: &Apart) -> Ratio {
        let ((log, error), p) = (between.residual(one), between.p_value(one));
        let reach = error * t_quantile(self.listed.min(FALSE_DISCOVERIES), between.freedom);
        let reach_alone = error * t_quantile(1.0 - CONFIDENCE, between.freedom);
        let alone = ((log - reach_alone).exp(), (log + reach_alone).exp());
        let is_listed = one.is_tested() && p <= self.listed;
        let (mut low, mut high) = ((log - reach).exp(), (log + reach).exp());
        if !is_listed {
            (low, high) = (low.min(1.0), high.max(1.0));
        }
        Ratio {
            value: log.exp(),
            low,
            high,
            alone,
            p,
            rounds: one.rounds,
            is_listed,
            is_claimed: is_listed && p <= self.claimed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(log: f64) -> Apart {
        Apart { log, variance: 1e-4, rounds: 10 }
    }

    /// Log ratios around `shift`, evenly over about ±2%.
    fn even(shift: f64, count: usize) -> Vec<Apart> {
        (0..count).map(|i| apart(shift + 0.04 * (i as f64 / (count - 1) as f64 - 0.5))).collect()
    }

    #[test]
    fn what_all_share_is_the_shift_and_no_difference() {
        let (between, ratios) = compare_apart(&[even(0.2, 31)], 0.02).remove(0);
        assert!((between.shift - 0.2f64.exp()).abs() < 1e-9 && between.is_told, "{between:?}");
        assert!(ratios.iter().all(|r| !r.is_listed && r.low <= 1.0 && r.high >= 1.0), "{ratios:?}");
    }

    #[test]
    fn one_that_changed_is_found_and_does_not_widen_the_rest() {
        let mut all = even(0.0, 40);
        let before = Between::of(&all);
        all[7] = apart(0.15);
        let (between, ratios) = compare_apart(&[all], 0.02).remove(0);
        let claimed: Vec<usize> = (0..40).filter(|i| ratios[*i].is_claimed).collect();
        assert_eq!(claimed, [7]);
        assert!((between.spread - before.spread).abs() < 0.003, "{before:?} {between:?}");
        assert!(ratios[7].low > 1.0);
    }

    #[test]
    fn few_configurations_cannot_tell_the_machine_from_the_program() {
        let told = |log: f64| {
            let (between, ratios) = compare_apart(&[vec![apart(log); ENOUGH - 1]], 0.02).remove(0);
            assert!(!between.is_told && between.shift == 1.0, "{between:?}");
            ratios[0].is_claimed
        };
        assert!(!told(0.1) && told(0.4));
    }

    #[test]
    fn too_few_rounds_are_never_a_difference() {
        let mut all = even(0.0, 20);
        all[3] = Apart { log: 2.0, variance: 1e-6, rounds: ROUNDS - 1 };
        all[4] = Apart { log: f64::NAN, variance: 0.0, rounds: 9 };
        let (between, ratios) = compare_apart(&[all], 0.02).remove(0);
        assert_eq!(between.configurations, 18);
        assert!(!ratios[3].is_listed && ratios[3].p == 1.0 && !ratios[4].is_listed);
    }

    #[test]
    fn of_machines_what_all_share_is_the_difference() {
        let told = |shift: f64| compare_machines(&[even(shift, 31)], 0.02).remove(0);
        let (together, each) = told(0.4);
        let together = together.unwrap();
        assert!((together.value - 0.4f64.exp()).abs() < 0.01 && together.is_claimed, "{together:?}");
        assert!(each.iter().all(|one| one.is_claimed && one.low > 1.0), "{each:?}");
        let (together, each) = told(0.05);
        assert!(
            !together.unwrap().is_listed && each.iter().all(|one| !one.is_claimed),
            "one machine of a kind may be like that"
        );
        // A single configuration is enough, and none of them can be tested is said.
        let (one, _) = compare_machines(&[vec![apart(0.4)]], 0.02).remove(0);
        assert!(one.unwrap().is_claimed);
        let untested = Apart { rounds: ROUNDS - 1, ..apart(0.4) };
        let (none, each) = compare_machines(&[vec![untested]], 0.02).remove(0);
        assert!(none.is_none() && !each[0].is_listed && each[0].p == 1.0);
    }

    #[test]
    fn a_further_pair_of_machines_makes_no_pair_surer() {
        let (alone, _) = compare_machines(&[even(0.2, 20)], 0.02).remove(0);
        let (beside, _) = compare_machines(&[even(0.2, 20), even(0.0, 20), even(0.0, 20)], 0.02).remove(0);
        let (alone, beside) = (alone.unwrap(), beside.unwrap());
        assert!(
            alone.p == beside.p && beside.low <= alone.low && beside.high >= alone.high,
            "{alone:?} {beside:?}"
        );
    }
}
