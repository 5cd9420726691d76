//! Rounds drawn with replacement: how a decision that was made from all of them would have come out in others.
//!
//! The bootstrap (Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979)). One drawing of rounds serves everything that
//! was measured in them: what slows a whole round is then in all that is compared or in none.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

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

    /// The quantile at `p` (0 to 0.5) of the values of rounds, in each drawing; not a number where none of its rounds was drawn.
    ///
    /// `None` without values, or with one that is not finite, or with a round that was not among those drawn from.
    pub fn quantiles(&self, rounds: &[(u32, f64)], p: f64) -> Option<Vec<f64>> {
        let mut ascending: Vec<(usize, f64)> = rounds
            .iter()
            .map(|(round, value)| Some((*self.places.get(round)?, *value)).filter(|_| value.is_finite()))
            .collect::<Option<_>>()?;
        if ascending.is_empty() {
            return None;
        }
        ascending.sort_by(|a, b| a.1.total_cmp(&b.1));
        Some(self.counts.chunks(self.places.len()).map(|row| drawn(&ascending, row, p)).collect())
    }
}

/// The quantile over the drawn ones of values in ascending order, each with its place in the row of counts.
fn drawn(ascending: &[(usize, f64)], row: &[u16], p: f64) -> f64 {
    let n: usize = ascending.iter().map(|(place, _)| usize::from(row[*place])).sum();
    if n == 0 {
        return f64::NAN;
    }
    let at = Place::of(n, p);
    let mut seen = 0;
    let mut below = None;
    for (place, value) in ascending {
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
