//! Whether the rounds of one time are in two clusters, so that it has two figures and not one.

use crate::summary::sorted;

/// The clusters are apart if the lowest value of the upper one is over this many times the highest of the lower one.
pub const APART: f64 = 1.5;

/// Values that are close together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The number of values, at least 1.
    pub count: usize,
    pub low: f64,
    pub high: f64,
}

/// The lower and the upper of two clusters of amounts (none below zero), parted at the widest ratio of two neighbours if that is over `APART`.
/// `None` if there is no such gap, or an amount is not finite. One high value alone is not a cluster: a disturbance adds
/// time to a round, and low quantiles leave it out. One low value is: they are drawn to it.
pub fn bimodal(values: &[f64]) -> Option<[Mode; 2]> {
    let sorted = sorted(values)?;
    let gap = |at: &usize| sorted[*at] / sorted[at - 1];
    let at = (1..sorted.len().saturating_sub(1))
        .filter(|at| sorted[at - 1] > 0.0 && gap(at) > APART)
        .max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let mode = |part: &[f64]| Mode { count: part.len(), low: part[0], high: part[part.len() - 1] };
    let (lower, upper) = sorted.split_at(at);
    Some([mode(lower), mode(upper)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_two_clusters_are_parted_at_the_widest_gap() {
        let parted = bimodal(&[4.4, 5.0, 1.4, 4.2, 4.9, 4.3, 4.6]).unwrap();
        assert_eq!(parted[0], Mode { count: 1, low: 1.4, high: 1.4 });
        assert_eq!(parted[1], Mode { count: 6, low: 4.2, high: 5.0 });
        let parted = bimodal(&[1.0, 9.0, 1.6, 1.1, 8.0]).unwrap();
        assert_eq!((parted[0].count, parted[1].count), (3, 2), "8 is five times 1.6");
    }

    #[test]
    fn one_cluster_is_not_parted() {
        assert_eq!(bimodal(&[1.0, 1.4, 1.9, 2.5, 3.0]), None, "no neighbours are over 1.5 apart");
        assert_eq!(bimodal(&[1.0, 1.0, 1.5, 1.5]), None, "1.5 is not over 1.5");
        assert_eq!(bimodal(&[1.0, 1.1, 1.0, 1.2, 7.0]), None, "one disturbed round");
    }

    #[test]
    fn nothing_is_said_of_few_or_impossible_values() {
        for values in [&[][..], &[1.0], &[1.0, 4.0], &[1.0, f64::NAN, 4.0, 4.0], &[0.0, 0.0, 0.0]] {
            assert_eq!(bimodal(values), None, "{values:?}");
        }
    }
}
