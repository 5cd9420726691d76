//! Families of comparisons under a kind of noise: what the rule claims without a difference, and what it finds with
//! one.

use rand_chacha::ChaCha8Rng;
use weigh_stats::{FAMILY_WISE, LogRatio, Ratio, Rule, quantile};

use crate::noise::{Noise, observe};

/// The result of a family.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verdicts {
    /// A difference is claimed although there is none.
    pub claimed_wrongly: bool,
    /// The share of wrong ones among the differences that a table marks.
    pub listed_wrongly: f64,
    /// The share of the true differences that is claimed.
    pub found: f64,
}

/// Compares every configuration with the first one, or all pairs, after this many rounds.
pub fn verdicts(
    noise: Noise,
    costs: &[f64],
    rounds: usize,
    is_all: bool,
    random: &mut ChaCha8Rng,
) -> Verdicts {
    let seen = observe(noise, costs, rounds, random);
    let figure = |i: usize| quantile(&seen[i], 0.1).expect("finite");
    let figures: Vec<f64> = (0..costs.len()).map(figure).collect();
    let seconds = if is_all { costs.len() } else { 1 };
    let pairs: Vec<(usize, usize)> =
        (0..seconds).flat_map(|j| (j + 1..costs.len()).map(move |i| (i, j))).collect();
    let log = |&(i, j): &(usize, usize)| LogRatio::of(seen[i].iter().copied().zip(seen[j].iter().copied()));
    let logs: Vec<LogRatio> = pairs.iter().map(|pair| log(pair).expect("rounds")).collect();
    let rule = Rule::family(std::slice::from_ref(&logs), FAMILY_WISE)[0];
    let told: Vec<(bool, Ratio)> = pairs
        .iter()
        .zip(&logs)
        .map(|(&(i, j), log)| {
            let ratio = rule.compare_log(log, figures[i] / figures[j], 1.0).expect("positive");
            (costs[i] != costs[j], ratio)
        })
        .collect();
    let count = |of: &dyn Fn(&(bool, Ratio)) -> bool| told.iter().filter(|t| of(t)).count() as f64;
    Verdicts {
        claimed_wrongly: told.iter().any(|(differs, ratio)| !differs && ratio.is_claimed),
        listed_wrongly: count(&|(differs, r)| !differs && r.is_listed)
            / count(&|(_, r)| r.is_listed).max(1.0),
        found: count(&|(differs, r)| *differs && r.is_claimed) / count(&|(differs, _)| *differs).max(1.0),
    }
}

/// The mean over trials of (a wrong claim, the share listed wrongly, the share found), where the last of this many
/// configurations costs `factor` times as much as the others.
pub fn mean(
    noise: Noise,
    factor: f64,
    (cells, rounds, is_all): (usize, usize, bool),
    trials: usize,
    random: &mut ChaCha8Rng,
) -> [f64; 3] {
    let mut costs = vec![1.0; cells];
    costs[cells - 1] = factor;
    let mut sum = [0.0; 3];
    for _ in 0..trials {
        let of = verdicts(noise, &costs, rounds, is_all, random);
        let one = [f64::from(u8::from(of.claimed_wrongly)), of.listed_wrongly, of.found];
        sum.iter_mut().zip(one).for_each(|(sum, x)| *sum += x);
    }
    sum.map(|sum| sum / trials as f64)
}
