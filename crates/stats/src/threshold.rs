//! From which size on something pays: where the ratio of two costs, measured at several sizes, crosses 1.
//!
//! Between two sizes the logarithm of the ratio is taken to be a straight line over the logarithm of the size. How the
//! crossing would vary is found by the drawings of rounds that the costs carry (see [`crate::Figure`]): each drawing has a
//! crossing of its own.

use crate::figure::Figure;

/// Where a ratio is above 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// At every size measured.
    Everywhere,
    /// From this size on up to the largest.
    From(f64),
    /// Not at the largest size measured.
    Nowhere,
}

impl Threshold {
    /// Of sizes (ascending, above 0) with their ratios (above 0). A size at which the ratio is not above 1 puts the
    /// threshold behind it, whatever the smaller sizes show. Ratios that are not above 0 and finite are left out; `None`
    /// when none is left.
    pub fn of(points: &[(f64, f64)]) -> Option<Threshold> {
        let is_sound = |point: &&(f64, f64)| point.0 > 0.0 && point.1 > 0.0 && point.1.is_finite();
        let points: Vec<(f64, f64)> =
            points.iter().filter(is_sound).map(|point| (point.0.ln(), point.1.ln())).collect();
        if points.last()?.1 <= 0.0 {
            return Some(Threshold::Nowhere);
        }
        let Some(at) = points.iter().rposition(|point| point.1 <= 0.0) else {
            return Some(Threshold::Everywhere);
        };
        let (below, above) = (points[at], points[at + 1]);
        let share = below.1 / (below.1 - above.1);
        Some(Threshold::From((below.0 + (above.0 - below.0) * share).exp()))
    }

    /// Its place on a line from minus to plus infinity.
    fn place(self) -> f64 {
        match self {
            Threshold::Everywhere => f64::NEG_INFINITY,
            Threshold::From(size) => size,
            Threshold::Nowhere => f64::INFINITY,
        }
    }
}

/// A threshold with the two ends of its interval: `Everywhere` as low end lies below the smallest size measured, `Nowhere`
/// as high end above the largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThresholdInterval {
    /// The threshold.
    pub value: Threshold,
    /// Low end.
    pub low: Threshold,
    /// High end.
    pub high: Threshold,
}

impl ThresholdInterval {
    /// Of sizes (ascending) with two costs each: where the first ÷ the second is above 1. The interval is the percentile
    /// interval at `confidence` (0.95) over the drawings, which the costs share. `None` when no size has a ratio.
    pub fn of(pairs: &[(f64, &Figure, &Figure)], confidence: f64) -> Option<ThresholdInterval> {
        let whole: Vec<(f64, f64)> =
            pairs.iter().map(|(size, a, b)| (*size, a.value() / b.value())).collect();
        let value = Threshold::of(&whole)?;
        let drawings = pairs.iter().map(|(_, a, b)| a.drawn().len().min(b.drawn().len())).min()?;
        let in_drawing = |at: usize| {
            let points: Vec<(f64, f64)> =
                pairs.iter().map(|(size, a, b)| (*size, a.drawn()[at] / b.drawn()[at])).collect();
            Threshold::of(&points)
        };
        let mut drawn: Vec<Threshold> = (0..drawings).filter_map(in_drawing).chain([value]).collect();
        drawn.sort_by(|a, b| a.place().total_cmp(&b.place()));
        let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
        let end = |p: f64| drawn[((drawn.len() - 1) as f64 * p).round() as usize];
        let least = |a: Threshold, b: Threshold| if a.place() <= b.place() { a } else { b };
        let most = |a: Threshold, b: Threshold| if a.place() >= b.place() { a } else { b };
        Some(ThresholdInterval { value, low: least(end(tail), value), high: most(end(1.0 - tail), value) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Drawings;
    use proptest::prelude::*;

    #[test]
    fn the_line_crosses_one_between_two_sizes() {
        let points = [(100.0, 0.5), (10_000.0, 2.0)];
        let Some(Threshold::From(size)) = Threshold::of(&points) else { panic!() };
        assert!((size - 1000.0).abs() < 1e-6, "the middle in logarithms: {size}");
        assert_eq!(Threshold::of(&[(100.0, 1.2), (1000.0, 3.0)]), Some(Threshold::Everywhere));
        assert_eq!(Threshold::of(&[(100.0, 1.2), (1000.0, 0.9)]), Some(Threshold::Nowhere));
        assert_eq!(Threshold::of(&[(100.0, f64::NAN)]), None);
        let back_and_forth = [(1.0, 2.0), (10.0, 0.5), (100.0, 2.0)];
        assert!(matches!(Threshold::of(&back_and_forth), Some(Threshold::From(x)) if x > 10.0 && x < 100.0));
    }

    #[test]
    fn the_interval_holds_the_threshold_and_knows_its_limits() {
        let drawings = Drawings::of(1..=9, 1);
        let figure = |at: f64, noise: f64| {
            let rounds: Vec<(u32, f64)> =
                (1..=9).map(|round| (round, at * (1.0 + noise * f64::from(round % 4)))).collect();
            Figure::of(&rounds, 0.1, 0.95, &drawings).unwrap()
        };
        let quick = figure(1.0, 0.0);
        let pairs = |at: f64| [(100.0, figure(0.9, 0.1)), (10_000.0, figure(at, 0.1))];
        let of = |pairs: &[(f64, Figure)]| {
            let pairs: Vec<_> = pairs.iter().map(|(size, a)| (*size, a, &quick)).collect();
            ThresholdInterval::of(&pairs, 0.95).unwrap()
        };
        let found = of(&pairs(4.0));
        assert!(found.low.place() <= found.value.place() && found.value.place() <= found.high.place());
        assert!(matches!(found.value, Threshold::From(size) if size > 100.0 && size < 10_000.0), "{found:?}");
        let never = of(&pairs(0.2));
        assert_eq!((never.value, never.high), (Threshold::Nowhere, Threshold::Nowhere));
        assert!(ThresholdInterval::of(&[], 0.95).is_none());
    }

    proptest! {
        #[test]
        fn a_threshold_lies_between_the_sizes(ratios in prop::collection::vec(0.01f64..100.0, 1..9)) {
            let points: Vec<(f64, f64)> =
                ratios.iter().enumerate().map(|(at, ratio)| (2f64.powi(at as i32), *ratio)).collect();
            match Threshold::of(&points).unwrap() {
                Threshold::Everywhere => prop_assert!(ratios.iter().all(|ratio| *ratio > 1.0)),
                Threshold::Nowhere => prop_assert!(ratios.last().unwrap() <= &1.0),
                Threshold::From(size) => {
                    prop_assert!(size >= 1.0 - 1e-9 && size <= points.last().unwrap().0 + 1e-9);
                    prop_assert!(points.iter().filter(|p| p.0 > size + 1e-9).all(|p| p.1 > 1.0));
                }
            }
        }
    }
}
