//! Does `weigh compare` find what changed, and nothing else?
//!
//! Simulated runs go through the whole chain, from records to findings. Real pairs of runs are of this machine, with
//! nothing changed between them. `WEIGH_BENCH_ROUNDS` is the number of real pairs, `WEIGH_BENCH_MINUTES` the time of the
//! interleaved pair; 0 leaves that part out.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../stats/tests/simulation/noise.rs"]
#[allow(dead_code, reason = "the simulation uses the rest of it")]
mod noise;
mod real;
mod simulated;

use std::process::ExitCode;

use anyhow::Result;
use common::Targets;

fn main() -> ExitCode {
    common::end(measure())
}

fn measure() -> Result<Targets> {
    let mut targets = Targets::default();
    simulated::injected(&mut targets);
    simulated::nothing_changed(&mut targets);
    let number =
        |name: &str, default: u32| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (pairs, minutes) = (number("WEIGH_BENCH_ROUNDS", 20), number("WEIGH_BENCH_MINUTES", 10));
    if pairs > 0 {
        real::nothing_changed(&mut targets, pairs)?;
    }
    if minutes > 0 {
        real::paired(&mut targets, minutes)?;
    }
    Ok(targets)
}
