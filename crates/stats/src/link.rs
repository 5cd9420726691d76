//! Break-even bandwidth: the link speed at which two settings cost the same.
//!
//! One costs `time + bytes ÷ bandwidth`. Two settings cost the same where the faster one's extra bytes take as
//! long to send as the smaller one's extra time.

use crate::bootstrap::MedianDistribution;

/// The bandwidth in bytes a second at which both cost the same, from times in seconds and sizes in bytes.
/// `None` when there is no such speed: one is at least as good in both, or a value is not finite.
pub fn break_even_bandwidth(time_a: f64, bytes_a: f64, time_b: f64, bytes_b: f64) -> Option<f64> {
    let bandwidth = (bytes_a - bytes_b) / (time_b - time_a);
    (bandwidth.is_finite() && bandwidth > 0.0).then_some(bandwidth)
}

/// A break-even bandwidth with its interval, in bytes a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// From the median of the differences inside rounds.
    pub bandwidth: f64,
    /// Lower end of the interval; 0 when one round is all there is.
    pub low: f64,
    /// Upper end; infinite when so many resamples do not cross that the interval has no upper end.
    pub high: f64,
    /// Share of resamples (0 to 1) in which the two cross at all.
    pub share: f64,
}

/// The break-even bandwidth from times in seconds measured in the same rounds, (first, second), and sizes in
/// bytes. The difference of the times is formed inside each round; its median and the bootstrap distribution
/// of that median (see [`MedianDistribution`]) carry over, because the bandwidth falls steadily as the difference
/// grows.
///
/// `None` without rounds, with a value that is not finite, or when the medians do not cross.
pub fn break_even_interval(
    times: &[(f64, f64)],
    bytes_a: f64,
    bytes_b: f64,
    confidence: f64,
    seed: u64,
) -> Option<Crossing> {
    // The time that the one with fewer bytes takes more.
    let sign = if bytes_a > bytes_b { 1.0 } else { -1.0 };
    let extra_bytes = (bytes_a - bytes_b).abs();
    let extra_times: Vec<f64> = times.iter().map(|(a, b)| sign * (b - a)).collect();
    let distribution = MedianDistribution::of(&extra_times, seed)?;
    let bandwidth = break_even_bandwidth(0.0, extra_bytes, distribution.median(), 0.0)?;
    if times.len() < 2 {
        return Some(Crossing { bandwidth, low: 0.0, high: f64::INFINITY, share: 1.0 });
    }
    let (shortest, longest) = distribution.interval(confidence);
    let at = |time: f64| break_even_bandwidth(0.0, extra_bytes, time, 0.0).unwrap_or(f64::INFINITY);
    Some(Crossing { bandwidth, low: at(longest), high: at(shortest), share: distribution.share_above(0.0) })
}
