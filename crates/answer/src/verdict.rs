//! Whether two differ: the only place that says so. Fronts, sentences, crossovers and tables ask here.
//!
//! Two rules stand side by side, one for figures that are low quantiles over rounds and one for ratios formed inside each round. Both hold a
//! figure from few rounds to be less exact than its interval says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_stats::{Interval, paired_ratio};

use crate::estimate::{CONFIDENCE, Estimate, common};

/// With fewer rounds than this, resamples of rounds say too little: amounts are compared by their own intervals, and the range of ratios is
/// taken to be [`ASSUMED`] wider at both ends.
const ENOUGH_ROUNDS: usize = 5;

/// What was observed once or twice has no interval worth the name. For comparisons it is taken to be this exact, which is how well CPU time
/// repeats on a shared machine.
const ASSUMED: f64 = 0.1;

/// One amount divided by another, with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Rounds that both have.
    pub rounds: u32,
}

impl Ratio {
    fn of(ratio: weigh_stats::Ratio, rounds: usize) -> Ratio {
        Ratio { value: ratio.value, low: ratio.low, high: ratio.high, rounds: rounds as u32 }
    }

    /// The interval holds 1.
    pub fn holds_one(&self) -> bool {
        self.low <= 1.0 && 1.0 <= self.high
    }

    /// A ratio formed inside rounds differs from 1.
    pub fn is_settled(&self) -> bool {
        let margin = if (self.rounds as usize) < ENOUGH_ROUNDS { ASSUMED } else { 0.0 };
        self.low * (1.0 - margin) > 1.0 || self.high * (1.0 + margin) < 1.0
    }
}

fn rounds_of_both(a: &Estimate, b: &Estimate) -> usize {
    a.drawn_rounds().len().min(b.drawn_rounds().len())
}

/// `a` ÷ `b`, of figures over the same drawings of rounds, with two rounds of each.
pub fn ratio(a: &Estimate, b: &Estimate) -> Option<Ratio> {
    ratio_of_totals((a, 0.0), (b, 0.0))
}

/// As [`ratio`], with an amount added to each that is known exactly.
pub fn ratio_of_totals((a, more_a): (&Estimate, f64), (b, more_b): (&Estimate, f64)) -> Option<Ratio> {
    if rounds_of_both(a, b) < 2 {
        return None;
    }
    let ratio = a.figure()?.clone().shifted(more_a).ratio(&b.figure()?.clone().shifted(more_b))?;
    Some(Ratio::of(ratio, common(a.drawn_rounds(), b.drawn_rounds()).count()))
}

/// As [`ratio`], where both are known.
pub fn ratio_if(a: Option<&Estimate>, b: Option<&Estimate>) -> Option<Ratio> {
    ratio(a?, b?)
}

/// The median over rounds of `a` ÷ `b` in the same round, with two rounds of both.
pub fn paired(a: Option<&Estimate>, b: Option<&Estimate>, seed: u64) -> Option<Ratio> {
    let pairs: Vec<(f64, f64)> =
        common(a?.drawn_rounds(), b?.drawn_rounds()).map(|(_, a, b)| (a, b)).collect();
    Some(Ratio::of(paired_ratio(&pairs, CONFIDENCE, seed)?, pairs.len()))
}

/// `a` − `b` with its interval, which has no ends with fewer than two rounds of each.
pub fn difference(a: &Estimate, b: &Estimate) -> (f64, Interval) {
    match (a.figure(), b.figure()) {
        (Some(x), Some(y)) if rounds_of_both(a, b) >= 2 => x.difference(y),
        _ => (a.value - b.value, Interval { low: f64::NEG_INFINITY, high: f64::INFINITY }),
    }
}

/// The two differ.
pub fn differ(a: &Estimate, b: &Estimate) -> bool {
    is_less(a, b) || is_less(b, a)
}

/// `a` is less than `b`.
pub fn is_less(a: &Estimate, b: &Estimate) -> bool {
    is_total_less((a, 0.0), (b, 0.0))
}

/// As [`is_less`], with an amount added to each that is known exactly: by intervals that do not overlap and no round against it, or, with enough
/// rounds of each, by every round in common or the interval of the difference.
pub fn is_total_less((a, more_a): (&Estimate, f64), (b, more_b): (&Estimate, f64)) -> bool {
    if a.value + more_a >= b.value + more_b {
        return false;
    }
    let is_below = |a: f64, b: f64| a + more_a < b + more_b;
    let in_common = common(a.drawn_rounds(), b.drawn_rounds()).count();
    let is_always = common(a.drawn_rounds(), b.drawn_rounds()).all(|(_, a, b)| is_below(a, b));
    let is_apart = is_below(believable(a).high, believable(b).low);
    if is_always && (is_apart || in_common >= ENOUGH_ROUNDS) {
        return true;
    }
    rounds_of_both(a, b) >= ENOUGH_ROUNDS && difference(a, b).1.high < more_b - more_a
}

/// The interval to compare with: the estimate's own, but never narrower than is believable.
fn believable(estimate: &Estimate) -> Interval {
    let observed = estimate.drawn.as_ref().map_or(0, |drawn| drawn.rounds.len().max(drawn.samples));
    if observed > 2 {
        return estimate.interval();
    }
    let margin = estimate.value * ASSUMED;
    Interval {
        low: estimate.low.min(estimate.value - margin),
        high: estimate.high.max(estimate.value + margin),
    }
}
