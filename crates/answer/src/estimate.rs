//! An estimate: the value of a metric with its interval, and the observations for comparing it with another.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_stats::{Noise, low_quantile_interval, median_interval, quantile};

pub const CONFIDENCE: f64 = 0.95;

/// The quantile over rounds behind [`crate::metric::Aggregation::LowQuantile`].
pub const QUANTILE: f64 = 0.1;

/// The median over rounds, for rates and wall times: neighbours slow a block down as often as chance does.
pub const MEDIAN: f64 = 0.5;

/// A value with its 95% interval over rounds. A value that is known exactly is both ends. With too few rounds there is
/// no end: a low quantile of fewer than 14 rounds has only an upper end. A median of fewer than five rounds has none,
/// and neither has a value that was measured once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The value, in the metric's unit.
    pub value: f64,
    /// Lower end; it may be below every round.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Number of rounds.
    pub rounds: u32,
    /// The observations for comparisons; none if the value was not observed in each round.
    #[serde(skip)]
    pub drawn: Option<Box<Drawn>>,
}

/// Observations by round.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// (round, amount), ascending by round.
    pub rounds: Vec<(u32, f64)>,
    /// The quantile over rounds: [`QUANTILE`] or [`MEDIAN`].
    pub quantile: f64,
    /// The noise of this metric in its run, by which comparisons are decided; none before all rows are known.
    pub noise: Option<Arc<Noise>>,
    /// The logarithm of the value with its variance, for comparisons with another run; none: they follow from the rounds.
    pub log: Option<(f64, f64)>,
}

impl Estimate {
    /// A value that is known exactly, with this number of rounds.
    pub fn exact(value: f64, rounds: usize) -> Estimate {
        Estimate { value, low: Some(value), high: Some(value), rounds: rounds as u32, drawn: None }
    }

    /// A value with its interval over this many parts of a run, and its logarithm with the variance. Two runs can be
    /// compared by it; in one run it has no rounds in common with another.
    pub fn over_parts(
        value: f64,
        (low, high): (f64, f64),
        parts: usize,
        log: Option<(f64, f64)>,
    ) -> Estimate {
        let drawn = Some(Box::new(Drawn { rounds: Vec::new(), quantile: MEDIAN, noise: None, log }));
        Estimate { value, low: Some(low), high: Some(high), rounds: parts as u32, drawn }
    }

    /// The quantile at `p` ([`QUANTILE`] or [`MEDIAN`]) over rounds of values observed once per round; (round, amount)
    /// ascends by round. `None` without rounds, or with an amount that is not finite.
    pub fn over_rounds(rounds: Vec<(u32, f64)>, p: f64) -> Option<Estimate> {
        let values: Vec<f64> = rounds.iter().map(|r| r.1).collect();
        let value = quantile(&values, p)?;
        let (low, high) = if p < MEDIAN {
            low_quantile_interval(&values, p, CONFIDENCE)
                .map_or((None, None), |(low, high)| (low, Some(high)))
        } else {
            median_interval(&values, CONFIDENCE).map_or((None, None), |i| (Some(i.low), Some(i.high)))
        };
        let count = rounds.len() as u32;
        let drawn = Some(Box::new(Drawn { rounds, quantile: p, noise: None, log: None }));
        let low = low.map(|low| low.min(value));
        Some(Estimate { value, low, high: high.map(|high| high.max(value)), rounds: count, drawn })
    }

    /// The sum of both, also of their ends. Comparisons use the rounds that both have; the sum has no observations if
    /// one of them has none.
    #[must_use]
    pub fn plus(&self, other: &Estimate) -> Estimate {
        let sum = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
        // The noise of the larger part is closest to that of the sum.
        let larger = if self.value >= other.value { self } else { other };
        let drawn = self.drawn.as_ref().zip(other.drawn.as_ref()).map(|(a, b)| {
            let rounds = common(&a.rounds, &b.rounds).map(|(round, x, y)| (round, x + y)).collect();
            let noise = larger.drawn.as_ref().and_then(|drawn| drawn.noise.clone());
            Box::new(Drawn { rounds, quantile: a.quantile, noise, log: None })
        });
        Estimate {
            value: self.value + other.value,
            low: sum(self.low, other.low),
            high: sum(self.high, other.high),
            rounds: drawn.as_ref().map_or(self.rounds.min(other.rounds), |drawn| drawn.rounds.len() as u32),
            drawn,
        }
    }

    /// The same in another unit, or a part of it.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Estimate {
        self.each(|amount| amount * factor)
    }

    /// The same with a known amount added.
    #[must_use]
    pub fn shifted(&self, by: f64) -> Estimate {
        self.each(|amount| amount + by)
    }

    fn each(&self, of: impl Fn(f64) -> f64) -> Estimate {
        let mut all = self.clone();
        (all.value, all.low, all.high) = (of(self.value), self.low.map(&of), self.high.map(&of));
        if let Some(drawn) = &mut all.drawn {
            drawn.rounds.iter_mut().for_each(|round| round.1 = of(round.1));
        }
        all
    }

    /// The number of rounds for comparisons.
    pub fn drawn_rounds(&self) -> &[(u32, f64)] {
        self.drawn.as_ref().map_or(&[], |drawn| &drawn.rounds)
    }

    /// Whether there is an interval with different ends.
    pub fn has_interval(&self) -> bool {
        (self.low, self.high) != (None, None) && self.low != self.high
    }

    /// The distance from the value to the upper end, divided by the value: disturbances only add time. None without an
    /// upper end, and for exact values.
    pub fn margin(&self) -> Option<f64> {
        let high = self.high.filter(|_| self.value > 0.0 && self.has_interval())?;
        Some((high - self.value) / self.value)
    }
}

/// (round, a, b) of the rounds that both have; both ascend by round.
pub(crate) fn common<'a>(
    a: &'a [(u32, f64)],
    b: &'a [(u32, f64)],
) -> impl Iterator<Item = (u32, f64, f64)> + 'a {
    let mut rest = b.iter().peekable();
    a.iter().filter_map(move |&(round, x)| {
        while rest.next_if(|(other, _)| *other < round).is_some() {}
        rest.next_if(|(other, _)| *other == round).map(|&(_, y)| (round, x, y))
    })
}
