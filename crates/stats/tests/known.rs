//! Answers that can be checked by hand.

use weigh_stats::{
    Drawings, EXACT_UP_TO, Figure, Interval, QuantileDistribution, break_even_bandwidth, break_even_interval,
    dominators, median, median_interval, paired_ratio, pareto_front, quantile, quantile_interval, reach,
    summary,
};

#[test]
fn summary_of_known_values() {
    let s = summary(&[5.0, 1.0, 4.0, 2.0, 100.0]).unwrap();
    assert_eq!((s.n, s.min, s.median, s.mad), (5, 1.0, 4.0, 2.0));
    assert_eq!(median(&[1.0, 2.0, 3.0, 10.0]), Some(2.5));
    assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.9), Some(4.6));
    assert_eq!(quantile(&[7.0], 0.3), Some(7.0));
}

#[test]
fn nothing_and_not_a_number_have_no_answer() {
    for xs in [&[][..], &[1.0, f64::NAN, 2.0], &[1.0, f64::INFINITY]] {
        assert!(summary(xs).is_none() && median(xs).is_none() && quantile(xs, 0.5).is_none());
        assert!(median_interval(xs, 0.95, 1).is_none() && quantile_interval(xs, 0.1, 0.95, 1).is_none());
        assert_eq!(reach(xs, 0.1, 0.95), 0.0);
    }
    assert!(median_interval(&[3.0], 0.95, 1).is_none(), "one value does not say how it would repeat");
    assert!(paired_ratio(&[(1.0, 2.0)], 0.95, 1).is_none());
    assert!(quantile_interval(&[3.0], 0.1, 0.95, 1).is_none());
    assert!(break_even_interval(1.0, f64::NAN, Interval { low: 1.0, high: 2.0 }).is_none());
    let drawings = Drawings::of([1, 2], 1);
    for rounds in [&[][..], &[(1, f64::NAN)], &[(1, 1.0), (3, 1.0)]] {
        assert!(Figure::of(rounds, 0.1, 0.95, &drawings).is_none(), "{rounds:?}");
    }
}

#[test]
fn up_to_five_values_the_interval_is_the_range() {
    for n in 2..=5 {
        let xs: Vec<f64> = (0..n).map(|i| f64::from(i * i)).collect();
        let range = Interval { low: 0.0, high: f64::from((n - 1) * (n - 1)) };
        assert_eq!(median_interval(&xs, 0.95, 1), Some(range), "{n} values");
    }
}

/// For n = 3 the 27 equally likely resamples can be listed: 7 have the median 1, 13 have 2, 7 have 3.
#[test]
fn exact_distribution_of_three_values() {
    let d = QuantileDistribution::of(&[1.0, 2.0, 3.0], 0.5, 0).unwrap();
    assert!((d.share_above(2.5) - 7.0 / 27.0).abs() < 1e-12);
    assert!((d.share_above(1.5) - 20.0 / 27.0).abs() < 1e-12);
}

/// For n = 2 the four resamples are (1,1), (1,3), (3,1), (3,3).
#[test]
fn exact_distribution_of_two_values() {
    let d = QuantileDistribution::of(&[3.0, 1.0], 0.5, 0).unwrap();
    assert!((d.share_above(1.0) - 0.75).abs() < 1e-12);
    assert!((d.share_above(2.0) - 0.25).abs() < 1e-12);
}

/// All 4⁴ resamples of four values, listed, at places on a value and between two.
#[test]
fn exact_distribution_of_four_values() {
    let xs = [1.0, 2.0, 4.0, 8.0];
    for p in [0.0, 0.1, 0.2, 1.0 / 3.0, 0.5, 0.8, 1.0] {
        let all: Vec<f64> = (0..256)
            .map(|k| quantile(&[xs[k & 3], xs[k >> 2 & 3], xs[k >> 4 & 3], xs[k >> 6 & 3]], p).unwrap())
            .collect();
        let d = QuantileDistribution::of(&xs, p, 0).unwrap();
        assert_eq!(Some(d.value()), quantile(&xs, p));
        for bound in [0.5, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 4.5, 5.0, 6.0, 8.0] {
            let listed = all.iter().filter(|m| **m > bound).count() as f64 / 256.0;
            assert!((d.share_above(bound) - listed).abs() < 1e-12, "above {bound} at {p}");
        }
    }
}

