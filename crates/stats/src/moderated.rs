//! Tests whether two configurations differ, from few rounds: the moderated t statistic of log ratios within rounds.
//!
//! With five rounds, the variance of one comparison is poorly known. A test with this variance finds too many
//! differences where it is small by chance. A run has hundreds of comparisons on one machine, so each variance is
//! shrunk towards their common variance, the more, the better they agree (Smyth, "Linear models and empirical Bayes
//! methods for assessing differential expression in microarray experiments", Statistical Applications in Genetics and
//! Molecular Biology 3 (2004), section 6.2 for the moments of the logarithm of a variance).

use std::cell::Cell;

use special::{Beta, Gamma};

/// The variance of a comparison without any spread is set to this share of the median variance of all, because its
/// logarithm must be finite.
const LEAST_VARIANCE: f64 = 1e-5;

/// More degrees of freedom do not change a verdict, but cost the incomplete beta function as many steps; too few are
/// conservative.
const MOST_FREEDOM: f64 = 500.0;

/// The logarithm of a ratio, observed in several rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogRatio {
    /// The mean of the natural logarithms.
    pub mean: f64,
    /// Their variance (divided by rounds − 1).
    pub variance: f64,
    pub rounds: usize,
}

impl LogRatio {
    /// First ÷ second of pairs measured in the same round. Pairs that are not positive and finite are left out; `None`
    /// with fewer than two remaining pairs.
    pub fn of(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<LogRatio> {
        let logs: Vec<f64> =
            pairs.into_iter().map(|(a, b)| a.ln() - b.ln()).filter(|log| log.is_finite()).collect();
        let rounds = logs.len();
        if rounds < 2 {
            return None;
        }
        let mean = logs.iter().sum::<f64>() / rounds as f64;
        let squares: f64 = logs.iter().map(|log| (log - mean) * (log - mean)).sum();
        Some(LogRatio { mean, variance: squares / (rounds - 1) as f64, rounds })
    }

    fn freedom(&self) -> f64 {
        (self.rounds - 1) as f64
    }
}

/// The common variance of the comparisons of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shrinkage {
    /// The variance that they are shrunk towards.
    pub variance: f64,
    /// Its degrees of freedom; infinite if the variances agree perfectly.
    pub freedom: f64,
    /// The degrees of freedom of all comparisons together: the upper limit for a single one.
    pub all: f64,
}

impl Shrinkage {
    /// From the comparisons of a run; a single comparison is not shrunk. `None` if no comparison has a spread.
    pub fn of(comparisons: &[LogRatio]) -> Option<Shrinkage> {
        let variances: Vec<f64> = comparisons.iter().map(|c| c.variance).filter(|v| *v > 0.0).collect();
        let floor = crate::summary::median(&variances)? * LEAST_VARIANCE;
        let all: f64 = comparisons.iter().map(LogRatio::freedom).sum();
        // The logarithm of a variance, minus its mean bias for these degrees of freedom.
        let logs: Vec<f64> = comparisons
            .iter()
            .map(|c| {
                let half = c.freedom() / 2.0;
                c.variance.max(floor).ln() - half.digamma() + half.ln()
            })
            .collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        if logs.len() < 2 {
            return Some(Shrinkage { variance: mean.exp(), freedom: 0.0, all });
        }
        let spread = logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>() / (n - 1.0);
        let own = comparisons.iter().map(|c| (c.freedom() / 2.0).trigamma()).sum::<f64>() / n;
        if spread <= own {
            return Some(Shrinkage { variance: mean.exp(), freedom: f64::INFINITY, all });
        }
        let half = inverse_trigamma(spread - own);
        let variance = (mean + half.digamma() - half.ln()).exp();
        Some(Shrinkage { variance, freedom: 2.0 * half, all })
    }

    /// The probability of a ratio at least this far from 1, in either direction, if there were no difference.
    pub fn p_value(&self, of: &LogRatio) -> f64 {
        let (error, freedom) = self.error(of);
        match of.mean.abs() / error {
            t if t.is_finite() => two_sided(t, freedom),
            _ => 1.0,
        }
    }

    /// The interval of the ratio at `confidence`, around its geometric mean over rounds.
    pub fn interval(&self, of: &LogRatio, confidence: f64) -> (f64, f64) {
        let (error, freedom) = self.error(of);
        let reach = error * t_quantile(1.0 - confidence, freedom);
        ((of.mean - reach).exp(), (of.mean + reach).exp())
    }

    /// The same for amounts of which only a part varies; the variance is multiplied by this factor.
    pub fn scaled(mut self, factor: f64) -> Shrinkage {
        self.variance *= factor;
        self
    }

    /// The standard error of the mean with the shrunk variance, and its degrees of freedom.
    fn error(&self, of: &LogRatio) -> (f64, f64) {
        let own = of.freedom();
        let variance = if self.freedom.is_infinite() {
            self.variance
        } else {
            (self.freedom * self.variance + own * of.variance) / (self.freedom + own)
        };
        ((variance / of.rounds as f64).sqrt(), (self.freedom + own).min(self.all.max(own)).min(MOST_FREEDOM))
    }
}

