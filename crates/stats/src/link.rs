//! Break-even bandwidth: the link speed at which two settings cost the same, if no round trips are waited for
//! (otherwise see [`crate::Bent`]).
//!
//! A setting costs `time + bytes ÷ bandwidth`. Two settings cost the same when sending the extra bytes of the faster
//! setting takes as long as the extra time of the smaller one.

/// The bandwidth in bytes per second at which both cost the same, from times in seconds and sizes in bytes. `None` if
/// there is no such speed: one is at least as good in both, or a value is not finite.
pub fn break_even_bandwidth(time_a: f64, bytes_a: f64, time_b: f64, bytes_b: f64) -> Option<f64> {
    let bandwidth = (bytes_a - bytes_b) / (time_b - time_a);
    (bandwidth.is_finite() && bandwidth > 0.0).then_some(bandwidth)
}
