//! Dominance: which points are better on every axis. Smaller is better on each. A point with a value that is not finite
//! dominates nothing and is not dominated.

/// The index of the point that dominates `p` most clearly: no worse on every axis and better on one. It has the largest
/// relative gain on the axis where it gains least, then the largest sum of gains, then the lowest index.
pub fn dominator<const N: usize>(p: &[f64; N], points: &[[f64; N]]) -> Option<usize> {
    let beats =
        points.iter().enumerate().filter(|(_, q)| dominates(q, p)).map(|(index, q)| (index, gain(q, p)));
    beats.reduce(|a, b| if b.1 > a.1 { b } else { a }).map(|(index, _)| index)
}

fn is_finite<const N: usize>(p: &[f64; N]) -> bool {
    p.iter().all(|x| x.is_finite())
}

/// Whether `q` is at least as good as `p` on every axis and better on one.
fn dominates<const N: usize>(q: &[f64; N], p: &[f64; N]) -> bool {
    let axes = || q.iter().zip(p);
    is_finite(q) && is_finite(p) && axes().all(|(a, b)| a <= b) && axes().any(|(a, b)| a < b)
}

/// (the smallest, the sum) of the relative gains of `q` over `p` on every axis: the larger, the more clearly it
/// dominates.
fn gain<const N: usize>(q: &[f64; N], p: &[f64; N]) -> (f64, f64) {
    let gains =
        q.iter().zip(p).map(|(a, b)| if b == a { 0.0 } else { (b - a) / b.abs().max(f64::MIN_POSITIVE) });
    gains.fold((f64::INFINITY, 0.0), |(least, sum), gain| (least.min(gain), sum + gain))
}
