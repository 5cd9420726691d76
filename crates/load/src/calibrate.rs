//! The ceiling of this machine: the generator's own cost per request, measured with a target that does almost nothing.
//! Above the rate that one core allows, a run measures the generator and not the server.
//!
//! This module makes plans and reads results; it starts nothing. The caller runs the target in a process of its own
//! ([`target::serve`]) and each plan in another process, so that their CPU times are separate.

pub mod target;

use std::fmt;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use weigh_stats::median;

use crate::plan::{Check, Length, LoadPlan, Request, Stream, Tls};
use crate::result::LoadResult;

/// The inputs of a calibration.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The address of the target.
    pub target: std::net::SocketAddr,
    /// The processor that the target is pinned to; none: not pinned.
    pub target_cpu: Option<u32>,
    /// The processors to use, in order: one thread uses the first, all threads use one each. Never empty. If the
    /// target's processor is among them, it should be last.
    pub cpus: Vec<u32>,
    /// Repetitions of everything, interleaved.
    pub rounds: u32,
    /// Seconds per block of load.
    pub seconds: f64,
    /// Seed of the order and of everything drawn at random.
    pub seed: u64,
}

/// Why a calibration failed.
#[derive(Debug, Error)]
pub enum CalibrationError<E> {
    /// A block of load could not run.
    #[error(transparent)]
    Run(E),
    /// The built-in target failed, with the load and the first failure.
    #[error(
        "{load}: {why}; the built-in target is known to work, so the cause is this machine or the generator"
    )]
    Faulted {
        /// The load that was running.
        load: String,
        why: String,
    },
}

/// Measures every load of [`loads`] in `setup.rounds` rounds, each in a new random order, and takes medians. `run` runs
/// a plan; its second and third argument are the block's number, from 0, and the number of blocks.
///
/// # Errors
/// See [`CalibrationError`].
pub fn calibrate<E>(
    setup: &Setup,
    mut run: impl FnMut(&LoadPlan, usize, usize) -> Result<LoadResult, E>,
) -> Result<Calibration, CalibrationError<E>> {
    let loads = loads(setup);
    let mut draw = ChaCha8Rng::seed_from_u64(setup.seed);
    let mut seen: Vec<Vec<LoadResult>> = vec![Vec::new(); loads.len()];
    let blocks = loads.len() * setup.rounds as usize;
    let mut block = 0;
    for _ in 0..setup.rounds {
        let mut order: Vec<usize> = (0..loads.len()).collect();
        order.shuffle(&mut draw);
        for at in order {
            let result = run(&loads[at].plan(setup), block, blocks).map_err(CalibrationError::Run)?;
            block += 1;
            sound(&loads[at], &result)?;
            seen[at].push(result);
        }
    }
    let ceilings = loads.into_iter().zip(&seen).map(|(load, results)| Ceiling::of(load, results)).collect();
    Ok(Calibration { ceilings })
}

/// Fails if a block has a failure or no completed request.
fn sound<E>(load: &Load, result: &LoadResult) -> Result<(), CalibrationError<E>> {
    let fault = result.faults.first().map(|f| format!("{}: {}", f.kind.name(), f.example.message));
    let idle = result.classes.iter().all(|c| c.counts.completed == 0);
    match fault.or_else(|| idle.then(|| "no request was completed".to_owned())) {
        Some(why) => Err(CalibrationError::Faulted { load: load.to_string(), why }),
        None => Ok(()),
    }
}

/// The ceiling of this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Calibration {
    /// One result for each load, in the order of the plan.
    pub ceilings: Vec<Ceiling>,
}

/// The result of one load: medians over rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Ceiling {
    /// The load.
    #[serde(flatten)]
    pub load: Load,
    /// Completed requests per second, with this target on this machine.
    pub requests_per_second: f64,
    /// Megabytes (10⁶ bytes) of bodies per second.
    pub megabytes_per_second: f64,
    /// CPU microseconds of the generator per request, in user mode and in the kernel.
    pub cpu_us: f64,
    /// The share of the kernel in it, 0 to 1.
    pub kernel_share: f64,
    /// Requests per second per core of the generator: above this rate the generator is the limit.
    pub per_core: f64,
}