/// Five values may all lie above the quantile, so the low end goes below them, by the gap or by half; forty may not.
#[test]
fn the_low_end_reaches_below_few_values() {
    let xs = [10.0, 10.5, 13.0, 14.0, 14.0];
    assert_eq!(reach(&xs, 0.1, 0.95), 0.5);
    let interval = quantile_interval(&xs, 0.1, 0.95, 1).unwrap();
    assert!(interval.low == 9.5 && interval.high > 10.5 && interval.high < 14.0, "{interval:?}");
    assert_eq!(reach(&[10.0, 90.0, 91.0], 0.1, 0.95), 5.0);
    let many: Vec<f64> = (0..40).map(f64::from).collect();
    assert_eq!(reach(&many, 0.1, 0.95), 0.0);
    assert_eq!(reach(&many[2..6], 0.5, 0.9), 1.0, "2⁻⁴ is more than a twentieth");
    assert_eq!(reach(&many[2..7], 0.5, 0.9), 0.0, "2⁻⁵ is less than a twentieth");
}

/// On both sides of the limit between the exact distribution and drawing, the intervals agree.
#[test]
fn exact_and_drawn_agree() {
    let xs = |n: usize| (0..n).map(|i| ((i * 7919) % n) as f64 / n as f64).collect::<Vec<f64>>();
    for n in [EXACT_UP_TO - 1, EXACT_UP_TO] {
        let exact = median_interval(&xs(n), 0.95, 1).unwrap();
        let drawn = median_interval(&xs(EXACT_UP_TO + 1), 0.95, 1).unwrap();
        assert!((exact.low - drawn.low).abs() < 0.03, "{exact:?} {drawn:?}");
        assert!((exact.high - drawn.high).abs() < 0.03, "{exact:?} {drawn:?}");
    }
}

#[test]
fn half_width() {
    let interval = Interval { low: 90.0, high: 110.0 };
    assert_eq!(interval.half_width_relative(100.0), 0.1);
    assert_eq!(interval.half_width_relative(0.0), f64::INFINITY);
    assert_eq!(Interval { low: 0.0, high: 0.0 }.half_width_relative(0.0), 0.0);
    assert!(interval.overlaps(&Interval { low: 110.0, high: 120.0 }));
    assert!(!interval.overlaps(&Interval { low: 110.1, high: 120.0 }));
}

/// A machine that slows down fivefold for half of the rounds: medians differ wildly, the paired ratio does not.
#[test]
fn a_slow_half_cancels_in_the_paired_ratio() {
    let slow = |round: u32| if round < 5 { 5.0 } else { 1.0 };
    let pairs: Vec<(f64, f64)> = (0..10).map(|r| (3.0 * slow(r), 2.0 * slow(r))).collect();
    let ratio = paired_ratio(&pairs, 0.95, 1).unwrap();
    assert_eq!((ratio.value, ratio.low, ratio.high), (1.5, 1.5, 1.5));
    let spoilt = [pairs, vec![(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)]].concat();
    assert_eq!(paired_ratio(&spoilt, 0.95, 1), Some(ratio), "pairs without a ratio are left out");
}

/// Times with two modes that come and go independently: medians lie in either mode, figures in the lower one.
#[test]
fn figures_stay_in_the_lower_mode() {
    let times = |base: f64, slow: &[u32]| -> Vec<(u32, f64)> {
        (1..=9)
            .map(|r| (r, if slow.contains(&r) { base * 1.4 } else { base + f64::from(r) / 1000.0 }))
            .collect()
    };
    let drawings = Drawings::of(1..=9, 1);
    let figure = |rounds: &[(u32, f64)]| Figure::of(rounds, 0.1, 0.95, &drawings).unwrap();
    let (a, b) = (figure(&times(3.0, &[2, 5, 8])), figure(&times(2.0, &[1, 4, 8])));
    let ratio = a.ratio(&b).unwrap();
    assert!((ratio.value - 1.5).abs() < 0.01 && ratio.low > 1.4 && ratio.high < 1.6, "{ratio:?}");
    let (difference, interval) = a.difference(&b);
    assert!((difference - 1.0).abs() < 0.01 && interval.low > 0.9 && interval.high < 1.1, "{interval:?}");
    let sum = a.clone().plus(&b.scaled(2.0)).shifted(1.0);
    assert!((sum.value() - 8.0).abs() < 0.02, "{sum:?}");
    let interval = sum.interval();
    assert!(interval.low < sum.value() && sum.value() < interval.high);
    assert!(figure(&[(1, 0.0)]).ratio(&a).is_none(), "nothing is a share of nothing");
}

