//! Cells under a profiler, after a run: what their PHP spends where. Blocks of their own, by one worker; nothing of them is recorded.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::executor::{Failure, PartsDone, VisitOrder};
use crate::lab::{Home, Progress};
use crate::state::State;
use crate::subject::{self, Surroundings};
use weigh_answer::profile::document::Run;
use weigh_model::cell::Cell;
use weigh_model::payload::Payload;
use weigh_model::plan::Plan;
use weigh_os::interrupt::Interrupt;
use weigh_os::process::Invocation;
use weigh_os::shelter::Shelter;
use weigh_os::umask;
use weigh_profile::script::{PrivateFile, Profiled, summed_up};
use weigh_profile::tools::{self, Tool};
use weigh_rig::runtime::PhpRuntime;

/// Pairs of a plain and a profiled block that tell what profiling costs.
const PAIRS: usize = 3;
/// What a block may take.
const LIMIT: Duration = Duration::from_secs(120);
/// Cells of a run that are profiled at most.
const MOST: usize = 16;

#[derive(Debug)]
pub struct ProfiledCell {
    pub cell: String,
    /// What was found, and how.
    pub made: Profiled,
}

/// One block of a cell by a fresh worker: its CPU seconds, and the worker's process id.
type Block<'b> = &'b mut dyn FnMut(&Invocation) -> Result<(f64, u32), Failure>;

/// The cells in PHP whose id has these words, whatever their case: clients of stores, and codecs.
pub fn chosen<'p>(plan: &'p Plan, words: &str) -> Vec<&'p Cell> {
    let wanted = words.to_lowercase();
    in_php(plan).filter(|cell| cell.id.to_lowercase().contains(&wanted)).collect()
}

fn in_php(plan: &Plan) -> impl Iterator<Item = &Cell> {
    plan.cells.iter().filter(|cell| subject::find_subject(cell).is_profiled(cell))
}

/// Makes sure that these words choose cells of these plans, and not too many, and that their PHPs have a profiler.
///
/// # Errors
/// One line: what is wrong with the words, or what to install.
pub fn check(home: &Home, plans: &[Plan], words: &str) -> Result<()> {
    let all: Vec<&Cell> = plans.iter().flat_map(|plan| chosen(plan, words)).collect();
    if all.is_empty() {
        let Some(first) = plans.iter().flat_map(in_php).next() else {
            let other = "to profile a script: weigh profile -- SCRIPT";
            bail!("--profile {words}: no configuration is a client or a codec in PHP; {other}");
        };
        bail!("--profile {words}: no id of a configuration in PHP has these words; one is {}", first.id);
    }
    if all.len() > MOST {
        let (many, first) = (all.len(), &all[0].id);
        bail!(
            "--profile {words}: {many} ids have these words, and at most {MOST} configurations are profiled; name fewer, such as {first}"
        );
    }
    let php_home = home.php_home()?;
    let mut binaries: Vec<_> = plans
        .iter()
        .flat_map(|plan| {
            let cells = chosen(plan, words);
            plan.runtimes
                .iter()
                .filter(move |r| cells.iter().any(|c| c.runtime == r.name))
                .filter_map(|r| r.binary.clone())
        })
        .collect();
    binaries.sort();
    binaries.dedup();
    binaries.iter().try_for_each(|binary| tools::for_php(&PhpRuntime::of(binary)?, &php_home, None).map(drop))
}

/// What the cells that are to be profiled measure, kept beyond the end of a run, which removes it.
#[derive(Debug)]
pub struct Contents {
    place: Shelter,
    words: String,
}

impl Contents {
    /// Copies it from a run directory.
    pub fn keep(plan: &Plan, root: &Path, words: &str) -> Result<Contents> {
        let place = Shelter::new().context("no temporary folder")?;
        for cell in chosen(plan, words) {
            let blob = &payload_of(plan, cell)?.blob;
            let (from, to) = (root.join(blob), place.path().join(blob));
            let doing = || format!("{}: cannot be kept to be profiled; is the run complete?", from.display());
            fs::create_dir_all(to.parent().with_context(doing)?).with_context(doing)?;
            umask::copy(&from, &to).with_context(doing)?;
        }
        Ok(Contents { place, words: words.to_owned() })
    }
}

