//! Many comparisons at once: up to which p value a difference is claimed.

/// Holm's step-down ("A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979)): with differences
/// claimed up to the cutoff and no further, one or more of all claims is wrong with probability `error` (0.05) at most, whatever depends on what.
///
/// Something that has no p value among these but is claimed by the same cutoff is one comparison more than was corrected for.
pub fn holm_cutoff(ps: &[f64], error: f64) -> f64 {
    let sorted = ascending(ps);
    let step = |at: usize| error / (sorted.len() - at).max(1) as f64;
    let rejected = sorted.iter().enumerate().take_while(|(at, p)| **p <= step(*at)).count();
    step(rejected.min(sorted.len().saturating_sub(1)))
}

/// Benjamini and Hochberg's step-up ("Controlling the false discovery rate", Journal of the Royal Statistical Society B 57 (1995)): of the differences
/// claimed up to the cutoff, a share of `rate` (0.05) is wrong at most, in the mean.
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