/// One in three of these rounds is four times as slow, for both: the interval of the ratio has no width but rounding.
#[test]
fn slow_rounds_cancel_in_the_ratio_of_figures() {
    let slow = |round: u32| if round.is_multiple_of(3) { 4.0 } else { 1.0 };
    let drawings = Drawings::of(1..=6, 1);
    let rounds = |base: f64| (1..=6).map(|r| (r, base * slow(r))).collect::<Vec<_>>();
    let figure = |base| Figure::of(&rounds(base), 0.1, 0.95, &drawings).unwrap();
    let ratio = figure(3.0).ratio(&figure(2.0)).unwrap();
    for end in [ratio.value, ratio.low, ratio.high] {
        assert!((end - 1.5).abs() < 1e-12, "{ratio:?}");
    }
}

#[test]
fn front_and_dominators() {
    let points = [[1.0, 9.0], [2.0, 5.0], [2.0, 5.0], [3.0, 6.0], [9.0, 1.0], [9.0, 8.0], [2.0, 9.0]];
    assert_eq!(pareto_front(&points), [true, true, true, false, true, false, false]);
    assert_eq!(dominators(&points), [None, None, None, Some(1), None, Some(1), Some(0)]);
    assert_eq!(pareto_front::<2>(&[]), Vec::<bool>::new());
    assert_eq!(pareto_front(&[[1.0, 2.0, 3.0], [1.0, 2.0, 2.0], [0.0, 9.0, 9.0]]), [false, true, true]);
    assert_eq!(pareto_front(&[[f64::NAN, 0.0], [1.0, 1.0]]), [false, true]);
    // Beside the largest double both gains round to the same; the dominator is on the front all the same.
    assert_eq!(dominators(&[[f64::MAX, 0.0], [2.0, 0.0], [1.0, 0.0]]), [Some(2), Some(2), None]);
}

#[test]
fn break_even_of_known_settings() {
    // 1 s and 1 MB against 11 s and 0.5 MB: half a megabyte costs 10 s at 50 kB/s.
    assert_eq!(break_even_bandwidth(1.0, 1e6, 11.0, 5e5), Some(5e4));
    assert_eq!(break_even_bandwidth(11.0, 5e5, 1.0, 1e6), Some(5e4));
    assert_eq!(break_even_bandwidth(1.0, 1e6, 2.0, 2e6), None, "the first is better in both");
    assert_eq!(break_even_bandwidth(1.0, 1e6, 1.0, 2e6), None, "no time to trade");
    assert_eq!(break_even_bandwidth(1.0, 1e6, 2.0, 1e6), None, "no bytes to trade");
    assert_eq!(break_even_bandwidth(1.0, 1.0, 1.0, 1.0), None);
}

#[test]
fn break_even_interval_of_known_settings() {
    let crossing = break_even_interval(5e5, 0.01, Interval { low: 0.008, high: 0.02 }).unwrap();
    for (found, expected) in [(crossing.bandwidth, 5e7), (crossing.low, 2.5e7), (crossing.high, 6.25e7)] {
        assert!((found - expected).abs() < 1.0, "{crossing:?}");
    }
    let doubtful = break_even_interval(5.0, 1.0, Interval { low: -0.5, high: 4.0 }).unwrap();
    assert_eq!((doubtful.bandwidth, doubtful.low, doubtful.high), (5.0, 1.25, f64::INFINITY));
    assert!(break_even_interval(5.0, -1.0, Interval { low: -2.0, high: 1.0 }).is_none(), "no time to trade");
}