fn payload_of<'p>(plan: &'p Plan, cell: &Cell) -> Result<&'p Payload> {
    plan.payloads.iter().find(|p| p.name == cell.payload).context("the plan has no such payload")
}

/// Profiles the cells of a run that were chosen; logs go to its directory.
pub fn profile(
    home: &Home,
    run: &Path,
    plan: &Plan,
    contents: &Contents,
    stores: &[String],
    (interrupt, progress): (&Interrupt, &mut dyn Progress),
) -> Result<Vec<ProfiledCell>> {
    let (root, logs, php_home) = (contents.place.path(), run.join("logs"), home.php_home()?);
    let around = Surroundings { home, scratch: root, logs: &logs, stores, interrupt };
    let mut executor = subject::executor(plan, &around)?;
    let mut profiled = Vec::new();
    let state = State::new(plan);
    for cell in chosen(plan, &contents.words) {
        progress.doing(&format!("profiling {}", cell.id));
        let runtime = plan.runtimes.iter().find(|r| r.name == cell.runtime);
        let binary = runtime.and_then(|r| r.binary.as_ref()).context("the plan has no such PHP")?;
        let php = PhpRuntime::of(binary)?;
        let tool = tools::for_php(&php, &php_home, None)?;
        let payload = payload_of(plan, cell)?;
        let blob = root.join(&payload.blob);
        let index =
            plan.cells.iter().position(|c| c.id == cell.id).context("the plan has no such configuration")?;
        // It is not a visit of any round: what is drawn is drawn by the plan's seed.
        let order = VisitOrder {
            plan,
            state: &state,
            index,
            round: 0,
            payload,
            blob: &blob,
            limit: LIMIT,
            parts: &PartsDone::default(),
        };
        let made = one(cell, (&php, &tool), &mut |on| executor.alone(&order, on), interrupt);
        let made = interrupt.ended(made)?;
        profiled.push(ProfiledCell { cell: cell.id.clone(), made });
    }
    executor.end();
    Ok(profiled)
}

/// Blocks in pairs, plain and profiled; which comes first changes from pair to pair. The last profile is kept.
fn one(
    cell: &Cell,
    (php, tool): (&PhpRuntime, &Tool),
    block: Block<'_>,
    interrupt: &Interrupt,
) -> Result<Profiled> {
    let (mut plain, mut profiled) = (Vec::new(), Vec::new());
    let mut place = Shelter::new().context("no temporary folder")?;
    let mut process = 0;
    for pair in 0..PAIRS {
        place = Shelter::new().context("no temporary folder")?;
        let ways = [(false, Tool::plain()), (true, tool.invocation(place.path()))];
        for way in if pair % 2 == 0 { [0, 1] } else { [1, 0] } {
            let (is_profiled, on) = &ways[way];
            let (seconds, pid) = block(on).map_err(error_of)?;
            if *is_profiled {
                profiled.push(seconds);
                process = pid;
            } else {
                plain.push(seconds);
            }
        }
    }
    let file = tool.output(place.path(), process)?;
    let profile = tool.read(&file, interrupt)?;
    let run = Run {
        php: cell.runtime.clone(),
        version: php.version.clone(),
        profiler: format!("{} {}", tool.profiler.name(), tool.version),
        remark: tool.remark().map(str::to_owned),
        script: vec![cell.id.clone()],
        ended: "exit status: 0".into(),
        is_fine: true,
        overhead: summed_up(plain, profiled),
    };
    Ok(Profiled { profile, run, file: PrivateFile::new(file, place) })
}

fn error_of(failure: Failure) -> anyhow::Error {
    match failure {
        Failure::Fault(fault) => anyhow!("{}", fault.message),
        Failure::Interrupted => anyhow!("interrupted"),
    }
}
