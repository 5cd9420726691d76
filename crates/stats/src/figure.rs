//! What was measured once a round, summed up by a low quantile over rounds, and compared with others of the same rounds.
//!
//! Neighbours on a shared machine only ever add time, and where they come and go faster than a round, times have two modes
//! between which a median over rounds jumps. A low quantile stays in the lower one: what the work takes when it is
//! left alone. The same holds for ratios formed inside rounds, so a ratio here is that of two low quantiles.
//!
//! How such numbers would vary is found by drawing rounds with replacement (see [`crate::QuantileDistribution`] for the
//! bootstrap). One drawing of rounds serves everything that was measured in them: what slows a whole round is then in both
//! sides of a comparison or in neither.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::compare::{Interval, Ratio, reach};
use crate::summary::Place;

/// How often rounds are drawn.
const DRAWINGS: usize = 1000;

/// Rounds drawn with replacement, `DRAWINGS` times, each time as many as there are.
#[derive(Clone, Debug)]
pub struct Drawings {
    /// A round's place among the rounds.
    places: BTreeMap<u32, usize>,
    /// How often each round was drawn: one row of all rounds a drawing.
    counts: Vec<u16>,
}

impl Drawings {
    /// Drawings of these rounds; the same ones for the same rounds and seed, in whatever order.
    pub fn of(rounds: impl IntoIterator<Item = u32>, seed: u64) -> Drawings {
        let mut places: BTreeMap<u32, usize> = rounds.into_iter().map(|round| (round, 0)).collect();
        places.values_mut().enumerate().for_each(|(at, place)| *place = at);
        let n = places.len();
        let mut counts = vec![0u16; n * DRAWINGS];
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        for row in counts.chunks_mut(n.max(1)) {
            for _ in 0..n {
                let count = &mut row[random.random_range(0..n)];
                *count = count.saturating_add(1);
            }
        }
        Drawings { places, counts }
    }
}

/// A low quantile over rounds, or a weighted sum of such, with what it would be in each drawing of rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The quantile.
    value: f64,
    /// The same in each drawing; not a number where none of its rounds was drawn.
    drawn: Vec<f64>,
    /// (the round with the smallest value, [`reach`] below it) of each summand that has one.
    floors: Vec<(u32, f64)>,
    confidence: f64,
}

impl Figure {
    /// The quantile at `p` (0 to 0.5) of the values of rounds; `confidence` is that of every interval. Each drawing is
    /// summed up over those of the drawn rounds that have a value here.
    ///
    /// `None` without values, or with one that is not finite, or with a round that was not among those drawn from.
    pub fn of(rounds: &[(u32, f64)], p: f64, confidence: f64, drawings: &Drawings) -> Option<Figure> {
        let p = p.clamp(0.0, 0.5);
        let mut ascending: Vec<(usize, f64, u32)> = rounds
            .iter()
            .map(|(round, value)| Some((*drawings.places.get(round)?, *value, *round)))
            .collect::<Option<_>>()?;
        ascending.sort_by(|a, b| a.1.total_cmp(&b.1));
        let values: Vec<f64> = ascending.iter().map(|v| v.1).collect();
        let value = crate::summary::quantile(&values, p)?;
        let drawn =
            drawings.counts.chunks(drawings.places.len()).map(|row| drawn(&ascending, row, p)).collect();
        let floors = vec![(ascending.first()?.2, reach(&values, p, confidence))];
        Some(Figure { value, drawn, floors, confidence })
    }

    /// The number itself.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The same in each drawing of rounds; not a number where none of its rounds was drawn.
    pub fn drawn(&self) -> &[f64] {
        &self.drawn
    }

    /// The same in another unit, or of a part; `factor` is not negative.
    pub fn scaled(mut self, factor: f64) -> Figure {
        self.value *= factor;
        self.drawn.iter_mut().for_each(|x| *x *= factor);
        self.floors.iter_mut().for_each(|floor| floor.1 *= factor);
        self
    }

    /// Both together, over the same drawings.
    pub fn plus(mut self, other: &Figure) -> Figure {
        self.value += other.value;
        self.drawn.iter_mut().zip(&other.drawn).for_each(|(x, y)| *x += y);
        self.floors.extend(&other.floors);
        self
    }

    /// With a known amount added.
    pub fn shifted(mut self, by: f64) -> Figure {
        self.value += by;
        self.drawn.iter_mut().for_each(|x| *x += by);
        self
    }

    /// The percentile interval over the drawings, with its low end put down by the reach.
    pub fn interval(&self) -> Interval {
        let reach: f64 = self.floors.iter().map(|floor| floor.1).sum();
        let own = percentiles(self.drawn.clone(), self.value, self.confidence);
        Interval { low: own.low - reach, high: own.high }
    }

    /// Ours − theirs, with its interval.
    pub fn difference(&self, other: &Figure) -> (f64, Interval) {
        let value = self.value - other.value;
        let differences = self.drawn.iter().zip(&other.drawn).map(|(a, b)| a - b).collect();
        let interval = percentiles(differences, value, self.confidence);
        let (own, others) = (self.reach_beside(other), other.reach_beside(self));
        (value, Interval { low: interval.low - own, high: interval.high + others })
    }

    /// Ours ÷ theirs, with its interval; `None` when one of them is not above zero.
    pub fn ratio(&self, other: &Figure) -> Option<Ratio> {
        let value = self.value / other.value;
        if !(self.value > 0.0 && other.value > 0.0 && value.is_finite() && value > 0.0) {
            return None;
        }
        let ratios = self.drawn.iter().zip(&other.drawn).map(|(a, b)| a / b).collect();
        let interval = percentiles(ratios, value, self.confidence);
        // What is left of each when it goes down by its reach.
        let left = |reach: f64, of: f64| (1.0 - reach / of).max(0.5);
        let (own, others) = (self.reach_beside(other), other.reach_beside(self));
        Some(Ratio {
            value,
            low: interval.low * left(own, self.value),
            high: interval.high / left(others, other.value),
        })
    }

    /// How far ours may lie lower while theirs does not. Where both have their smallest value in the same round, a calmer
    /// round would have been so for both.
    fn reach_beside(&self, other: &Figure) -> f64 {
        let shared = |round: u32| other.floors.iter().any(|floor| floor.0 == round);
        self.floors.iter().filter(|floor| !shared(floor.0)).map(|floor| floor.1).sum()
    }
}

/// The quantile over the drawn ones of values in ascending order, each with its place in the row of counts.
fn drawn(ascending: &[(usize, f64, u32)], row: &[u16], p: f64) -> f64 {
    let n: usize = ascending.iter().map(|(place, _, _)| usize::from(row[*place])).sum();
    if n == 0 {
        return f64::NAN;
    }
    let at = Place::of(n, p);
    let mut seen = 0;
    let mut below = None;
    for (place, value, _) in ascending {
        seen += usize::from(row[*place]);
        if seen > at.below && below.is_none() {
            below = Some(*value);
        }
        if seen > at.above {
            return at.between(below.unwrap_or(*value), *value);
        }
    }
    f64::NAN
}

/// The percentile interval of numbers that may have gaps, widened to hold `value`.
fn percentiles(mut numbers: Vec<f64>, value: f64, confidence: f64) -> Interval {
    numbers.retain(|x| x.is_finite());
    numbers.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
    let at = |p: f64| match numbers.len() {
        0 => value,
        n => Place::of(n, p).in_sorted(&numbers),
    };
    Interval { low: at(tail).min(value), high: at(1.0 - tail).max(value) }
}
