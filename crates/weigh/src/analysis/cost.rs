//! What an operation costs in CPU time, over rounds, and whether two costs can be told apart.

use weigh_stats::{Interval, MedianDistribution, Ratio};

use crate::analysis::CONFIDENCE;
use crate::analysis::gather::Measured;
use crate::protocol::Phase;

/// With fewer rounds in common than this, costs are compared by their own intervals: the range of four or
/// fewer differences holds the true one too seldom.
const PAIRED_FROM: usize = 5;

/// A cost known from one or two samples has no interval worth the name. For comparisons it is taken to be
/// this exact, which is how well CPU time repeats on a shared machine.
const ASSUMED: f64 = 0.1;

/// The CPU time of an operation: a weighted sum of encode and decode.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    /// (round, nanoseconds a pass), ascending by round.
    rounds: Vec<(u32, f64)>,
    /// Median over rounds, nanoseconds a pass.
    pub time: f64,
    /// The single samples while there is only one round, else empty.
    samples: Vec<f64>,
    seed: u64,
}

impl Cost {
    /// The cost of one phase.
    pub fn phase(measured: &Measured, phase: Phase, seed: u64) -> Option<Cost> {
        let rounds = measured.rounds(phase).to_vec();
        Cost::of(rounds, measured.only_samples(phase), seed)
    }

    /// The cost of `encode` encodes and `decode` decodes, formed inside rounds that have both.
    pub fn weighted(measured: &Measured, (encode, decode): (f64, f64), seed: u64) -> Option<Cost> {
        if decode == 0.0 || encode == 0.0 {
            let phase = if decode == 0.0 { Phase::Encode } else { Phase::Decode };
            return Some(Cost::phase(measured, phase, seed)?.scaled(encode + decode));
        }
        let sum = |(e, d): (f64, f64)| encode * e + decode * d;
        let rounds: Vec<(u32, f64)> = common(measured.rounds(Phase::Encode), measured.rounds(Phase::Decode))
            .map(|(round, e, d)| (round, sum((e, d))))
            .collect();
        let samples = if rounds.len() == 1 {
            let decodes = measured.only_samples(Phase::Decode);
            measured.only_samples(Phase::Encode).into_iter().zip(decodes).map(sum).collect()
        } else {
            Vec::new()
        };
        Cost::of(rounds, samples, seed)
    }

    fn of(rounds: Vec<(u32, f64)>, samples: Vec<f64>, seed: u64) -> Option<Cost> {
        let values: Vec<f64> = rounds.iter().map(|r| r.1).collect();
        Some(Cost { time: weigh_stats::median(&values)?, rounds, samples, seed })
    }

    /// The same cost in another unit, or of a part of the pass.
    pub fn scaled(mut self, factor: f64) -> Cost {
        self.rounds.iter_mut().for_each(|r| r.1 *= factor);
        self.samples.iter_mut().for_each(|s| *s *= factor);
        self.time *= factor;
        self
    }

    /// The interval of the median: over rounds, or over the samples of the only round; of a single sample, the
    /// sample.
    pub fn interval(&self) -> Interval {
        let values: Vec<f64> = if self.rounds.len() > 1 {
            self.rounds.iter().map(|r| r.1).collect()
        } else {
            self.samples.clone()
        };
        let interval = MedianDistribution::of(&values, self.seed).map(|d| d.interval(CONFIDENCE));
        let (low, high) = interval.unwrap_or((self.time, self.time));
        Interval { low: low.min(self.time), high: high.max(self.time) }
    }

    /// The interval to compare with: as [`Cost::interval`], but never narrower than is believable.
    fn believable(&self) -> Interval {
        let interval = self.interval();
        if self.rounds.len() > 2 || self.samples.len() > 2 {
            return interval;
        }
        let margin = self.time * ASSUMED;
        Interval {
            low: interval.low.min(self.time - margin),
            high: interval.high.max(self.time + margin),
        }
    }

    /// (ours, theirs) of each round that has both.
    pub fn paired(&self, other: &Cost) -> Vec<(f64, f64)> {
        common(&self.rounds, &other.rounds).map(|(_, a, b)| (a, b)).collect()
    }

    /// Ours ÷ theirs, paired inside rounds.
    pub fn ratio_to(&self, other: &Cost) -> Option<Ratio> {
        self.total_ratio_to(0.0, other, 0.0)
    }

    /// (Ours + `own`) ÷ (theirs + `others`), paired inside rounds: the constants are what each has to wait
    /// for besides.
    pub fn total_ratio_to(&self, own: f64, other: &Cost, others: f64) -> Option<Ratio> {
        let pairs: Vec<(f64, f64)> =
            self.paired(other).into_iter().map(|(a, b)| (a + own, b + others)).collect();
        weigh_stats::paired_ratio(&pairs, CONFIDENCE, self.seed)
    }

    /// Whether we cost less beyond doubt.
    pub fn clearly_below(&self, other: &Cost) -> bool {
        self.total_clearly_below(0.0, other, 0.0)
    }

    /// Whether ours + `own` is less than theirs + `others` beyond doubt: by the interval of the difference inside
    /// rounds, or, with few rounds in common, by intervals that do not overlap and no round against it.
    pub fn total_clearly_below(&self, own: f64, other: &Cost, others: f64) -> bool {
        if self.time + own >= other.time + others {
            return false;
        }
        let differences: Vec<f64> =
            self.paired(other).into_iter().map(|(a, b)| (a + own) - (b + others)).collect();
        let always = differences.iter().all(|d| *d < 0.0);
        if differences.len() < PAIRED_FROM {
            return always && self.believable().high + own < other.believable().low + others;
        }
        if always {
            return true;
        }
        weigh_stats::median_interval(&differences, CONFIDENCE, self.seed).is_some_and(|i| i.high < 0.0)
    }
}

/// (round, a, b) of the rounds that both have; both ascend by round.
fn common<'a>(a: &'a [(u32, f64)], b: &'a [(u32, f64)]) -> impl Iterator<Item = (u32, f64, f64)> + 'a {
    let mut rest = b.iter().peekable();
    a.iter().filter_map(move |&(round, x)| {
        while rest.next_if(|(other, _)| *other < round).is_some() {}
        rest.next_if(|(other, _)| *other == round).map(|&(_, y)| (round, x, y))
    })
}
