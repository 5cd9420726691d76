//! What an operation costs in CPU time, over rounds, and whether two costs can be told apart.

use weigh_stats::{Drawings, Figure, Interval, Ratio, median_interval, paired_ratio, quantile_interval};

use crate::analysis::gather::Measured;
use crate::analysis::model::{Quantity, Relative};
use crate::analysis::{CONFIDENCE, QUANTILE};
use weigh_model::protocol::Phase;

/// With fewer rounds than this, costs are compared by their own intervals: resamples of four rounds or fewer say
/// too little.
const PAIRED_FROM: usize = 5;

/// A cost known from one or two samples has no interval worth the name. For comparisons it is taken to be
/// this exact, which is how well CPU time repeats on a shared machine.
const ASSUMED: f64 = 0.1;

/// The CPU time of an operation: a weighted sum of the figures of encode and decode.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    /// The same sum in each round that has all of it: (round, nanoseconds a pass), ascending by round.
    rounds: Vec<(u32, f64)>,
    figure: Figure,
    interval: Interval,
    /// Samples while there is only one round, else 0.
    samples: usize,
}

impl Cost {
    /// The cost of one phase.
    pub fn phase(measured: &Measured, phase: Phase, seed: u64) -> Option<Cost> {
        let rounds = measured.rounds(phase).to_vec();
        let figure = measured.figures.get(&phase)?.clone();
        let samples = measured.only_samples(phase);
        let interval = if rounds.len() > 1 {
            let values: Vec<f64> = rounds.iter().map(|r| r.1).collect();
            quantile_interval(&values, QUANTILE, CONFIDENCE, seed)
        } else {
            median_interval(&samples, CONFIDENCE, seed)
        };
        let value = figure.value();
        let Interval { low, high } = interval.unwrap_or(Interval { low: value, high: value });
        let interval = Interval { low: low.min(value), high: high.max(value) };
        Some(Cost { rounds, figure, interval, samples: samples.len() })
    }

    /// A cost that was observed once a round: its quantile at `p` over rounds, (round, amount) ascending by round.
    pub fn over_rounds(rounds: Vec<(u32, f64)>, p: f64, drawings: &Drawings, seed: u64) -> Option<Cost> {
        let figure = Figure::of(&rounds, p, CONFIDENCE, drawings)?;
        let values: Vec<f64> = rounds.iter().map(|r| r.1).collect();
        let value = figure.value();
        let interval = if p < 0.5 {
            quantile_interval(&values, p, CONFIDENCE, seed)
        } else {
            median_interval(&values, CONFIDENCE, seed)
        };
        let Interval { low, high } = interval.unwrap_or(Interval { low: value, high: value });
        let interval = Interval { low: low.min(value), high: high.max(value) };
        Some(Cost { rounds, figure, interval, samples: 1 })
    }

    /// Both together, in the rounds that have both.
    pub fn plus(&self, other: &Cost) -> Cost {
        let rounds: Vec<(u32, f64)> =
            common(&self.rounds, &other.rounds).map(|(round, a, b)| (round, a + b)).collect();
        let figure = self.figure.clone().plus(&other.figure);
        // Of a single round the drawings say nothing; the samples of the two are no pairs, so that the ends add up.
        let interval = if self.rounds.len().min(other.rounds.len()) > 1 {
            figure.interval()
        } else {
            Interval {
                low: self.interval.low + other.interval.low,
                high: self.interval.high + other.interval.high,
            }
        };
        Cost { rounds, figure, interval, samples: self.samples.min(other.samples) }
    }

    /// The number with its drawings.
    pub fn figure(&self) -> &Figure {
        &self.figure
    }

    /// The cost of `encode` encodes and `decode` decodes.
    pub fn weighted(measured: &Measured, (encode, decode): (f64, f64), seed: u64) -> Option<Cost> {
        if decode == 0.0 || encode == 0.0 {
            let phase = if decode == 0.0 { Phase::Encode } else { Phase::Decode };
            return Some(Cost::phase(measured, phase, seed)?.scaled(encode + decode));
        }
        let part = |phase, weight| Some(Cost::phase(measured, phase, seed)?.scaled(weight));
        let (encode, decode) = (part(Phase::Encode, encode)?, part(Phase::Decode, decode)?);
        Some(encode.plus(&decode))
    }

    /// The same cost in another unit, or of a part of the pass.
    pub fn scaled(mut self, factor: f64) -> Cost {
        self.rounds.iter_mut().for_each(|r| r.1 *= factor);
        self.figure = self.figure.scaled(factor);
        self.interval = Interval { low: self.interval.low * factor, high: self.interval.high * factor };
        self
    }

