//! A scripted store with known response times: what the worker says of GET at every percentile, against when answers left.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use super::common::{Targets, progress, rounds};
use super::peer::{Peer, Script};
use super::study;

/// What a percentile may be off.
const RELATIVE: f64 = 0.01;
/// Or this, in seconds.
const ABSOLUTE: f64 = 20e-6;
/// How long the n-th answer takes.
type Delay = fn(u64) -> Duration;

/// Transactions that are looked at.
const TRANSACTIONS: usize = 1000;
const QUANTILES: [(&str, f64); 5] = [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];
/// None of the borders between two delays is at a percentile that is looked at.
const SCRIPTS: [(&str, Delay); 2] = [
    ("constant 5 ms", |_| Duration::from_millis(5)),
    ("bimodal 2/20 ms", |n| Duration::from_millis(if n % 7 == 3 { 20 } else { 2 })),
];
const DRIVERS: [&str; 2] = ["phpredis", "socket"];

/// Has this process and all that it starts from now on share one processor: to wake another one, on a hypervisor above all, takes a tenth
/// of a millisecond, and that would be all that is seen. The store spins before it answers, so that this one is awake.
fn share_a_processor() -> Result<()> {
    let (all, mut one) = (sched_getaffinity(Pid::from_raw(0))?, CpuSet::new());
    let first = (0..CpuSet::count()).find(|cpu| all.is_set(*cpu).unwrap_or(false));
    one.set(first.context("there is no processor")?)?;
    sched_setaffinity(Pid::from_raw(0), &one).context("a processor cannot be chosen")
}

/// Prints a line a percentile.
pub fn measure(targets: &mut Targets) -> Result<()> {
    let rounds = rounds(3);
    share_a_processor()?;
    for (name, delay) in SCRIPTS {
        for driver in DRIVERS {
            let mut found: Vec<Vec<(f64, f64)>> = vec![Vec::new(); QUANTILES.len()];
            for round in 1..=rounds {
                progress(&format!("{name}, {driver}, round {round} of {rounds}"));
                let way = way(driver)?;
                for (all, (said, truth)) in found.iter_mut().zip(pairs(delay, driver)?) {
                    all.push((said - way, truth));
                }
            }
            for ((label, _), pairs) in QUANTILES.iter().zip(&found) {
                line(targets, &format!("{name}, {driver}, {label}"), pairs);
            }
        }
    }
    Ok(())
}

/// Seconds that request and answer are on their way through the kernel, and both sides take to wake up: what is beyond the truth, in the
/// middle, where the store answers at once.
fn way(driver: &str) -> Result<f64> {
    let (said, truth) = pairs(|_| Duration::ZERO, driver)?[0];
    progress(&format!("{driver}: the way takes {:.0} µs", (said - truth) * 1e6));
    Ok(said - truth)
}

/// Seconds that the worker says, and that are true, at each quantile.
fn pairs(delay: Delay, driver: &str) -> Result<Vec<(f64, f64)>> {
    let room = tempfile::tempdir()?;
    let peer = Peer::start(room.path(), Script { delay, ..Script::default() });
    let text = study::study("integer", TRANSACTIONS as u64, driver, "mixes = [\"reads\"]\nworkers = [1]\n");
    let visit = study::visit(room.path(), &text, &peer.url())?;
    let notes = peer.notes();
    ensure!(notes.len() >= TRANSACTIONS, "the peer answered {} requests only", notes.len());
    // What came before is filling and warming up; nothing comes after but the removal of keys.
    let timed = &notes[notes.len() - TRANSACTIONS..];
    let mut truth: Vec<f64> = timed.iter().map(|note| (note.left - note.came).as_secs_f64()).collect();
    truth.sort_unstable_by(f64::total_cmp);
    let said = visit.get.unpack().map_err(anyhow::Error::msg)?;
    ensure!(said.count() == TRANSACTIONS as u64, "the worker counted {} reads", said.count());
    let pair = |q: f64| {
        let rank = ((q * TRANSACTIONS as f64).ceil() as usize).clamp(1, TRANSACTIONS);
        Ok((said.quantile(q).context("nothing was counted")?, truth[rank - 1]))
    };
    QUANTILES.iter().map(|(_, q)| pair(*q)).collect()
}

fn line(targets: &mut Targets, name: &str, pairs: &[(f64, f64)]) {
    let mut differences: Vec<f64> = pairs.iter().map(|(said, truth)| said - truth).collect();
    differences.sort_unstable_by(f64::total_cmp);
    let median = weigh_stats::median(&differences).unwrap_or(f64::NAN);
    let truths: Vec<f64> = pairs.iter().map(|(_, truth)| *truth).collect();
    let truth = weigh_stats::median(&truths).unwrap_or(f64::NAN);
    let measured = format!(
        "{:+.0} µs [{:+.0}, {:+.0}] from {:.3} ms",
        median * 1e6,
        differences[0] * 1e6,
        differences[differences.len() - 1] * 1e6,
        truth * 1e3
    );
    targets.line(name, &measured, "within 1% or 20 µs", median.abs() <= (truth * RELATIVE).max(ABSOLUTE));
}
