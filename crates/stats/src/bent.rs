//! Bent lines: continuous, piecewise linear functions from 0 on. The cost of a setting over the time that a byte takes
//! on a link is such a function.

/// A continuous, piecewise linear function.
#[derive(Clone, Debug, PartialEq)]
pub struct Bent {
    /// (x, y), ascending by x; the first at 0.
    points: Vec<(f64, f64)>,
    /// The slope after the last point.
    slope: f64,
}

impl Bent {
    /// A function that is linear between these bends (in any order; bends not above 0 are left out) and has the slope
    /// `slope` after the last.
    pub fn of(bends: impl IntoIterator<Item = f64>, slope: f64, value: impl Fn(f64) -> f64) -> Bent {
        let mut at: Vec<f64> = bends.into_iter().filter(|x| *x > 0.0 && x.is_finite()).collect();
        at.push(0.0);
        at.sort_by(f64::total_cmp);
        at.dedup();
        Bent { points: at.into_iter().map(|x| (x, value(x))).collect(), slope }
    }

    /// The x of its bends; 0 is the first.
    pub fn bends(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|point| point.0)
    }

    /// Its value at an x of 0 or more.
    pub fn at(&self, x: f64) -> f64 {
        let piece = self.piece(x);
        let (from, y) = self.points[piece];
        y + (x - from) * self.slope(piece)
    }

    /// The difference from another function.
    #[must_use]
    pub fn minus(&self, other: &Bent) -> Bent {
        Bent::of(self.bends().chain(other.bends()), self.slope - other.slope, |x| self.at(x) - other.at(x))
    }

    /// Every x above 0 at which it changes its sign, ascending.
    pub fn crossings(&self) -> Vec<f64> {
        let mut found = Vec::new();
        let mut sign = 0.0;
        for (piece, (from, y)) in self.points.iter().copied().enumerate() {
            if sign == 0.0 && y != 0.0 {
                sign = y.signum();
            }
            // The limit of the last piece.
            let slope = self.slope(piece);
            let then = self.end(piece).map_or(if slope == 0.0 { y } else { slope }, |end| end.1);
            if then * sign < 0.0 {
                found.push(from - y / slope);
            }
            if then != 0.0 {
                sign = then.signum();
            }
        }
        found
    }

    /// How far around `x`, to either side, it stays between two values: infinite if it never leaves them, and at least
    /// 0. It is between them at `x`.
    pub fn stays(&self, x: f64, low: f64, high: f64) -> (f64, f64) {
        let own = self.piece(x);
        let (mut left, mut right) = (0.0, f64::INFINITY);
        for piece in (0..=own).rev() {
            let end = if piece == own { x } else { self.points[piece + 1].0 };
            if let Some(at) = self.leaves(piece, (end, self.points[piece].0), low, high) {
                left = at;
                break;
            }
        }
        for piece in own..self.points.len() {
            let begin = if piece == own { x } else { self.points[piece].0 };
            let end = self.end(piece).map_or(f64::INFINITY, |end| end.0);
            if let Some(at) = self.leaves(piece, (begin, end), low, high) {
                right = at;
                break;
            }
        }
        (left, right)
    }

    /// Where a piece leaves the band on the way from one x to another.
    fn leaves(&self, piece: usize, (from, to): (f64, f64), low: f64, high: f64) -> Option<f64> {
        let slope = self.slope(piece);
        let falls = (to - from) * slope < 0.0;
        if slope == 0.0 || from == to {
            return None;
        }
        let (start, y) = self.points[piece];
        let at = start + (if falls { low } else { high } - y) / slope;
        let is_before_the_end = if to > from { at < to } else { at > to };
        // Rounding may put it before the start of the way.
        let at = if to > from { at.max(from) } else { at.min(from) };
        (at.is_finite() && is_before_the_end).then_some(at)
    }

    fn piece(&self, x: f64) -> usize {
        self.points.partition_point(|point| point.0 <= x).saturating_sub(1)
    }

    fn end(&self, piece: usize) -> Option<(f64, f64)> {
        self.points.get(piece + 1).copied()
    }

    fn slope(&self, piece: usize) -> f64 {
        let (from, y) = self.points[piece];
        self.end(piece).map_or(self.slope, |(to, end)| (end - y) / (to - from))
    }
}

