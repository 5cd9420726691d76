//! The ceiling of this machine: what one request costs the generator itself, measured against a target that does next to
//! nothing. Above the rate that one core's worth of this buys, a run measures the generator and not the server.
//!
//! It plans and reads; it starts nothing. Who calls it runs the target in a process of its own ([`target::serve`]) and
//! each plan in another, so that their CPU times stay apart.

mod ceiling;
mod plan;
pub mod target;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

pub use ceiling::{Calibration, Ceiling};
pub use plan::{Load, loads};

use crate::plan::LoadPlan;
use crate::result::LoadResult;

/// What to calibrate with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Where the target listens.
    pub target: std::net::SocketAddr,
    /// The processor to which the target is pinned; none: it runs wherever the system puts it.
    pub target_cpu: Option<u32>,
    /// The processors to use, in order: one thread gets the first, all threads one each. Never empty. Where the target's
    /// is among them, name it last.
    pub cpus: Vec<u32>,
    /// Repetitions of everything, interleaved.
    pub rounds: u32,
    /// Seconds of each block of load.
    pub seconds: f64,
    /// Seed of the order and of everything drawn.
    pub seed: u64,
}

/// Why there is no calibration.
#[derive(Debug, Error)]
pub enum CalibrationError<E> {
    /// A block of load did not run.
    #[error(transparent)]
    Run(E),
    /// The built-in target, of all servers, was not answered for: with the load and the first fault.
    #[error("{load}: {why}; the built-in target is sound, so the machine or the generator is not")]
    Faulted {
        /// The load.
        load: String,
        /// What happened first.
        why: String,
    },
}

/// Measures every load of [`loads`] in `setup.rounds` rounds, each in an order drawn afresh, and sums up by medians. `run` carries a plan
/// out; it is also told which block of how many this is, from 0.
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

/// Nothing may go wrong here, and something must have been done.
fn sound<E>(load: &Load, result: &LoadResult) -> Result<(), CalibrationError<E>> {
    let fault = result.faults.first().map(|f| format!("{}: {}", f.kind.name(), f.example.message));
    let idle = result.classes.iter().all(|c| c.counts.completed == 0);
    match fault.or_else(|| idle.then(|| "no request was completed".to_owned())) {
        Some(why) => Err(CalibrationError::Faulted { load: load.to_string(), why }),
        None => Ok(()),
    }
}
