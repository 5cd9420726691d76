//! Multiple comparisons: the largest p value for which a difference is claimed.

/// Holm's step-down ("A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
/// (1979)). If only differences up to the cutoff are claimed, the probability of one or more wrong claims is at most
/// `error` (0.05), for any dependence.
///
/// Claiming something with this cutoff whose p value is not among these adds a comparison that is not corrected for.
pub fn holm_cutoff(ps: &[f64], error: f64) -> f64 {
    let sorted = ascending(ps);
    let step = |at: usize| error / (sorted.len() - at).max(1) as f64;
    let rejected = sorted.iter().enumerate().take_while(|(at, p)| **p <= step(*at)).count();
    step(rejected.min(sorted.len().saturating_sub(1)))
}

/// Benjamini and Hochberg's step-up ("Controlling the false discovery rate", Journal of the Royal Statistical Society B
/// 57 (1995)): of the differences claimed up to the cutoff, on average at most a share of `rate` (0.05) is wrong.
pub fn benjamini_hochberg_cutoff(ps: &[f64], rate: f64) -> f64 {
    let sorted = ascending(ps);
    let step = |at: usize| rate * (at + 1) as f64 / sorted.len().max(1) as f64;
    (0..sorted.len()).rev().find(|at| sorted[*at] <= step(*at)).map_or(step(0), step)
}

fn ascending(ps: &[f64]) -> Vec<f64> {
    let mut sorted = ps.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutoffs_of_a_worked_example() {
        let ps = [0.01, 0.04, 0.03, 0.005];
        // Holm: 0.005 ≤ 0.0125, 0.01 ≤ 0.0167, 0.03 > 0.025.
        let holm = holm_cutoff(&ps, 0.05);
        assert_eq!(ps.iter().filter(|p| **p <= holm).count(), 2, "{holm}");
        // Benjamini and Hochberg: the largest, 0.04 ≤ 0.05.
        let found = benjamini_hochberg_cutoff(&ps, 0.05);
        assert_eq!(ps.iter().filter(|p| **p <= found).count(), 4, "{found}");
        assert_eq!(holm_cutoff(&[], 0.05), 0.05);
        assert_eq!(benjamini_hochberg_cutoff(&[0.9, 0.8], 0.05), 0.025);
    }
}
