//! What must hold for any values.

use proptest::collection::vec;
use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weigh_stats::{
    Drawings, Figure, Interval, break_even_bandwidth, break_even_interval, dominators, median,
    median_interval, paired_ratio, pareto_front, quantile, quantile_interval, reach, summary,
};

fn values(longest: usize) -> impl Strategy<Value = Vec<f64>> {
    vec(prop_oneof![-1e12..1e12f64, 0.0..10.0f64, (0..5i32).prop_map(f64::from)], 1..longest)
}

fn shuffled(xs: &[f64], seed: u64) -> Vec<f64> {
    let mut xs = xs.to_vec();
    xs.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    xs
}

proptest! {
    #[test]
    fn median_lies_between_the_extremes(xs in values(60)) {
        let m = median(&xs).unwrap();
        let (least, most) = (xs.iter().copied().fold(f64::INFINITY, f64::min), xs.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        prop_assert!(least <= m && m <= most);
        let s = summary(&xs).unwrap();
        prop_assert_eq!((s.n, s.min, s.median), (xs.len(), least, m));
        prop_assert!(s.mad >= 0.0 && s.mad <= most - least);
    }

    #[test]
    fn at_most_half_of_the_values_lie_on_either_side(xs in values(60)) {
        let m = median(&xs).unwrap();
        prop_assert!(xs.iter().filter(|x| **x < m).count() * 2 <= xs.len());
        prop_assert!(xs.iter().filter(|x| **x > m).count() * 2 <= xs.len());
    }

    #[test]
    fn order_does_not_matter(xs in values(60), seed: u64) {
        let other = shuffled(&xs, seed);
        prop_assert_eq!(summary(&xs), summary(&other));
        prop_assert_eq!(median_interval(&xs, 0.95, 7), median_interval(&other, 0.95, 7));
        prop_assert_eq!(quantile_interval(&xs, 0.1, 0.95, 7), quantile_interval(&other, 0.1, 0.95, 7));
    }

    #[test]
    fn quantiles_ascend(xs in values(40), a in 0.0..1.0f64, b in 0.0..1.0f64) {
        prop_assert!(quantile(&xs, a.min(b)).unwrap() <= quantile(&xs, a.max(b)).unwrap());
    }

    #[test]
    fn the_interval_holds_the_median_and_stays_in_the_range(xs in values(200), confidence in 0.5..0.999f64) {
        prop_assume!(xs.len() > 1);
        let interval = median_interval(&xs, confidence, 3).unwrap();
        let m = median(&xs).unwrap();
        prop_assert!(interval.low <= m && m <= interval.high);
        prop_assert!(quantile(&xs, 0.0).unwrap() <= interval.low);
        prop_assert!(interval.high <= quantile(&xs, 1.0).unwrap());
        prop_assert_eq!(median_interval(&xs, confidence, 3).unwrap(), interval);
    }

    #[test]
    fn the_interval_holds_the_quantile_and_goes_below_the_range_by_its_reach(
        xs in values(200), p in 0.0..0.5f64, confidence in 0.5..0.999f64
    ) {
        prop_assume!(xs.len() > 1);
        let interval = quantile_interval(&xs, p, confidence, 3).unwrap();
        let (value, reach) = (quantile(&xs, p).unwrap(), reach(&xs, p, confidence));
        prop_assert!(interval.low <= value && value <= interval.high);
        prop_assert!(reach >= 0.0 && quantile(&xs, 0.0).unwrap() - reach <= interval.low);
        prop_assert!(interval.high <= quantile(&xs, 1.0).unwrap());
        prop_assert!(xs.iter().any(|x| *x <= 0.0) || interval.low > 0.0, "{:?}", interval);
    }

    #[test]
    fn more_values_higher_quantiles(xs in values(60), a in 0.0..0.5f64, b in 0.0..0.5f64) {
        prop_assume!(xs.len() > 1);
        let at = |p| weigh_stats::QuantileDistribution::of(&xs, p, 3).unwrap();
        let (low, high) = (at(a.min(b)), at(a.max(b)));
        prop_assert!(low.value() <= high.value());
        let (low, high) = (low.interval(0.95), high.interval(0.95));
        prop_assert!(low.0 <= high.0 && low.1 <= high.1, "{:?} {:?}", low, high);
    }

    #[test]
    fn more_confidence_never_narrows(xs in values(60), a in 0.5..0.999f64, b in 0.5..0.999f64) {
        prop_assume!(xs.len() > 1);
        let (less, more) =
            (median_interval(&xs, a.min(b), 3).unwrap(), median_interval(&xs, a.max(b), 3).unwrap());
        prop_assert!(more.low <= less.low && less.high <= more.high);
    }

    // A power of two scales without rounding, so equality is exact.
    #[test]
    fn scale_carries_over(xs in values(150), exponent in -20..20i32) {
        prop_assume!(xs.len() > 1);
        let k = 2f64.powi(exponent);
        let scaled: Vec<f64> = xs.iter().map(|x| x * k).collect();
        let (a, b) = (summary(&xs).unwrap(), summary(&scaled).unwrap());
        prop_assert_eq!((a.min * k, a.median * k, a.mad * k), (b.min, b.median, b.mad));
        let (a, b) = (median_interval(&xs, 0.95, 1).unwrap(), median_interval(&scaled, 0.95, 1).unwrap());
        prop_assert_eq!((a.low * k, a.high * k), (b.low, b.high));
    }

    #[test]
    fn a_common_slowdown_of_each_round_cancels(
        rounds in vec((0.1..10.0f64, 0.1..10.0f64, -8..8i32), 2..30)
    ) {
        let plain: Vec<(f64, f64)> = rounds.iter().map(|(a, b, _)| (*a, *b)).collect();
        let slowed: Vec<(f64, f64)> =
            rounds.iter().map(|(a, b, e)| (a * 2f64.powi(*e), b * 2f64.powi(*e))).collect();
        let ratio = paired_ratio(&plain, 0.95, 1).unwrap();
        prop_assert_eq!(paired_ratio(&slowed, 0.95, 1).unwrap(), ratio);
        prop_assert!(ratio.low <= ratio.value && ratio.value <= ratio.high);
    }

    #[test]
    fn figures_compare_as_their_quantiles(
        rounds in vec((1.0..10.0f64, 1.0..10.0f64, -8..8i32), 2..30), p in 0.0..0.5f64, fewer in 0..10usize
    ) {
        let drawings = Drawings::of(0..rounds.len() as u32, 5);
        let times = |of: fn(&(f64, f64, i32)) -> f64| -> Vec<(u32, f64)> {
            rounds.iter().enumerate().map(|(round, r)| (round as u32, of(r))).collect()
        };
        let figure = |times: &[(u32, f64)]| Figure::of(times, p, 0.95, &drawings).unwrap();
        let plain = |times: &[(u32, f64)]| quantile(&times.iter().map(|t| t.1).collect::<Vec<_>>(), p).unwrap();
        let (a, mut b) = (times(|r| r.0), times(|r| r.1));
        // The second was not in the last rounds.
        b.truncate(rounds.len().saturating_sub(fewer).max(1));
        let (x, y) = (figure(&a), figure(&b));
        prop_assert_eq!((x.value(), y.value()), (plain(&a), plain(&b)));
        let ratio = x.ratio(&y).unwrap();
        prop_assert_eq!(ratio.value, x.value() / y.value());
        prop_assert!(0.0 < ratio.low && ratio.low <= ratio.value && ratio.value <= ratio.high && ratio.high.is_finite());
        let (difference, interval) = x.difference(&y);
        prop_assert!(interval.low <= difference && difference <= interval.high);
        let (back, mirrored) = y.difference(&x);
        prop_assert_eq!(back, -difference);
        prop_assert!((mirrored.low + interval.high).abs() < 1e-9 && (mirrored.high + interval.low).abs() < 1e-9);
        let own = x.interval();
        prop_assert!(own.low <= x.value() && x.value() <= own.high);
        // Beside itself nothing differs, whatever the noise.
        prop_assert_eq!(x.ratio(&x).map(|r| (r.low, r.high)), Some((1.0, 1.0)));
        prop_assert_eq!(x.difference(&x).1, Interval { low: 0.0, high: 0.0 });
    }

    #[test]
    fn the_front_is_what_nothing_beats(
        points in vec([(0..12i32).prop_map(f64::from), (0..12i32).prop_map(f64::from)], 0..40)
    ) {
        let beats = |q: &[f64; 2], p: &[f64; 2]| q != p && q[0] <= p[0] && q[1] <= p[1];
        let (front, by) = (pareto_front(&points), dominators(&points));
        for (i, p) in points.iter().enumerate() {
            prop_assert_eq!(front[i], by[i].is_none());
            if let Some(dominator) = by[i] {
                prop_assert!(front[dominator] && beats(&points[dominator], p));
            } else {
                prop_assert!(!points.iter().any(|q| beats(q, p)));
            }
        }
        prop_assert!(points.is_empty() || front.contains(&true));
    }

    #[test]
    fn break_even_makes_the_costs_equal(
        ta in 1e-6..10.0f64, ba in 1.0..1e9f64, tb in 1e-6..10.0f64, bb in 1.0..1e9f64
    ) {
        let crossing = break_even_bandwidth(ta, ba, tb, bb);
        prop_assert_eq!(crossing.is_some(), (ta < tb && ba > bb) || (ta > tb && ba < bb));
        prop_assert_eq!(crossing, break_even_bandwidth(tb, bb, ta, ba));
        if let Some(bandwidth) = crossing {
            let (a, b) = (ta + ba / bandwidth, tb + bb / bandwidth);
            prop_assert!((a - b).abs() <= 1e-6 * (a + b), "{} {}", a, b);
        }
    }

    #[test]
    fn break_even_interval_holds_the_bandwidth(
        time in -1.0..1.0f64, below in 0.0..1.0f64, above in 0.0..1.0f64, bytes in 1.0..1e9f64
    ) {
        let interval = Interval { low: time - below, high: time + above };
        let crossing = break_even_interval(bytes, time, interval);
        prop_assert_eq!(crossing.is_some(), time > 0.0);
        if let Some(c) = crossing {
            prop_assert!(0.0 < c.low && c.low <= c.bandwidth && c.bandwidth <= c.high);
            prop_assert_eq!(c.high.is_finite(), time > below);
        }
    }
}

/// How often the 95% interval holds the true median of a skewed distribution (as times are: a floor and a
/// tail). The percentile interval of a median is known to cover a little less than it says with few values.
#[test]
fn coverage_of_the_interval() {
    for (n, least) in [(7, 0.84), (15, 0.88), (30, 0.90), (100, 0.91)] {
        let mut random = ChaCha8Rng::seed_from_u64(20_080_101);
        let trials = 1000;
        let held = (0..trials)
            .filter(|_| {
                let xs: Vec<f64> = (0..n).map(|_| 1.0 - random.random::<f64>().ln()).collect();
                let interval = median_interval(&xs, 0.95, 1).unwrap();
                (interval.low..=interval.high).contains(&(1.0 + std::f64::consts::LN_2))
            })
            .count();
        let share = held as f64 / f64::from(trials);
        assert!((least..=0.985).contains(&share), "{n} values: the interval held the median in {share}");
    }
}

/// Times that a neighbour makes longer by a factor of 1.18 to 1.45 in half of the rounds.
fn bimodal(random: &mut ChaCha8Rng) -> f64 {
    let slow: bool = random.random();
    let (calm, more): (f64, f64) = (random.random(), random.random());
    (1.0 - 0.01 * (1.0 - calm).ln()) * if slow { 1.18 + 0.27 * more } else { 1.0 }
}

/// How often the 95% interval holds the true 0.1 quantile of such times: with few rounds less often than it says, and
/// far more often than resamples alone would.
#[test]
fn coverage_of_a_low_quantile_on_bimodal_times() {
    let mut random = ChaCha8Rng::seed_from_u64(20_080_101);
    let truth = quantile(&(0..200_000).map(|_| bimodal(&mut random)).collect::<Vec<_>>(), 0.1).unwrap();
    for (n, least) in [(5, 0.70), (8, 0.74), (15, 0.82), (30, 0.92)] {
        let trials = 1000;
        let (mut held, mut resamples_alone) = (0, 0);
        for _ in 0..trials {
            let xs: Vec<f64> = (0..n).map(|_| bimodal(&mut random)).collect();
            let interval = quantile_interval(&xs, 0.1, 0.95, 1).unwrap();
            held += u32::from((interval.low..=interval.high).contains(&truth));
            let low = interval.low + reach(&xs, 0.1, 0.95);
            resamples_alone += u32::from((low..=interval.high).contains(&truth));
        }
        let [share, alone] = [held, resamples_alone].map(|n| f64::from(n) / f64::from(trials));
        println!("{n} values: held {share}, by resamples alone {alone}");
        assert!((least..=0.99).contains(&share), "{n} values: the interval held the quantile in {share}");
        assert!(share >= alone + 0.05 || n > 29, "{n} values: {alone} without reach, {share} with it");
    }
}
