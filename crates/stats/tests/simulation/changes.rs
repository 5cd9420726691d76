//! Change points: as many as the level allows where nothing changed, and those that there are.

use rand::{Rng, RngExt};
use weigh_stats::change_points;

use crate::random;

/// Series without a change.
const SERIES: usize = 200;
/// Two standard errors above 0.05 of that many.
const AT_MOST: usize = 16;

/// Noise of a run's figure about 100, of the kinds that runs have.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// 2% up and down.
    Even,
    /// Neighbours add to it, now and then a lot.
    Skewed,
    /// Two levels, by chance, as of two placements in memory.
    TwoModes,
}

fn value(kind: Kind, random: &mut impl Rng) -> f64 {
    let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    match kind {
        Kind::Even => 100.0 + 2.0 * normal,
        Kind::Skewed => 100.0 - 2.0 * random.random::<f64>().max(1e-9).ln(),
        Kind::TwoModes => 100.0 + normal + if random.random::<f64>() < 0.5 { 0.0 } else { 5.0 },
    }
}

fn series(kind: Kind, count: usize, random: &mut impl Rng) -> Vec<f64> {
    (0..count).map(|_| value(kind, random)).collect()
}

#[test]
fn where_nothing_changes_no_more_is_found_than_the_level_allows() {
    let mut random = random();
    for kind in [Kind::Even, Kind::Skewed, Kind::TwoModes] {
        for count in [8, 20, 60] {
            let series = (0..SERIES).map(|_| series(kind, count, &mut random));
            let claimed = series.filter(|s| !change_points(s, 0.05, 7).unwrap().is_empty()).count();
            println!("{kind:?} {count}: {claimed} of {SERIES}");
            assert!(claimed <= AT_MOST, "{kind:?} {count}: {claimed} of {SERIES} series");
        }
    }
}

#[test]
fn a_tenth_more_from_the_tenth_of_twenty_runs_on_is_found_where_it_is() {
    let mut random = random();
    for kind in [Kind::Even, Kind::Skewed] {
        let found = (0..50).filter(|_| {
            let mut series = series(kind, 20, &mut random);
            series[10..].iter_mut().for_each(|value| *value *= 1.1);
            let found = change_points(&series, 0.05 / 60.0, 7).unwrap();
            found.iter().any(|point| point.at.abs_diff(10) <= 1)
        });
        let count = found.count();
        println!("{kind:?}: {count} of 50");
        assert!(count >= 45, "{kind:?}: {count} of 50");
    }
}

#[test]
fn two_changes_are_two_and_an_outlier_is_none() {
    let mut random = random();
    let mut series = series(Kind::Even, 45, &mut random);
    series[15..30].iter_mut().for_each(|value| *value *= 1.2);
    let found: Vec<usize> = change_points(&series, 0.05, 7).unwrap().iter().map(|point| point.at).collect();
    assert_eq!(found, [15, 30]);
    series[15..30].iter_mut().for_each(|value| *value /= 1.2);
    series[20] *= 10.0;
    assert_eq!(change_points(&series, 0.05, 7), Some(vec![]));
}
