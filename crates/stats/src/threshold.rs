//! The size from which on something pays: where the ratio of two costs, measured at several sizes, crosses 1.
//!
//! Between two sizes, the logarithm of the ratio is interpolated linearly over the logarithm of the size.

/// Where a ratio is above 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    Everywhere,
    /// From this size up to the largest.
    From(f64),
    /// Not at the largest size measured.
    Nowhere,
}

impl Threshold {
    /// From sizes (ascending, above 0) with their ratios (above 0). If the ratio at a size is not above 1, the
    /// threshold is behind it, whatever the smaller sizes show. Ratios that are not above 0 and finite are left out;
    /// `None` if none is left.
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

    /// Its position on a line from minus to plus infinity.
    #[cfg(test)]
    fn place(self) -> f64 {
        match self {
            Threshold::Everywhere => f64::NEG_INFINITY,
            Threshold::From(size) => size,
            Threshold::Nowhere => f64::INFINITY,
        }
    }
}

/// A threshold with the two ends of its interval: `Everywhere` as low end is below the smallest measured size,
/// `Nowhere` as high end above the largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThresholdInterval {
    pub value: Threshold,
    pub low: Threshold,
    pub high: Threshold,
}

impl ThresholdInterval {
    /// From sizes (ascending), each with the ratio of two costs and the ends of its interval: where the ratio exceeds
    /// one. The ends are where the ends of the ratios' intervals cross one, so they contain the threshold if those
    /// contain the ratios. `None` if no size has a ratio.
    pub fn of(ratios: &[(f64, f64, f64, f64)]) -> Option<ThresholdInterval> {
        let at = |end: fn(&(f64, f64, f64, f64)) -> f64| {
            Threshold::of(&ratios.iter().map(|ratio| (ratio.0, end(ratio))).collect::<Vec<_>>())
        };
        Some(ThresholdInterval { value: at(|r| r.1)?, low: at(|r| r.3)?, high: at(|r| r.2)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let of = |low: f64, value: f64, high: f64| {
            ThresholdInterval::of(&[(100.0, 0.5, 0.4, 0.6), (10_000.0, value, low, high)]).unwrap()
        };
        let found = of(3.0, 4.0, 5.0);
        assert!(found.low.place() < found.value.place() && found.value.place() < found.high.place());
        assert!(
            matches!((found.low, found.high), (Threshold::From(low), Threshold::From(high)) if (low - 303.3).abs() < 0.1 && (high - 811.9).abs() < 0.1),
            "{found:?}"
        );
        let never = of(0.1, 0.2, 0.3);
        assert_eq!((never.value, never.high), (Threshold::Nowhere, Threshold::Nowhere));
        let unknown = of(0.9, 1.01, 1.2);
        assert_eq!(
            unknown.high,
            Threshold::Nowhere,
            "a ratio that cannot be told from 1 is perhaps never above it"
        );
        assert!(ThresholdInterval::of(&[]).is_none());
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
