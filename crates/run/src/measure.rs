//! From a plan to its records: a new folder for a run, and what is left of a run measured. It prints nothing: an [`Observer`] hears what
//! there is to say.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};

use crate::clock::SystemClock;
use crate::dir::RunDir;
use crate::executor::Executor;
use crate::lab::Home;
use crate::list::FOLDER;
use crate::log::LogError;
use crate::observer::Observer;
use crate::rounds;
use crate::subject::{self, Surroundings, delivery};
use weigh_model::plan::Plan;
use weigh_os::interrupt::Interrupt;
use weigh_os::machine::Machine;

/// Another machine, where the visits of a run are made.
pub trait Elsewhere: Debug {
    fn machine(&self) -> &Machine;

    /// Who carries out the visits there, of the run in `folder`.
    ///
    /// # Errors
    /// It cannot be reached, or has not what the plan needs.
    fn executor(&self, plan: &Plan, folder: &Path, around: &Surroundings<'_>) -> Result<Box<dyn Executor>>;

    /// Why it can no longer be reached, if so.
    fn why_lost(&self) -> Option<String>;

    /// The flags of `weigh run --resume` that lead there, each after a space.
    fn flags(&self) -> String;
}

/// What a run needs to know that its folder does not.
#[derive(Debug, Default)]
pub struct RunOptions {
    /// Words for stores: a URL with its password is nowhere else.
    pub stores: Vec<String>,
    /// Where the visits are made; none: on this machine.
    pub elsewhere: Option<Box<dyn Elsewhere>>,
}

/// Where a run is written: the folder that the user named, or a new one that no other run has, called by the name and the time.
pub fn run_folder(out: Option<&Path>, name: &str) -> PathBuf {
    if let Some(out) = out {
        return out.to_owned();
    }
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S");
    let path = Path::new(FOLDER).join(format!("{name}-{now}"));
    // Two runs within a second are two runs.
    let numbered = (2..).map(|n| path.with_file_name(format!("{name}-{now}-{n}")));
    std::iter::once(path.clone()).chain(numbered).find(|p| !p.exists()).unwrap_or(path)
}

/// Why a plan has no cells: each reason once.
pub fn why_empty(plan: &Plan) -> String {
    let mut reasons: Vec<String> = Vec::new();
    for exclusion in &plan.exclusions {
        let remedy = exclusion.remedy.as_ref().map_or(String::new(), |r| format!(" ({r})"));
        let reason = format!("{}{remedy}", exclusion.reason);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let reasons = if reasons.is_empty() { vec!["no configuration".into()] } else { reasons };
    format!("nothing to measure: {}", reasons.join("; "))
}

/// A new run directory for a plan, as this command line asked for it. Who can read what its servers will send is said.
///
/// # Errors
/// The plan has no cells, or the folder cannot be written.
pub fn begin(
    plan: Plan,
    folder: &Path,
    command: Vec<String>,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<RunDir> {
    if plan.cells.is_empty() {
        bail!(why_empty(&plan));
    }
    if let Some(exposed) = delivery::exposure(&plan) {
        observer.note(&exposed);
    }
    let machine = options.elsewhere.as_ref().map_or_else(Machine::query, |place| place.machine().clone());
    RunDir::create_of(folder, plan, command, machine)
}

/// Measures what is left of a run, which may be nothing; false: it was interrupted, and the observer heard how to go on.
///
/// # Errors
/// What the visits stand on cannot be started, or records cannot be written.
pub fn measure(
    home: &Home,
    dir: &mut RunDir,
    options: &RunOptions,
    interrupt: &Interrupt,
    observer: &mut dyn Observer,
) -> Result<bool> {
    let (path, plan) = (dir.path().to_owned(), dir.plan().clone());
    if dir.stored().is_complete() {
        observer.note(&format!("{}: the run is complete; nothing is left to measure", path.display()));
        return Ok(true);
    }
    let (scratch, logs) = (&dir.scratch(), &dir.logs());
    let around = Surroundings { home, scratch, logs, stores: &options.stores, interrupt };
    let elsewhere = options.elsewhere.as_deref();
    let (mut executor, clock) = match elsewhere {
        None => (subject::executor(&plan, &around)?, SystemClock::new()),
        Some(place) => (place.executor(&plan, &path, &around)?, SystemClock::elsewhere()),
    };
    if let Some(remark) = executor.remark() {
        observer.remark(remark);
    }
    observer.begun(&plan, dir.records());
    let outcome = rounds::run(dir, &mut *executor, interrupt, &clock, observer);
    observer.ended();
    let outcome = outcome.map_err(|error| match error.downcast_ref::<LogError>() {
        Some(_) => anyhow!("{error:#}; go on with: weigh run --resume {}", path.display()),
        None => error,
    })?;
    if !outcome.complete {
        let lost = elsewhere.and_then(Elsewhere::why_lost);
        let why = lost.map_or("interrupted".into(), |why| format!("the cluster is lost: {why}"));
        let flags = elsewhere.map(Elsewhere::flags).unwrap_or_default();
        observer.note(&format!("{why}; go on with: weigh run --resume {}{flags}", path.display()));
    }
    Ok(outcome.complete)
}
