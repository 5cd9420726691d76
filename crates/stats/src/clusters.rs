//! Shares of events that come in clusters, such as slow requests: one slow second has many of them, so that they say less
//! than as many independent ones.

use crate::moderated::t_quantile;

/// With fewer clusters, their variance is not known.
pub const CLUSTERS: usize = 5;

/// A cluster: events, and those that count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cluster {
    pub all: u64,
    pub counted: u64,
}

/// The share of counted events with its interval at `confidence`: the ratio estimator of cluster sampling (Cochran,
/// "Sampling Techniques", 3rd edition (1977), section 2.11) gives the number of independent events that would say as
/// much, and Wilson's interval ("Probable inference", Journal of the American Statistical Association 22 (1927)) the ends
/// for that number. `None` without events, or with fewer than [`CLUSTERS`] clusters that have any.
pub fn share_interval(clusters: &[Cluster], confidence: f64) -> Option<(f64, f64, f64)> {
    let clusters: Vec<&Cluster> = clusters.iter().filter(|cluster| cluster.all > 0).collect();
    let (k, all) = (clusters.len() as f64, clusters.iter().map(|cluster| cluster.all).sum::<u64>() as f64);
    if clusters.len() < CLUSTERS {
        return None;
    }
    let share = clusters.iter().map(|cluster| cluster.counted).sum::<u64>() as f64 / all;
    let effective = all / effect(&clusters, share, all);
    let z = t_quantile(1.0 - confidence, k - 1.0);
    let (centre, weight) = (share + z * z / (2.0 * effective), 1.0 + z * z / effective);
    let reach = z * (share * (1.0 - share) / effective + z * z / (4.0 * effective * effective)).sqrt();
    Some((share, ((centre - reach) / weight).max(0.0), ((centre + reach) / weight).min(1.0)))
}

/// By how much the variance of a share is larger than that of independent events; 1: not larger.
fn effect(clusters: &[&Cluster], share: f64, all: f64) -> f64 {
    let k = clusters.len() as f64;
    let off = |cluster: &&Cluster| cluster.counted as f64 - share * cluster.all as f64;
    let squares: f64 = clusters.iter().map(off).map(|off| off * off).sum();
    let (of_clusters, independent) = (k / (k - 1.0) * squares / (all * all), share * (1.0 - share) / all);
    if of_clusters > independent && independent > 0.0 { of_clusters / independent } else { 1.0 }
}

/// The logarithm of the share of counted events, and its variance. Half an event is added, so that none of many has one
/// too (Anscombe, "On estimating binomial response relations", Biometrika 43 (1956)); the variance is that of a count,
/// times the effect of clusters. `None` as with [`share_interval`].
pub fn log_share(clusters: &[Cluster]) -> Option<(f64, f64)> {
    let clusters: Vec<&Cluster> = clusters.iter().filter(|cluster| cluster.all > 0).collect();
    if clusters.len() < CLUSTERS {
        return None;
    }
    let sum = |of: fn(&Cluster) -> u64| clusters.iter().map(|cluster| of(cluster)).sum::<u64>() as f64;
    let (all, counted) = (sum(|cluster| cluster.all), sum(|cluster| cluster.counted));
    let log = ((counted + 0.5) / (all + 1.0)).ln();
    Some((log, effect(&clusters, counted / all, all) / (counted + 0.5)))
}

/// The variance of the logarithm of a figure whose interval at `confidence` comes from this many clusters; `None` if an
/// end is not above zero, or there are fewer than two clusters.
pub fn log_variance((low, high): (f64, f64), confidence: f64, clusters: usize) -> Option<f64> {
    let reach = (high.ln() - low.ln()) / 2.0;
    let error = reach / t_quantile(1.0 - confidence, clusters.checked_sub(1)? as f64);
    (low > 0.0 && error.is_finite()).then_some(error * error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_that_agree_are_independent_events() {
        let even = [Cluster { all: 100, counted: 10 }; 20];
        let (share, low, high) = share_interval(&even, 0.95).unwrap();
        // Wilson's interval of 200 of 2,000 with t of 19 degrees: 0.0868 to 0.1149.
        assert!(
            (share - 0.1).abs() < 1e-12 && (low - 0.0869).abs() < 5e-4 && (high - 0.1149).abs() < 5e-4,
            "{low} {high}"
        );
        let bursts: Vec<Cluster> =
            (0..20).map(|i| Cluster { all: 100, counted: if i % 10 == 0 { 100 } else { 0 } }).collect();
        let (_, lower, higher) = share_interval(&bursts, 0.95).unwrap();
        assert!(higher - lower > 4.0 * (high - low), "{lower} {higher}");
    }

    #[test]
    fn none_of_many_still_has_an_upper_end() {
        let (share, low, high) = share_interval(&[Cluster { all: 200, counted: 0 }; 5], 0.95).unwrap();
        assert!(share == 0.0 && low.abs() < 1e-12 && high > 0.001 && high < 0.02, "{low} {high}");
        assert!(share_interval(&[Cluster { all: 9, counted: 1 }; 4], 0.95).is_none());
        assert!(share_interval(&[Cluster::default(); 9], 0.95).is_none());
    }

    #[test]
    fn logarithms_of_shares_and_intervals_have_the_variance_of_what_they_count() {
        let (log, variance) = log_share(&[Cluster { all: 200, counted: 10 }; 10]).unwrap();
        assert!((log - (100.5f64 / 2001.0).ln()).abs() < 1e-12 && (variance - 1.0 / 100.5).abs() < 1e-12);
        let (none, wide) = log_share(&[Cluster { all: 200, counted: 0 }; 10]).unwrap();
        assert!(none < log && (wide - 2.0).abs() < 1e-12);
        assert!(log_share(&[Cluster { all: 9, counted: 1 }; 4]).is_none());
        // t of 9 degrees is 2.262.
        let interval = ((-0.2262f64).exp(), 0.2262f64.exp());
        assert!((log_variance(interval, 0.95, 10).unwrap() - 0.01).abs() < 1e-4);
        assert_eq!(log_variance((0.0, 1.0), 0.95, 10), None);
        assert_eq!(log_variance((1.0, f64::INFINITY), 0.95, 10), None);
    }
}