    /// Nanoseconds a pass.
    pub fn time(&self) -> f64 {
        self.figure.value()
    }

    /// The interval of the time: over rounds, or over the samples of the only round; of a single sample, the
    /// sample.
    pub fn interval(&self) -> Interval {
        self.interval
    }

    /// The time with its interval.
    pub fn quantity(&self) -> Quantity {
        Quantity { value: self.time(), low: self.interval.low, high: self.interval.high }
    }

    /// The interval to compare with: as [`Cost::interval`], but never narrower than is believable.
    fn believable(&self) -> Interval {
        if self.rounds.len() > 2 || self.samples > 2 {
            return self.interval;
        }
        let margin = self.time() * ASSUMED;
        Interval {
            low: self.interval.low.min(self.time() - margin),
            high: self.interval.high.max(self.time() + margin),
        }
    }

    /// Ours ÷ theirs, with two rounds of each.
    pub fn ratio_to(&self, other: &Cost) -> Option<Ratio> {
        self.total_ratio_to(0.0, other, 0.0)
    }

    /// The median over rounds of ours ÷ theirs in the same round, with two rounds of both, and how many rounds those are.
    pub fn paired_with(&self, other: &Cost, seed: u64) -> Option<(Ratio, usize)> {
        let pairs: Vec<(f64, f64)> = common(&self.rounds, &other.rounds).map(|(_, a, b)| (a, b)).collect();
        Some((paired_ratio(&pairs, CONFIDENCE, seed)?, pairs.len()))
    }

    /// (Ours + `own`) ÷ (theirs + `others`), with two rounds of each: the constants are what each has to wait for
    /// besides.
    pub fn total_ratio_to(&self, own: f64, other: &Cost, others: f64) -> Option<Ratio> {
        if self.rounds.len().min(other.rounds.len()) < 2 {
            return None;
        }
        self.figure.clone().shifted(own).ratio(&other.figure.clone().shifted(others))
    }

    /// Ours − theirs with its interval, which has no ends with fewer than two rounds of each.
    pub fn difference(&self, other: &Cost) -> (f64, Interval) {
        let (value, interval) = self.figure.difference(&other.figure);
        if self.rounds.len().min(other.rounds.len()) < 2 {
            return (value, Interval { low: f64::NEG_INFINITY, high: f64::INFINITY });
        }
        (value, interval)
    }

    /// Whether the two differ beyond doubt.
    pub fn clearly_apart(&self, other: &Cost) -> bool {
        self.clearly_below(other) || other.clearly_below(self)
    }

    /// Whether we cost less beyond doubt.
    pub fn clearly_below(&self, other: &Cost) -> bool {
        self.total_clearly_below(0.0, other, 0.0)
    }

    /// Whether ours + `own` is less than theirs + `others` beyond doubt: by intervals that do not overlap and no round
    /// against it, or, with enough rounds of each, by every round in common or the interval of the difference.
    pub fn total_clearly_below(&self, own: f64, other: &Cost, others: f64) -> bool {
        if self.time() + own >= other.time() + others {
            return false;
        }
        let below = |a: f64, b: f64| a + own < b + others;
        let in_common = common(&self.rounds, &other.rounds).count();
        let always = common(&self.rounds, &other.rounds).all(|(_, a, b)| below(a, b));
        let apart = below(self.believable().high, other.believable().low);
        if always && (apart || in_common >= PAIRED_FROM) {
            return true;
        }
        let is_enough = self.rounds.len().min(other.rounds.len()) >= PAIRED_FROM;
        is_enough && self.figure.difference(&other.figure).1.high < others - own
    }
}

/// Ours ÷ theirs, where both are known from two rounds.
pub(super) fn relative(ours: Option<&Cost>, theirs: Option<&Cost>) -> Option<Relative> {
    let ratio = ours?.ratio_to(theirs?)?;
    Some(Relative { ratio: ratio.value, low: ratio.low, high: ratio.high })
}

/// (round, a, b) of the rounds that both have; both ascend by round.
fn common<'a>(a: &'a [(u32, f64)], b: &'a [(u32, f64)]) -> impl Iterator<Item = (u32, f64, f64)> + 'a {
    let mut rest = b.iter().peekable();
    a.iter().filter_map(move |&(round, x)| {
        while rest.next_if(|(other, _)| *other < round).is_some() {}
        rest.next_if(|(other, _)| *other == round).map(|&(_, y)| (round, x, y))
    })
}