impl Ceiling {
    /// Combines the rounds of one load; each has completed requests.
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
    /// How to read the result: one sentence per body length that was verified over kept connections by one thread, one
    /// about the price of a new connection per request, and one about the cores.
    pub fn reading(&self) -> Vec<String> {
        let one = || self.ceilings.iter().filter(|c| c.load.threads == 1 && c.load.verified);
        let mut said: Vec<String> = one().filter(|c| c.load.keepalive).map(Ceiling::sentence).collect();
        let smallest =
            |keepalive| one().filter(|c| c.load.keepalive == keepalive).min_by_key(|c| c.load.body_bytes);
        if let (Some(kept), Some(opened)) = (smallest(true), smallest(false)) {
            let times = opened.cpu_us / kept.cpu_us;
            said.push(format!(
                "A new connection per request costs {times:.1} times as much CPU time at {}.",
                opened.size()
            ));
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
            "On this machine the generator needs {us:.1} µs of CPU per verified request of {size}; above {rate} requests/s per core it is the limit."
        )
    }
}

/// A number with three significant digits and commas, such as 102,000.
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

/// Connections over all threads.
const CONNECTIONS: u32 = 100;
/// Path and length in bytes of each body.
const BODIES: [(&str, u64); 3] = [("/1k", 1 << 10), ("/16k", 16 << 10), ("/500k", 500 << 10)];

/// One load on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Load {
    /// Bytes of every body.
    pub body_bytes: u64,
    /// Whether every response is compared byte by byte; otherwise the kernel discards bodies.
    pub verified: bool,
    /// Whether connections are kept; otherwise each request opens one.
    pub keepalive: bool,
    /// Threads of the generator, each on a processor of its own.
    pub threads: u32,
    /// Whether a thread may have run on the target's processor. Then the rates are lower than with two machines, and
    /// the CPU time per request is slightly higher.
    pub shares_cores: bool,
}

/// Every body length, verified and discarded, with and without keep-alive, with one thread and with one per processor.
pub fn loads(setup: &Setup) -> Vec<Load> {
    let mut threads = vec![1, u32::try_from(setup.cpus.len()).unwrap_or(u32::MAX).max(1)];
    threads.dedup();
    let mut loads = Vec::new();
    for threads in threads {
        for keepalive in [true, false] {
            for verified in [true, false] {
                let shares_cores = setup.shares_cores(threads);
                let load = |body_bytes| Load { body_bytes, verified, keepalive, threads, shares_cores };
                loads.extend(BODIES.map(|(_, bytes)| load(bytes)));
            }
        }
    }
    loads
}

impl Setup {
    fn shares_cores(&self, threads: u32) -> bool {
        self.target_cpu.is_none_or(|cpu| self.cpus.iter().take(threads as usize).any(|c| *c == cpu))
    }
}

impl Load {
    pub fn plan(&self, setup: &Setup) -> LoadPlan {
        let path = BODIES.iter().find(|b| b.1 == self.body_bytes).map_or("/", |b| b.0);
        let check = Check::Verify { decode_every: 1, vary_by: Vec::new() };
        LoadPlan {
            requests: vec![Request {
                name: path.to_owned(),
                url: format!("http://{}{path}", setup.target),
                class: "calibration".to_owned(),
                ..Request::default()
            }],
            streams: vec![Stream {
                name: "calibration".to_owned(),
                connections: CONNECTIONS.max(self.threads),
                keepalive: self.keepalive,
                ..Stream::default()
            }],
            tls: Tls { insecure: false, authorities: None, resumption: false },
            length: Length { requests: None, seconds: Some(setup.seconds) },
            check: if self.verified { check } else { Check::Discard },
            threads: self.threads,
            cpus: setup.cpus.iter().copied().take(self.threads as usize).collect(),
            seed: setup.seed,
            ..LoadPlan::default()
        }
    }
}

/// Such as `1 KB, verified, kept connections, 1 thread`.
impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.body_bytes >> 10;
        let check = if self.verified { "verified" } else { "discarded" };
        let way = if self.keepalive { "kept connections" } else { "a connection per request" };
        let many = if self.threads == 1 { "" } else { "s" };
        write!(f, "{size} KB, {check}, {way}, {} thread{many}", self.threads)
    }
}
