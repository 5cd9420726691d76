//! Execution: a plan becomes a run directory, a pool of workers is made, and the run is driven to its end.

use anyhow::Result;

use crate::analysis::Results;
use crate::executor::Pool;
use crate::interrupt::Interrupt;
use crate::inventory::NATIVE;
use crate::lab::Lab;
use crate::lab::discover::php_worker;
use crate::plan::Plan;
use crate::rig::process::WorkerSpec;
use crate::rig::server::Servers;
use crate::rig::worker::ProcessExecutor;
use crate::run::clock::SystemClock;
use crate::run::dir::RunDir;
use crate::run::observer::Observer;
use crate::run::{self, Outcome};
use crate::subject::delivery::{Courier, Room};

/// A run that ended, by itself or at the user's wish.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub outcome: Outcome,
    /// Its results so far.
    pub results: Results,
}

/// The workers that a plan needs. Nothing is started before the first visit.
///
/// # Errors
/// The plan has cells in PHP, and the PHP side cannot be put in place.
pub fn pool(lab: &Lab, dir: &RunDir, plan: &Plan, interrupt: &Interrupt) -> Result<Pool> {
    let mut pool = Pool::new(interrupt.clone());
    if plan.is_delivery() {
        let room = Room { scratch: dir.scratch(), logs: dir.logs(), php_home: lab.php_home()? };
        let definitions = Servers::load(&lab.definitions)?;
        pool.set_deliverer(Box::new(Courier::new(plan, &definitions, room, interrupt.clone())?));
        return Ok(pool);
    }
    for runtime in &plan.runtimes {
        let log = dir.log_path(&runtime.name);
        let spec = match &runtime.binary {
            Some(binary) => php_worker(&runtime.name, binary, &lab.php_home()?, log),
            None => WorkerSpec::native(NATIVE, log),
        };
        pool.add(&runtime.name, Box::new(ProcessExecutor::new(spec, interrupt.clone())));
    }
    let checker = WorkerSpec::native("checker", dir.log_path("checker"));
    pool.set_checker(Box::new(ProcessExecutor::new(checker, interrupt.clone())));
    Ok(pool)
}

/// Drives a run to its end and derives its results.
///
/// # Errors
/// The run directory cannot be written any more.
pub fn execute(mut dir: RunDir, mut pool: Pool, observer: &mut dyn Observer) -> Result<Finished> {
    let outcome = run::run(&mut dir, &mut pool, &SystemClock::new(), observer)?;
    pool.end();
    let stored = dir.into_stored();
    let results = Results::of(&stored.facts(), &stored.plan, &stored.records);
    Ok(Finished { outcome, results })
}
