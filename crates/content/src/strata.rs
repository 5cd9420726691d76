//! Strata of files: bands of sizes, and units drawn at random while they are looked at, so that memory does not grow with their number.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Where size bands begin, in bytes; the last has no end.
pub const BANDS: [u64; 6] = [0, 1_000, 10_000, 50_000, 250_000, 1_000_000];

pub fn band(bytes: u64) -> usize {
    BANDS.iter().rposition(|from| bytes >= *from).unwrap_or(0)
}

/// The units with the smallest digests of their keys: a random sample that the order of the units does not change. The first ones by
/// digest are a sample too, and more of them contain it.
///
/// There are never more than `MOST`.
#[derive(Clone, Debug)]
pub struct Drawn<T, const MOST: usize>(BTreeMap<u64, T>);

impl<T, const MOST: usize> Default for Drawn<T, MOST> {
    fn default() -> Self {
        Drawn(BTreeMap::new())
    }
}

impl<T, const MOST: usize> Drawn<T, MOST> {
    /// Keeps a unit if its key is among those drawn.
    pub fn consider(&mut self, key: impl Hash, unit: T) {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        self.keep(hasher.finish(), unit);
    }

    fn keep(&mut self, digest: u64, unit: T) {
        self.0.insert(digest, unit);
        if self.0.len() > MOST {
            self.0.pop_last();
        }
    }

    /// Takes in what another draw kept.
    pub fn merge(&mut self, other: Drawn<T, MOST>) {
        other.0.into_iter().for_each(|(digest, unit)| self.keep(digest, unit));
    }

    pub fn units(&self) -> impl ExactSizeIterator<Item = &T> {
        self.0.values()
    }

    pub fn into_units(self) -> impl ExactSizeIterator<Item = T> {
        self.0.into_values()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_bands() {
        assert_eq!([0, 999, 1000, 49_999, 250_000, 5_000_000].map(band), [0, 0, 1, 2, 4, 5]);
    }

    #[test]
    fn a_draw_is_the_same_in_any_order_and_in_pieces() {
        let of = |numbers: &mut dyn Iterator<Item = u32>| {
            let mut drawn = Drawn::<u32, 10>::default();
            numbers.for_each(|number| drawn.consider(number, number));
            drawn
        };
        let all = of(&mut (0..1000));
        let units: Vec<u32> = all.units().copied().collect();
        assert_eq!(units.len(), 10);
        assert_eq!(of(&mut (0..1000).rev()).into_units().collect::<Vec<_>>(), units);
        let mut merged = of(&mut (0..400));
        merged.merge(of(&mut (400..1000)));
        assert_eq!(merged.into_units().collect::<Vec<_>>(), units);
    }
}
