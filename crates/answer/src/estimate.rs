//! An estimate: the value of a metric with its interval, and what is needed to compare it with another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_stats::{Drawings, Figure, Interval, median_interval, quantile_interval};

/// Confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;

/// The quantile over rounds behind [`crate::metric::Over::LowQuantile`].
pub const QUANTILE: f64 = 0.1;

/// The median over rounds, for rates and wall times: neighbours slow a block down as often as its own luck does.
pub const MEDIAN: f64 = 0.5;

/// A value with its 95% interval over rounds. What is known exactly, and what was measured in a single round, has no interval: both ends are
/// the value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The value, in the metric's unit.
    pub value: f64,
    /// Lower end; with few rounds it may lie below every one of them.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Rounds that it is from.
    pub rounds: u32,
    /// What comparisons are made from; none of what was not observed round by round.
    #[serde(skip)]
    pub drawn: Option<Box<Drawn>>,
}

/// What was observed round by round.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// (round, amount), ascending by round.
    pub rounds: Vec<(u32, f64)>,
    /// The value in each drawing of rounds.
    pub figure: Figure,
    /// Samples while there is only one round, else 0.
    pub samples: usize,
}

impl Estimate {
    /// A value without an interval, from so many rounds.
    pub fn exact(value: f64, rounds: usize) -> Estimate {
        Estimate { value, low: value, high: value, rounds: rounds as u32, drawn: None }
    }

    /// The quantile at `p` over rounds of what was observed once per round; (round, amount) ascends by round.
    pub fn over_rounds(rounds: Vec<(u32, f64)>, p: f64, drawings: &Drawings, seed: u64) -> Option<Estimate> {
        let values: Vec<f64> = rounds.iter().map(|r| r.1).collect();
        let interval = if p < MEDIAN {
            quantile_interval(&values, p, CONFIDENCE, seed)
        } else {
            median_interval(&values, CONFIDENCE, seed)
        };
        Estimate::drawn(rounds, p, interval, 1, drawings)
    }

    /// The low quantile over rounds of the median within each. `only` has the samples of the only round, and is empty with several.
    pub fn of_samples(
        rounds: Vec<(u32, f64)>,
        only: &[f64],
        drawings: &Drawings,
        seed: u64,
    ) -> Option<Estimate> {
        let interval = if rounds.len() > 1 {
            let values: Vec<f64> = rounds.iter().map(|r| r.1).collect();
            quantile_interval(&values, QUANTILE, CONFIDENCE, seed)
        } else {
            median_interval(only, CONFIDENCE, seed)
        };
        Estimate::drawn(rounds, QUANTILE, interval, only.len(), drawings)
    }

    fn drawn(
        rounds: Vec<(u32, f64)>,
        p: f64,
        interval: Option<Interval>,
        samples: usize,
        drawings: &Drawings,
    ) -> Option<Estimate> {
        let figure = Figure::of(&rounds, p, CONFIDENCE, drawings)?;
        let value = figure.value();
        let Interval { low, high } = interval.unwrap_or(Interval { low: value, high: value });
        Some(Estimate {
            value,
            low: low.min(value),
            high: high.max(value),
            rounds: rounds.len() as u32,
            drawn: Some(Box::new(Drawn { rounds, figure, samples })),
        })
    }

    /// Both together, in the rounds that have both; without a basis for comparison where one of them has none.
    #[must_use]
    pub fn plus(&self, other: &Estimate) -> Estimate {
        let ends = |value: f64, interval: Interval, rounds: u32, drawn| Estimate {
            value,
            low: interval.low,
            high: interval.high,
            rounds,
            drawn,
        };
        let sum = Interval { low: self.low + other.low, high: self.high + other.high };
        let (Some(a), Some(b)) = (&self.drawn, &other.drawn) else {
            return ends(self.value + other.value, sum, self.rounds.min(other.rounds), None);
        };
        let rounds: Vec<(u32, f64)> =
            common(&a.rounds, &b.rounds).map(|(round, x, y)| (round, x + y)).collect();
        let figure = a.figure.clone().plus(&b.figure);
        // Of a single round the drawings say nothing; the samples of the two are no pairs, so that the ends add up.
        let interval = if a.rounds.len().min(b.rounds.len()) > 1 { figure.interval() } else { sum };
        let count = rounds.len() as u32;
        let drawn = Drawn { rounds, samples: a.samples.min(b.samples), figure };
        ends(drawn.figure.value(), interval, count, Some(Box::new(drawn)))
    }

    /// The same in another unit, or of a part.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Estimate {
        let mut drawn = self.drawn.clone();
        if let Some(drawn) = &mut drawn {
            drawn.rounds.iter_mut().for_each(|round| round.1 *= factor);
            drawn.figure = drawn.figure.clone().scaled(factor);
        }
        Estimate {
            value: self.value * factor,
            low: self.low * factor,
            high: self.high * factor,
            rounds: self.rounds,
            drawn,
        }
    }

    /// Rounds that comparisons can be made in.
    pub fn drawn_rounds(&self) -> &[(u32, f64)] {
        self.drawn.as_ref().map_or(&[], |drawn| &drawn.rounds)
    }

    /// The value in each drawing of rounds.
    pub fn figure(&self) -> Option<&Figure> {
        self.drawn.as_ref().map(|drawn| &drawn.figure)
    }

    /// Its ends.
    pub fn interval(&self) -> Interval {
        Interval { low: self.low, high: self.high }
    }

    /// There is an interval.
    pub fn has_interval(&self) -> bool {
        self.high > self.low
    }

    /// Half of the interval divided by the value; none without an interval.
    pub fn half_width(&self) -> Option<f64> {
        (self.value > 0.0 && self.has_interval()).then(|| (self.high - self.low) / 2.0 / self.value)
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
