//! Execution: a plan becomes a run directory, its subject's executor is made, and the run is driven to its end.

use anyhow::Result;

use crate::executor::Executor;
use crate::interrupt::Interrupt;
use crate::run::clock::SystemClock;
use crate::run::dir::RunDir;
use crate::run::observer::Observer;
use crate::run::{self, Outcome};
use weigh_answer::report::Report;

/// A run that ended, by itself or at the user's wish.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub outcome: Outcome,
    /// Its results so far.
    pub results: Report,
}

/// Drives a run to its end and derives its results.
///
/// # Errors
/// The run directory cannot be written any more.
pub fn execute(
    mut dir: RunDir,
    executor: &mut dyn Executor,
    interrupt: &Interrupt,
    observer: &mut dyn Observer,
) -> Result<Finished> {
    let outcome = run::run(&mut dir, executor, interrupt, &SystemClock::new(), observer)?;
    let stored = dir.into_stored();
    let results = Report::of(&stored.facts(), &stored.plan, &stored.records);
    Ok(Finished { outcome, results })
}
