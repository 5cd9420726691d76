//! The split of CPU time into user space and kernel. Kernels determine it by ticks, so a single round is inaccurate,
//! while the sum of both is exact: the split is that of all rounds together.

use weigh_stats::median_interval;

use crate::estimate::{CONFIDENCE, Estimate};
use crate::row::Values;

/// The first of two parts ÷ their sum over all rounds, with the interval of the rounds' own shares. None without
/// rounds.
pub fn user_share(parts: impl Iterator<Item = (u64, u64)>) -> Option<Estimate> {
    let parts: Vec<(f64, f64)> = parts.map(|(user, system)| (user as f64, system as f64)).collect();
    let (user, both) = parts.iter().fold((0.0, 0.0), |(user, both), (a, b)| (user + a, both + a + b));
    let value = if both > 0.0 { user / both } else { 0.0 };
    let shares: Vec<f64> = parts.iter().filter(|(a, b)| a + b > 0.0).map(|(a, b)| a / (a + b)).collect();
    let mut share = Estimate::exact(value, parts.len());
    let interval = median_interval(&shares, CONFIDENCE);
    (share.low, share.high) = (interval.map(|i| i.low.min(value)), interval.map(|i| i.high.max(value)));
    (!parts.is_empty()).then_some(share)
}

/// A share of an amount; the interval combines the ends of both.
pub fn part_of(values: &Values, whole: &str, share: &Estimate) -> Option<Estimate> {
    let whole = values.get(whole)?;
    let ends = |a: Option<f64>, b: Option<f64>| Some(a? * b?);
    Some(Estimate {
        value: whole.value * share.value,
        low: ends(whole.low, share.low),
        high: ends(whole.high, share.high),
        rounds: whole.rounds,
        drawn: None,
    })
}

pub fn subtract_from_whole(share: &Estimate) -> Estimate {
    let Estimate { value, low, high, rounds, .. } = *share;
    let end = |end: Option<f64>| end.map(|end| 1.0 - end);
    Estimate { value: 1.0 - value, low: end(high), high: end(low), rounds, drawn: None }
}
