//! Break-even bandwidth: the link speed at which two settings cost the same.
//!
//! One costs `time + bytes ÷ bandwidth`. Two settings cost the same where the faster one's extra bytes take as
//! long to send as the smaller one's extra time.

use crate::interval::Interval;

/// The bandwidth in bytes a second at which both cost the same, from times in seconds and sizes in bytes.
/// `None` when there is no such speed: one is at least as good in both, or a value is not finite.
pub fn break_even_bandwidth(time_a: f64, bytes_a: f64, time_b: f64, bytes_b: f64) -> Option<f64> {
    let bandwidth = (bytes_a - bytes_b) / (time_b - time_a);
    (bandwidth.is_finite() && bandwidth > 0.0).then_some(bandwidth)
}

/// A break-even bandwidth with its interval, in bytes a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The bandwidth.
    pub bandwidth: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end; infinite when the extra time may be none.
    pub high: f64,
}

/// The break-even bandwidth of a setting that saves `bytes` and takes `time` seconds more, known within `interval`. The
/// interval carries over, because the bandwidth falls steadily as the time grows.
///
/// `None` when the two do not cross, or a value is not finite.
pub fn break_even_interval(bytes: f64, time: f64, interval: Interval) -> Option<Crossing> {
    let bandwidth = break_even_bandwidth(0.0, bytes, time, 0.0)?;
    let at = |time: f64| break_even_bandwidth(0.0, bytes, time, 0.0);
    Some(Crossing {
        bandwidth,
        low: at(interval.high).unwrap_or(0.0).min(bandwidth),
        high: at(interval.low).unwrap_or(f64::INFINITY).max(bandwidth),
    })
}