/// Student's t, both tails: the probability beyond ±`t`.
pub(crate) fn two_sided(t: f64, freedom: f64) -> f64 {
    let half = freedom / 2.0;
    (freedom / (freedom + t * t)).inc_beta(half, 0.5, half.ln_beta(0.5))
}

thread_local! {
    /// The latest quantiles by probability and degrees of freedom: the intervals of a family ask for the same few again and again, and each
    /// takes some thousand steps.
    static LATEST: Cell<[(f64, f64, f64); 4]> = const { Cell::new([(f64::NAN, f64::NAN, f64::NAN); 4]) };
}

/// The t with the probability `p` beyond ±t.
pub(crate) fn t_quantile(p: f64, freedom: f64) -> f64 {
    let latest = LATEST.get();
    if let Some((_, _, t)) = latest.into_iter().find(|(of, with, _)| (*of, *with) == (p, freedom)) {
        return t;
    }
    let t = solved(p, freedom);
    LATEST.set([(p, freedom, t), latest[0], latest[1], latest[2]]);
    t
}

fn solved(p: f64, freedom: f64) -> f64 {
    let half = freedom / 2.0;
    let x = p.clamp(f64::MIN_POSITIVE, 1.0).inv_inc_beta(half, 0.5, half.ln_beta(0.5));
    (freedom * (1.0 - x) / x).sqrt()
}

/// The x with trigamma(x) = `y`, by Newton's method on 1 ÷ trigamma, which is nearly linear (Smyth 2004, appendix).
fn inverse_trigamma(y: f64) -> f64 {
    if y > 1e7 {
        return 1.0 / y.sqrt();
    }
    if y < 1e-6 {
        return 1.0 / y;
    }
    let mut x = 0.5 + 1.0 / y;
    for _ in 0..50 {
        let tri = x.trigamma();
        let step = tri * (1.0 - tri / y) / tetragamma(x);
        x += step;
        if -step / x < 1e-8 {
            break;
        }
    }
    x
}

/// The derivative of trigamma, by a central difference: [`inverse_trigamma`] needs only an approximation.
fn tetragamma(x: f64) -> f64 {
    let h = x * 1e-4;
    ((x + h).trigamma() - (x - h).trigamma()) / (2.0 * h)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_of_t_and_trigamma() {
        // Tables of Student's t: 2.776 at 4 degrees, 12.706 at 1, 1.960 at very many.
        for (freedom, t) in [(4.0, 2.776_445), (1.0, 12.706_205), (1000.0, 1.962_339), (11.0, 2.200_985)] {
            assert!((two_sided(t, freedom) - 0.05).abs() < 1e-6, "{freedom}");
            assert!((t_quantile(0.05, freedom) - t).abs() < 1e-4, "{freedom}: {}", t_quantile(0.05, freedom));
        }
        assert!((two_sided(8.610_302, 4.0) - 0.001).abs() < 1e-8);
        for x in [0.05, 0.5, 2.0, 30.0, 4000.0] {
            let found = inverse_trigamma(x.trigamma());
            assert!((found / x - 1.0).abs() < 1e-6, "{x}: {found}");
        }
    }

    #[test]
    fn one_comparison_alone_is_the_paired_t_test() {
        // Logarithms 0.1, 0.2, 0.3, 0.4, 0.5: mean 0.3, standard error 0.070711, t = 4.2426 at 4 degrees.
        let one = LogRatio::of((1..=5).map(|i| ((f64::from(i) / 10.0).exp(), 1.0))).unwrap();
        let p = Shrinkage::of(&[one]).unwrap().p_value(&one);
        assert!((p - 0.013_236).abs() < 1e-5, "{p}");
    }

    #[test]
    fn variances_are_shrunk_by_as_much_as_they_agree() {
        let of = |spread: f64| LogRatio { mean: 0.1, variance: spread * spread, rounds: 5 };
        let alike = [0.02, 0.021, 0.019, 0.02, 0.022].map(of);
        let apart = [0.0002, 0.02, 0.2, 0.002, 1.0].map(of);
        let (alike, apart) = (Shrinkage::of(&alike).unwrap(), Shrinkage::of(&apart).unwrap());
        assert!(alike.freedom.is_infinite() && apart.freedom < 2.0, "{alike:?} {apart:?}");
        let lucky = of(0.0001);
        assert!(alike.p_value(&lucky) > 1e3 * Shrinkage::of(&[lucky]).unwrap().p_value(&lucky));
    }

    #[test]
    fn without_a_spread_there_is_no_test() {
        let same = LogRatio::of([(2.0, 1.0), (2.0, 1.0)]).unwrap();
        assert!(Shrinkage::of(&[same]).is_none() && Shrinkage::of(&[]).is_none());
        assert!(LogRatio::of([(1.0, 1.0)]).is_none());
        assert!(LogRatio::of([(1.0, 1.0), (0.0, 1.0), (f64::NAN, 1.0)]).is_none());
    }
}
