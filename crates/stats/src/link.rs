//! Break-even bandwidth: the link speed at which two settings cost the same, where nobody waits for round trips ([`crate::Bent`] is for where they do).
//!
//! One costs `time + bytes ÷ bandwidth`. Two settings cost the same where the faster one's extra bytes take as
//! long to send as the smaller one's extra time.

/// The bandwidth in bytes a second at which both cost the same, from times in seconds and sizes in bytes.
/// `None` when there is no such speed: one is at least as good in both, or a value is not finite.
pub fn break_even_bandwidth(time_a: f64, bytes_a: f64, time_b: f64, bytes_b: f64) -> Option<f64> {
    let bandwidth = (bytes_a - bytes_b) / (time_b - time_a);
    (bandwidth.is_finite() && bandwidth > 0.0).then_some(bandwidth)
}
