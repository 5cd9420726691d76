//! Scripted stores with known response times: what the worker says of GET at every percentile, beside what is true.
//!
//! One store is inside the worker's process and spins for as long as it is told; what it wrote down is the truth, and the worker is held
//! against it. The other is a peer on a socket. What the worker says beyond the peer's own time is no error: it is the kernel, the waking
//! of both sides and the driver, which a client waits for. It is shown beside what the barest client sees beyond it.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use weigh_model::record::ClientVisit;

use super::bare;
use super::common::{Targets, progress, rounds};
use super::inside;
use super::peer::{Peer, Script};
use super::study::{self, ALONE, TRANSACTIONS};

/// What a percentile may be off.
const RELATIVE: f64 = 0.01;
/// Or this, in seconds.
const ABSOLUTE: f64 = 20e-6;
/// How long the n-th answer takes.
type Delay = fn(u64) -> Duration;
/// Seconds that the worker says, and that are true.
type Pair = (f64, f64);

const QUANTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p75", 0.75), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];
/// None of the borders between two delays is at a percentile that is looked at. The same in microseconds for the store inside.
const SCRIPTS: [(&str, Delay, &str); 2] = [
    ("constant 5 ms", |_| Duration::from_millis(5), "5000"),
    ("bimodal 2/20 ms", |n| Duration::from_millis(if n % 7 == 3 { 20 } else { 2 }), "2000,20000"),
];
/// Where the worker itself would be seen first.
const SHORT: (&str, &str) = ("constant 50 µs", "50");
const DRIVERS: [&str; 2] = ["phpredis", "socket"];

/// Has this process and all that it starts from now on share one processor: to wake another one, on a hypervisor above all, takes a tenth
/// of a millisecond, and that would be all that is seen.
fn share_a_processor() -> Result<()> {
    let (all, mut one) = (sched_getaffinity(Pid::from_raw(0))?, CpuSet::new());
    let first = (0..CpuSet::count()).find(|cpu| all.is_set(*cpu).unwrap_or(false));
    one.set(first.context("there is no processor")?)?;
    sched_setaffinity(Pid::from_raw(0), &one).context("a processor cannot be chosen")
}

/// Prints a line a percentile.
pub fn measure(targets: &mut Targets) -> Result<()> {
    let rounds = rounds(3);
    for (name, micros) in SCRIPTS.map(|(name, _, micros)| (name, micros)).into_iter().chain([SHORT]) {
        lines(targets, &format!("{name}, in the process"), rounds, || {
            let (visit, truth) = inside::visit(micros)?;
            pairs(&visit, truth)
        })?;
    }
    share_a_processor()?;
    for (name, delay, _) in SCRIPTS {
        for driver in DRIVERS {
            beyond(&format!("{name}, {driver}"), rounds, || on_a_socket(delay, driver))?;
        }
    }
    Ok(())
}

fn lines(
    targets: &mut Targets,
    name: &str,
    rounds: usize,
    visit: impl Fn() -> Result<Vec<Pair>>,
) -> Result<()> {
    let mut found: Vec<Vec<Pair>> = vec![Vec::new(); QUANTILES.len()];
    for round in 1..=rounds {
        progress(&format!("{name}, round {round} of {rounds}"));
        for (all, pair) in found.iter_mut().zip(visit()?) {
            all.push(pair);
        }
    }
    for ((label, _), pairs) in QUANTILES.iter().zip(&found) {
        line(targets, &format!("{name}, {label}"), pairs);
    }
    Ok(())
}

/// Prints what a client waits for beyond a store's own time, and the barest client: microseconds at each percentile, medians over rounds.
fn beyond(name: &str, rounds: usize, visit: impl Fn() -> Result<[Pair; QUANTILES.len()]>) -> Result<()> {
    let mut found = Vec::new();
    for round in 1..=rounds {
        progress(&format!("{name}, round {round} of {rounds}"));
        found.push(visit()?);
    }
    println!("{name}: the worker says, beyond the store's own time (and the barest client):");
    for (index, (label, _)) in QUANTILES.iter().enumerate() {
        let median = |of: fn(&Pair) -> f64| {
            let all: Vec<f64> = found.iter().map(|pairs| of(&pairs[index]) * 1e6).collect();
            weigh_stats::median(&all).unwrap_or(f64::NAN)
        };
        println!("  {label:<5} {:>+7.0} µs ({:+.0} µs)", median(|pair| pair.0), median(|pair| pair.1));
    }
    Ok(())
}

/// One visit to a peer: seconds beyond its own time that the worker says, and that the barest client sees, at each quantile.
fn on_a_socket(delay: Delay, driver: &str) -> Result<[Pair; QUANTILES.len()]> {
    let room = tempfile::tempdir()?;
    let peer = Peer::start(room.path(), Script { delay, ..Script::default() });
    let mut bare = bare::reads(peer.socket(), TRANSACTIONS)?;
    let (seen, own) = (quantiles(&mut bare), quantiles(&mut times(&peer)?));
    let text = study::study("redis", "integer", TRANSACTIONS as u64, driver, ALONE);
    let visit = study::visit(room.path(), &text, &["--store", &peer.url()], None)?;
    let pairs = pairs(&visit, times(&peer)?)?;
    Ok(std::array::from_fn(|index| (pairs[index].0 - pairs[index].1, seen[index] - own[index])))
}

/// Seconds of the last answers. What came before is filling and warming up; nothing comes after but the removal of keys.
fn times(peer: &Peer) -> Result<Vec<f64>> {
    let notes = peer.notes();
    ensure!(notes.len() >= TRANSACTIONS, "the peer answered {} requests only", notes.len());
    let timed = &notes[notes.len() - TRANSACTIONS..];
    Ok(timed.iter().map(|note| (note.left - note.came).as_secs_f64()).collect())
}

/// What the worker says at each quantile, and what is true.
fn pairs(visit: &ClientVisit, mut truth: Vec<f64>) -> Result<Vec<Pair>> {
    let said = visit.get.unpack().map_err(anyhow::Error::msg)?;
    ensure!(said.count() == TRANSACTIONS as u64, "the worker counted {} reads", said.count());
    let pair = |((_, q), truth)| Ok((said.quantile(q).context("nothing was counted")?, truth));
    QUANTILES.into_iter().zip(quantiles(&mut truth)).map(pair).collect()
}

/// The smallest of these that this many are not above, as a histogram has it.
fn quantiles(seconds: &mut [f64]) -> [f64; QUANTILES.len()] {
    seconds.sort_unstable_by(f64::total_cmp);
    QUANTILES.map(|(_, q)| {
        let rank = (q * seconds.len() as f64).ceil() as usize;
        seconds[rank.clamp(1, seconds.len()) - 1]
    })
}

fn line(targets: &mut Targets, name: &str, pairs: &[Pair]) {
    let mut differences: Vec<f64> = pairs.iter().map(|(said, truth)| said - truth).collect();
    differences.sort_unstable_by(f64::total_cmp);
    let median = weigh_stats::median(&differences).unwrap_or(f64::NAN);
    let truths: Vec<f64> = pairs.iter().map(|(_, truth)| *truth).collect();
    let truth = weigh_stats::median(&truths).unwrap_or(f64::NAN);
    let measured = format!(
        "{:+.1} µs [{:+.1}, {:+.1}] from {:.4} ms",
        median * 1e6,
        differences[0] * 1e6,
        differences[differences.len() - 1] * 1e6,
        truth * 1e3
    );
    targets.line(name, &measured, "within 1% or 20 µs", median.abs() <= (truth * RELATIVE).max(ABSOLUTE));
}
