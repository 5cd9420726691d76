//! Properties that hold for any values.

use proptest::collection::vec;
use proptest::prelude::*;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use weigh_stats::{
    Bent, LEAST_SIDE, Rule, break_even_bandwidth, change_points, dominator, low_quantile_interval,
    lower_envelope, median, median_interval, quantile, summary,
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
        prop_assert_eq!(median_interval(&xs, 0.95), median_interval(&other, 0.95));
        prop_assert_eq!(low_quantile_interval(&xs, 0.1, 0.95), low_quantile_interval(&other, 0.1, 0.95));
    }

    #[test]
    fn quantiles_ascend(xs in values(40), a in 0.0..1.0f64, b in 0.0..1.0f64) {
        prop_assert!(quantile(&xs, a.min(b)).unwrap() <= quantile(&xs, a.max(b)).unwrap());
    }

    #[test]
    fn the_interval_holds_the_median_and_stays_in_the_range(xs in values(200), confidence in 0.5..0.999f64) {
        prop_assume!(xs.len() > 4);
        let interval = median_interval(&xs, confidence).unwrap();
        let m = median(&xs).unwrap();
        prop_assert!(interval.low <= m && m <= interval.high);
        prop_assert!(quantile(&xs, 0.0).unwrap() <= interval.low);
        prop_assert!(interval.high <= quantile(&xs, 1.0).unwrap());
    }

    #[test]
    fn the_interval_holds_the_quantile(xs in values(200), p in 0.0..0.5f64, confidence in 0.5..0.999f64) {
        prop_assume!(xs.len() > 1);
        let (low, high) = low_quantile_interval(&xs, p, confidence).unwrap();
        let value = quantile(&xs, p).unwrap();
        prop_assert!(low.is_none_or(|low| low <= value) && value <= high, "{:?} {} {}", low, value, high);
        prop_assert!(high <= quantile(&xs, 1.0).unwrap());
        let usual = low_quantile_interval(&xs, 0.1, 0.95).unwrap().0;
        prop_assert_eq!(usual.is_some(), xs.len() >= weigh_stats::TWO_SIDED_FROM);
        prop_assert!(xs.iter().any(|x| *x < 0.0) || low.is_none_or(|low| low >= 0.0), "{:?}", low);
    }

    #[test]
    fn more_confidence_never_narrows(xs in values(60), a in 0.5..0.999f64, b in 0.5..0.999f64) {
        prop_assume!(xs.len() > 4);
        let (less, more) = (median_interval(&xs, a.min(b)).unwrap(), median_interval(&xs, a.max(b)).unwrap());
        prop_assert!(more.low <= less.low && less.high <= more.high);
    }

    // A power of two scales without rounding, so equality is exact.
    #[test]
    fn scale_carries_over(xs in values(150), exponent in -20..20i32) {
        prop_assume!(xs.len() > 4);
        let k = 2f64.powi(exponent);
        let scaled: Vec<f64> = xs.iter().map(|x| x * k).collect();
        let (a, b) = (summary(&xs).unwrap(), summary(&scaled).unwrap());
        prop_assert_eq!((a.min * k, a.median * k, a.mad * k), (b.min, b.median, b.mad));
        let (a, b) = (median_interval(&xs, 0.95).unwrap(), median_interval(&scaled, 0.95).unwrap());
        prop_assert_eq!((a.low * k, a.high * k), (b.low, b.high));
    }

    #[test]
    fn a_common_slowdown_of_each_round_cancels(
        rounds in vec((0.1..10.0f64, 0.1..10.0f64, -8..8i32), 2..30)
    ) {
        let plain: Vec<(f64, f64)> = rounds.iter().map(|(a, b, _)| (*a, *b)).collect();
        let slowed: Vec<(f64, f64)> =
            rounds.iter().map(|(a, b, e)| (a * 2f64.powi(*e), b * 2f64.powi(*e))).collect();
        let value = median(&plain.iter().map(|(a, b)| a / b).collect::<Vec<_>>()).unwrap();
        let of = |pairs: Vec<(f64, f64)>| Rule::ALONE.compare(pairs, value).unwrap();
        let (ratio, slowed) = (of(plain), of(slowed));
        prop_assert!((ratio.low / slowed.low - 1.0).abs() < 1e-6 && (ratio.high / slowed.high - 1.0).abs() < 1e-6);
        prop_assert!(ratio.low <= ratio.value && ratio.value <= ratio.high);
    }

    #[test]
    fn a_comparison_turned_round_is_its_reverse(
        rounds in vec((0.1..10.0f64, 0.1..10.0f64), 2..30), value in 0.2..5.0f64
    ) {
        let of = |turned: bool| {
            let pairs = rounds.iter().map(|(a, b)| if turned { (*b, *a) } else { (*a, *b) });
            Rule::ALONE.compare(pairs, if turned { 1.0 / value } else { value }).unwrap()
        };
        let (there, back) = (of(false), of(true));
        prop_assert!((there.p - back.p).abs() < 1e-9 && there.is_claimed == back.is_claimed);
        prop_assert!((there.low * back.high - 1.0).abs() < 1e-6 && (there.high * back.low - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_dominator_is_no_worse_on_every_axis_and_better_on_one(
        points in vec([(0..12i32).prop_map(f64::from), (0..12i32).prop_map(f64::from)], 0..40)
    ) {
        let beats = |q: &[f64; 2], p: &[f64; 2]| q != p && q[0] <= p[0] && q[1] <= p[1];
        for point in &points {
            match dominator(point, &points) {
                Some(by) => prop_assert!(beats(&points[by], point)),
                None => prop_assert!(!points.iter().any(|q| beats(q, point))),
            }
        }
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
    fn the_lower_envelope_is_the_lowest_and_changes_where_two_cross(
        lines in vec((0.0..100.0f64, 0.1..10.0f64, vec(0.1..9.0f64, 0..4)), 1..12),
        xs in vec(0.0..200.0f64, 20)
    ) {
        let bent = |(fixed, slope, waits): &(f64, f64, Vec<f64>)| {
            let value = |x: f64| fixed + slope * x + waits.iter().map(|end| (end - x).max(0.0)).sum::<f64>();
            Bent::of(waits.iter().copied(), *slope, value)
        };
        let all: Vec<Bent> = lines.iter().map(bent).collect();
        let envelope = lower_envelope(&all);
        prop_assert!(envelope[0].1 == 0.0 && envelope.is_sorted_by(|a, b| a.1 <= b.1));
        for x in xs {
            let lowest = all.iter().map(|one| one.at(x)).fold(f64::INFINITY, f64::min);
            let (place, _) = envelope.iter().rev().find(|(_, from)| *from <= x).unwrap();
            prop_assert!(all[*place].at(x) - lowest <= 1e-9 * lowest, "{x}: {envelope:?}");
        }
        for pair in envelope.windows(2) {
            let ((one, _), (other, x)) = (pair[0], pair[1]);
            let (a, b) = (all[one].at(x), all[other].at(x));
            prop_assert!((a - b).abs() <= 1e-9 * a, "{x}: {a} {b}");
        }
    }

    #[test]
    fn a_bent_line_stays_in_its_band(
        fixed in -20.0..20.0f64, slope in -3.0..3.0f64, waits in vec(0.1..9.0f64, 0..4),
        x in 0.0..20.0f64, below in 0.0..5.0f64, above in 0.0..5.0f64, part in 0.0..1.0f64
    ) {
        let value = |x: f64| fixed + slope * x + waits.iter().map(|end| (end - x).max(0.0)).sum::<f64>();
        let bent = Bent::of(waits.iter().copied(), slope, value);
        let (low, high) = (value(x) - below, value(x) + above);
        let (left, right) = bent.stays(x, low, high);
        prop_assert!(0.0 <= left && left <= x && x <= right);
        let inside = left + (right.min(100.0) - left) * part;
        prop_assert!(low - 1e-9 <= value(inside) && value(inside) <= high + 1e-9, "{inside}");
        for end in [left, right].into_iter().filter(|end| *end > 0.0 && end.is_finite()) {
            prop_assert!((value(end) - low).abs().min((value(end) - high).abs()) <= 1e-9, "{end}");
        }
        for crossing in bent.crossings() {
            prop_assert!(crossing > 0.0 && value(crossing).abs() <= 1e-9 * (1.0 + crossing), "{crossing}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn change_points_ascend_and_leave_values_on_both_sides(xs in values(40), seed: u64) {
        let found = change_points(&xs, 0.05, seed).unwrap();
        let edges: Vec<usize> =
            std::iter::once(0).chain(found.iter().map(|point| point.at)).chain([xs.len()]).collect();
        prop_assert!(found.is_empty() || edges.windows(2).all(|edge| edge[1] - edge[0] >= LEAST_SIDE), "{found:?}");
        prop_assert!(found.iter().all(|point| 0.0 < point.p && point.p <= 0.05));
        prop_assert_eq!(&found, &change_points(&xs, 0.05, seed).unwrap());
    }

    #[test]
    fn change_points_depend_on_no_unit(xs in vec(0.0..10.0f64, 6..30), by in 0..6i32, to in -8..8i32) {
        // Powers of two, so that not a digit is lost.
        let scaled: Vec<f64> = xs.iter().map(|x| x * 2f64.powi(by)).collect();
        let places = |xs: &[f64]| -> Vec<usize> {
            change_points(xs, 0.05, 1).unwrap().iter().map(|point| point.at).collect()
        };
        prop_assert_eq!(places(&xs), places(&scaled));
        // A step that dwarfs the noise is found where it is, if there are values enough.
        prop_assume!(xs.len() >= 12);
        let middle = xs.len() / 2;
        let step = 100.0 + f64::from(to);
        let stepped: Vec<f64> = (0..xs.len()).map(|at| xs[at] / 100.0 + if at < middle { 0.0 } else { step }).collect();
        prop_assert!(places(&stepped).contains(&middle));
    }
}

#[test]
fn no_change_points_of_what_is_no_number_or_no_level() {
    assert_eq!(change_points(&[1.0, f64::NAN], 0.05, 1), None);
    assert_eq!(change_points(&[1.0, 2.0], 0.0, 1), None);
    assert_eq!(change_points(&[], 0.05, 1), Some(vec![]));
    assert_eq!(change_points(&[3.0; 50], 0.05, 1), Some(vec![]));
}
