//! Results that can be checked by hand.

use weigh_stats::{
    Rule, break_even_bandwidth, dominator, low_quantile_interval, median, median_interval, quantile, summary,
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
        assert!(median_interval(xs, 0.95).is_none() && low_quantile_interval(xs, 0.1, 0.95).is_none());
    }
    assert!(low_quantile_interval(&[3.0], 0.1, 0.95).is_none(), "one value does not say how it would repeat");
    assert!(Rule::ALONE.compare([(1.0, 2.0)], 0.5).is_none());
}

/// A machine that slows down fivefold for half of the rounds: medians differ widely, the ratio within rounds does not.
#[test]
fn a_slow_half_cancels_in_the_ratio() {
    let slow = |round: u32| if round < 5 { 5.0 } else { 1.0 };
    let pairs: Vec<(f64, f64)> = (0..10).map(|r| (3.0 * slow(r), 2.0 * slow(r))).collect();
    let ratio = Rule::ALONE.compare(pairs.iter().copied(), 1.5).unwrap();
    assert!(
        (ratio.low - 1.5).abs() < 1e-9 && (ratio.high - 1.5).abs() < 1e-9 && ratio.is_claimed,
        "{ratio:?}"
    );
    let spoilt = [pairs, vec![(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)]].concat();
    assert_eq!(Rule::ALONE.compare(spoilt, 1.5), Some(ratio), "pairs without a ratio are left out");
}

#[test]
fn the_dominator_gains_most_where_it_gains_least() {
    let points = [[1.0, 9.0], [2.0, 5.0], [2.0, 5.0], [3.0, 6.0], [9.0, 1.0], [9.0, 8.0], [2.0, 9.0]];
    let by: Vec<Option<usize>> = points.iter().map(|point| dominator(point, &points)).collect();
    assert_eq!(by, [None, None, None, Some(1), None, Some(1), Some(0)]);
    assert_eq!(dominator(&[1.0, 2.0, 3.0], &[[1.0, 2.0, 2.0], [0.0, 9.0, 9.0]]), Some(0));
    assert_eq!(dominator(&[1.0, 1.0], &[[f64::NAN, 0.0]]), None);
    assert_eq!(dominator(&[f64::NAN, 0.0], &[[1.0, 1.0]]), None);
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
