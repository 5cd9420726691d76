//! Answers that can be checked by hand.

use weigh_stats::{
    EXACT_UP_TO, Interval, MedianDistribution, break_even_bandwidth, break_even_interval, dominators, median,
    median_interval, paired_ratio, pareto_front, quantile, summary,
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
        assert!(median_interval(xs, 0.95, 1).is_none());
    }
    assert!(median_interval(&[3.0], 0.95, 1).is_none(), "one value does not say how it would repeat");
    assert!(paired_ratio(&[(1.0, 2.0)], 0.95, 1).is_none());
    assert!(break_even_interval(&[], 2.0, 1.0, 0.95, 1).is_none());
    assert!(break_even_interval(&[(1.0, f64::NAN)], 2.0, 1.0, 0.95, 1).is_none());
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
    let d = MedianDistribution::of(&[1.0, 2.0, 3.0], 0).unwrap();
    assert!((d.share_above(2.5) - 7.0 / 27.0).abs() < 1e-12);
    assert!((d.share_above(1.5) - 20.0 / 27.0).abs() < 1e-12);
}

/// For n = 2 the four resamples are (1,1), (1,3), (3,1), (3,3).
#[test]
fn exact_distribution_of_two_values() {
    let d = MedianDistribution::of(&[3.0, 1.0], 0).unwrap();
    assert!((d.share_above(1.0) - 0.75).abs() < 1e-12);
    assert!((d.share_above(2.0) - 0.25).abs() < 1e-12);
}

/// All 4⁴ resamples of four values, listed.
#[test]
fn exact_distribution_of_four_values() {
    let xs = [1.0, 2.0, 4.0, 8.0];
    let all: Vec<f64> = (0..256)
        .map(|k| median(&[xs[k & 3], xs[k >> 2 & 3], xs[k >> 4 & 3], xs[k >> 6 & 3]]).unwrap())
        .collect();
    let d = MedianDistribution::of(&xs, 0).unwrap();
    for bound in [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 4.5, 5.0, 6.0, 8.0] {
        let listed = all.iter().filter(|m| **m > bound).count() as f64 / 256.0;
        assert!((d.share_above(bound) - listed).abs() < 1e-12, "above {bound}");
    }
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
    let steady = break_even_interval(&[(0.001, 0.011); 6], 1e6, 5e5, 0.95, 1).unwrap();
    for bandwidth in [steady.bandwidth, steady.low, steady.high] {
        assert!((bandwidth - 5e7).abs() < 1.0);
    }
    assert!((steady.share - 1.0).abs() < 1e-9);
    // In two rounds of five the smaller one was not slower: no upper end.
    let doubtful =
        break_even_interval(&[(2.0, 1.0), (2.0, 1.5), (2.0, 3.0), (2.0, 4.0), (2.0, 6.0)], 9.0, 4.0, 0.95, 1)
            .unwrap();
    assert_eq!((doubtful.bandwidth, doubtful.low, doubtful.high), (5.0, 1.25, f64::INFINITY));
    assert!(doubtful.share > 0.5 && doubtful.share < 0.95, "{doubtful:?}");
    let once = break_even_interval(&[(1.0, 2.0)], 9.0, 4.0, 0.95, 1).unwrap();
    assert_eq!((once.bandwidth, once.low, once.high), (5.0, 0.0, f64::INFINITY));
}
