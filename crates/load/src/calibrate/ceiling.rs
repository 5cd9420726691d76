//! What the blocks of a calibration come to, and how to read it.

use serde::{Deserialize, Serialize};
use weigh_stats::median;

use super::Load;
use crate::result::LoadResult;

/// The ceiling of this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Calibration {
    /// One for each load, in the order of the plan.
    pub ceilings: Vec<Ceiling>,
}

/// What one load came to: medians over rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Ceiling {
    /// The load.
    #[serde(flatten)]
    pub load: Load,
    /// Completed requests a second, with this target on this machine.
    pub requests_per_second: f64,
    /// Megabytes (10⁶) of bodies a second.
    pub megabytes_per_second: f64,
    /// CPU microseconds of the generator for one request, in user mode and in the kernel.
    pub cpu_us: f64,
    /// The kernel's part of them, 0 to 1.
    pub kernel_share: f64,
    /// Requests a second for each core that the generator has to itself: above it the generator is the limit.
    pub per_core: f64,
}

impl Ceiling {
    /// Sums up the rounds of one load; in each something was completed.
    pub fn of(load: Load, rounds: &[LoadResult]) -> Ceiling {
        let over = |what: fn(&LoadResult) -> f64| {
            let values: Vec<f64> = rounds.iter().map(what).collect();
            median(&values).unwrap_or(0.0)
        };
        let cpu_us = over(|r| cpu(r) / completed(r) * 1e6);
        Ceiling {
            load,
            requests_per_second: over(|r| completed(r) / r.seconds),
            megabytes_per_second: over(|r| body_bytes(r) / r.seconds / 1e6),
            cpu_us,
            kernel_share: over(|r| r.client.system_seconds / cpu(r)),
            per_core: if cpu_us > 0.0 { 1e6 / cpu_us } else { 0.0 },
        }
    }
}

impl Calibration {
    /// How to read it: one sentence for each body length that was verified over kept connections by one thread, one for
    /// the price of a connection a request, and one about the cores.
    pub fn reading(&self) -> Vec<String> {
        let one = || self.ceilings.iter().filter(|c| c.load.threads == 1 && c.load.verified);
        let mut said: Vec<String> = one().filter(|c| c.load.keepalive).map(Ceiling::sentence).collect();
        let smallest =
            |keepalive| one().filter(|c| c.load.keepalive == keepalive).min_by_key(|c| c.load.body_bytes);
        if let (Some(kept), Some(opened)) = (smallest(true), smallest(false)) {
            let times = opened.cpu_us / kept.cpu_us;
            said.push(format!("A connection a request costs {times:.1} times as much at {}.", opened.size()));
        }
        said.push(self.cores().to_owned());
        said
    }

    fn cores(&self) -> &'static str {
        let shares = |c: &Ceiling| c.load.shares_cores;
        if self.ceilings.iter().all(shares) {
            "The generator and the target shared cores: rates are lower than a server elsewhere would allow; read the CPU time."
        } else if self.ceilings.iter().any(shares) {
            "With all threads the generator and the target shared a core: read the CPU time of those rows, not their rates."
        } else {
            "The generator and the target ran on cores of their own."
        }
    }
}

impl Ceiling {
    fn size(&self) -> String {
        format!("{} KB", self.load.body_bytes >> 10)
    }

    fn sentence(&self) -> String {
        let (size, us, rate) = (self.size(), self.cpu_us, thousands(self.per_core));
        format!(
            "On this machine the generator needs {us:.1} µs of CPU a verified request of {size}; above {rate} requests/s a core it is the limit."
        )
    }
}

/// A number with three significant digits and commas, as 102,000.
fn thousands(value: f64) -> String {
    let step = 10_f64.powf((value.max(1.0).log10().floor() - 2.0).max(0.0));
    let digits = format!("{:.0}", (value / step).round() * step);
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn completed(result: &LoadResult) -> f64 {
    result.classes.iter().map(|c| c.counts.completed as f64).sum()
}

fn body_bytes(result: &LoadResult) -> f64 {
    result.classes.iter().map(|c| c.counts.body_bytes as f64).sum()
}

fn cpu(result: &LoadResult) -> f64 {
    result.client.user_seconds + result.client.system_seconds
}