/// The lowest of several functions for each x from 0 on, in order: its index, and the x from which on it is the lowest.
/// Of equal functions it is the one with the smallest slope, then the first.
pub fn lower_envelope(all: &[Bent]) -> Vec<(usize, f64)> {
    let mut bends: Vec<f64> = all.iter().flat_map(Bent::bends).collect();
    bends.sort_by(f64::total_cmp);
    bends.dedup();
    let mut envelope: Vec<(usize, f64)> = Vec::new();
    for (place, from) in bends.iter().enumerate() {
        let to = bends.get(place + 1).copied().unwrap_or(f64::INFINITY);
        // All are linear here.
        let straight = |one: &Bent| (one.at(*from), one.slope(one.piece(*from)));
        let lines: Vec<(f64, f64)> = all.iter().map(straight).collect();
        let lowest = (0..lines.len()).min_by(|a, b| {
            let ((ya, sa), (yb, sb)) = (lines[*a], lines[*b]);
            ya.total_cmp(&yb).then(sa.total_cmp(&sb))
        });
        let Some(mut current) = lowest else { break };
        // At the bend itself, the previous function is equally low except for rounding.
        if let Some((last, _)) = envelope.last()
            && (lines[*last].0 - lines[current].0).abs() <= 1e-12 * lines[current].0.abs()
        {
            current = *last;
        }
        if envelope.last().is_none_or(|last| last.0 != current) {
            envelope.push((current, *from));
        }
        loop {
            let (y, slope) = lines[current];
            let crossing = |one: usize| {
                let (other, less) = lines[one];
                (less < slope).then(|| from + ((other - y) / (slope - less)).max(0.0))
            };
            let begin = envelope.last().map_or(*from, |last| last.1);
            let next = (0..lines.len())
                .filter_map(|one| Some((crossing(one)?, one)))
                .filter(|(at, _)| *at < to)
                .min_by(|a, b| a.0.total_cmp(&b.0).then(lines[a.1].1.total_cmp(&lines[b.1].1)));
            let Some((at, next)) = next else { break };
            current = next;
            envelope.push((next, at.max(begin)));
        }
    }
    envelope
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What costs `fixed`, `slope` per x, and up to each of these bends as much as is left to it.
    fn bent(fixed: f64, slope: f64, waits: &[f64]) -> Bent {
        let value = |x: f64| fixed + slope * x + waits.iter().map(|end| (end - x).max(0.0)).sum::<f64>();
        Bent::of(waits.iter().copied(), slope, value)
    }

    #[test]
    fn it_is_what_it_is_made_of() {
        let one = bent(1.0, 2.0, &[3.0, 1.0]);
        for (x, y) in [(0.0, 5.0), (0.5, 5.0), (1.0, 5.0), (2.0, 6.0), (3.0, 7.0), (10.0, 21.0)] {
            assert_eq!(one.at(x), y, "{x}");
        }
        assert_eq!(one.bends().collect::<Vec<_>>(), [0.0, 1.0, 3.0]);
        assert_eq!(one.minus(&bent(1.0, 2.0, &[])).at(0.5), 3.0);
    }

    #[test]
    fn two_cross_where_their_difference_is_none() {
        // Windows more at the fast end, and more for each x: ahead between 2 and 5 alone.
        let (large, small) = (bent(0.0, 3.0, &[4.0, 4.0, 4.0]), bent(10.0, 1.0, &[]));
        let found = large.minus(&small).crossings();
        assert_eq!(found, [2.0, 5.0]);
        assert_eq!(bent(3.0, 1.0, &[]).minus(&bent(0.0, 2.0, &[])).crossings(), [3.0]);
        // At 0 and never again; and never.
        assert!(bent(0.0, 1.0, &[]).crossings().is_empty());
        assert!(bent(1.0, 1.0, &[]).crossings().is_empty());
        // It touches none and goes back.
        assert!(bent(-4.0, 1.0, &[4.0]).crossings().is_empty());
        assert!(bent(4.0, 0.0, &[4.0]).minus(&bent(4.0, 0.0, &[])).crossings().is_empty());
    }

    #[test]
    fn how_far_it_stays_in_a_band() {
        // 0 at 2, 1 before, up to 8 after.
        let one = bent(-4.0, 1.0, &[]);
        assert_eq!(one.stays(4.0, -1.0, 2.0), (3.0, 6.0));
        assert_eq!(one.stays(4.0, f64::NEG_INFINITY, f64::INFINITY), (0.0, f64::INFINITY));
        assert_eq!(one.stays(4.0, -9.0, 0.5), (0.0, 4.5));
        let bent = bent(0.0, 3.0, &[4.0, 4.0, 4.0]);
        assert_eq!(bent.stays(5.0, 12.0, 18.0), (0.0, 6.0));
        assert_eq!(bent.stays(5.0, 13.0, 18.0), (13.0 / 3.0, 6.0));
    }

    #[test]
    fn the_envelope_is_the_lowest_everywhere() {
        let all = [
            bent(0.0, 5.0, &[4.0, 2.0, 1.0]),
            bent(1.0, 4.0, &[4.0, 2.0]),
            bent(3.0, 2.5, &[2.0]),
            bent(6.0, 1.0, &[]),
            bent(6.5, 1.0, &[]),
            bent(20.0, 0.5, &[]),
        ];
        let envelope = lower_envelope(&all);
        assert!(envelope.is_sorted_by(|a, b| a.1 <= b.1) && envelope[0].1 == 0.0, "{envelope:?}");
        for step in 0..4000 {
            let x = f64::from(step) * 0.01;
            let lowest = all.iter().map(|one| one.at(x)).fold(f64::INFINITY, f64::min);
            let (place, _) = envelope.iter().rev().find(|(_, from)| *from <= x).unwrap();
            assert!(all[*place].at(x) - lowest < 1e-9, "{x}: {envelope:?}");
        }
        assert!(envelope.iter().all(|(place, _)| *place != 4));
        assert!(lower_envelope(&[]).is_empty());
    }
}
