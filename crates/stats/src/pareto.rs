//! The Pareto front: what nothing else beats on every axis. Smaller is better on each.

/// For each point, whether it is on the front: no other point is at least as good on every axis and better
/// on one. Equal points stay together. A point with a value that is not finite is never on the front and
/// beats nothing.
pub fn pareto_front<const N: usize>(points: &[[f64; N]]) -> Vec<bool> {
    points.iter().map(|p| is_finite(p) && !points.iter().any(|q| dominates(q, p))).collect()
}

/// For each point, the index of the point that beats it most clearly, or `None` on the front.
///
/// Of the points on the front that beat it (there is always one), the one with the greatest relative gain on the
/// axis where it gains least, then the greatest sum of gains, then the lowest index.
pub fn dominators<const N: usize>(points: &[[f64; N]]) -> Vec<Option<usize>> {
    let front = pareto_front(points);
    points
        .iter()
        .map(|p| {
            let mut strongest: Option<(usize, (f64, f64))> = None;
            for (index, q) in points.iter().enumerate().filter(|(i, q)| front[*i] && dominates(q, p)) {
                let gain = gain(q, p);
                if strongest.is_none_or(|(_, best)| gain > best) {
                    strongest = Some((index, gain));
                }
            }
            strongest.map(|(index, _)| index)
        })
        .collect()
}

fn is_finite<const N: usize>(p: &[f64; N]) -> bool {
    p.iter().all(|x| x.is_finite())
}

/// Whether `q` is at least as good as `p` on every axis and better on one.
fn dominates<const N: usize>(q: &[f64; N], p: &[f64; N]) -> bool {
    let axes = || q.iter().zip(p);
    is_finite(q) && is_finite(p) && axes().all(|(a, b)| a <= b) && axes().any(|(a, b)| a < b)
}

/// (the smallest, the sum) of the relative gains of `q` over `p` on every axis, where smaller is better: the greater, the more clearly it beats.
fn gain<const N: usize>(q: &[f64; N], p: &[f64; N]) -> (f64, f64) {
    let gains =
        q.iter().zip(p).map(|(a, b)| if b == a { 0.0 } else { (b - a) / b.abs().max(f64::MIN_POSITIVE) });
    gains.fold((f64::INFINITY, 0.0), |(least, sum), gain| (least.min(gain), sum + gain))
}
