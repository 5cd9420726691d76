//! What codecs say of their speed, at the levels between those that they say it of.

/// A codec that says nothing about its speed is taken for this fast, in MB/s.
const UNKNOWN_MB_S: f64 = 50.0;

/// The nominal rate at a level: between two known levels on a logarithmic scale, outside them the nearest.
pub fn nominal_rate(nominal: &[(i32, f64)], level: i32) -> f64 {
    let mut known: Vec<_> = nominal.iter().filter(|(_, r)| *r > 0.0).copied().collect();
    known.sort_by_key(|(l, _)| *l);
    let (Some(first), Some(last)) = (known.first(), known.last()) else { return UNKNOWN_MB_S };
    if level <= first.0 {
        return first.1;
    }
    if level >= last.0 {
        return last.1;
    }
    known
        .windows(2)
        .find(|w| level <= w[1].0)
        .map(|w| {
            let share = f64::from(level - w[0].0) / f64::from(w[1].0 - w[0].0);
            (w[0].1.ln() * (1.0 - share) + w[1].1.ln() * share).exp()
        })
        .unwrap_or(UNKNOWN_MB_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_between_levels_lie_between_their_neighbours() {
        let nominal = [(1, 100.0), (9, 10.0)];
        assert_eq!(nominal_rate(&nominal, 1), 100.0);
        assert_eq!(nominal_rate(&nominal, 22), 10.0);
        let middle = nominal_rate(&nominal, 5);
        assert!((middle - 31.62).abs() < 0.1, "{middle}");
        assert_eq!(nominal_rate(&[], 3), UNKNOWN_MB_S);
    }
}
