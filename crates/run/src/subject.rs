//! What is put under test: how one subject is planned, visited and judged. The scheduler, the planner and the lab know it by this trait
//! alone.

pub mod client;
pub mod codec;
pub mod delivery;
mod links;
mod sides;

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::executor::{Executor, Version};
use crate::lab::{Lab, Stager};
use crate::planner::{ContentSource, Draft};
use crate::state::History;
use crate::study::Blocks;
use crate::study::Study;
use weigh_answer::report::shape::Shape;
use weigh_model::cell::Cell;
use weigh_model::inventory::{Inventory, RuntimeEntry};
use weigh_model::payload::Payload;
use weigh_model::plan::{Plan, Policy};
use weigh_model::protocol::Fault;
use weigh_model::record::VisitRecord;
use weigh_os::interrupt::Interrupt;
use weigh_rig::runtime::PhpRuntime;

/// Every subject. The first one also takes a plan without cells.
static ALL: &[&dyn Subject] = &[&codec::Codecs, &delivery::Deliveries, &client::Clients];

/// The first subject that is meant.
fn first(is_meant: impl Fn(&dyn Subject) -> bool) -> &'static dyn Subject {
    ALL.iter().copied().find(|subject| is_meant(*subject)).unwrap_or(ALL[0])
}

/// The subject that a cell is of.
pub fn of(cell: &Cell) -> &'static dyn Subject {
    first(|subject| subject.shape().kinds.contains(&cell.subject))
}

/// The subject of a plan: its cells are all of one.
pub fn of_plan(plan: &Plan) -> &'static dyn Subject {
    plan.cells.first().map_or(ALL[0], of)
}

/// The subject of a study: where it has cells and clients, cells are measured.
pub fn of_study(study: &Study) -> &'static dyn Subject {
    first(|subject| subject.blocks() == study.measured())
}

/// Looks for what the cells of these studies can stand on, beside runtimes.
///
/// # Errors
/// A definition is not valid, or the PHP side cannot be put in place.
pub fn look(lab: &Lab, inventory: &mut Inventory, studies: &[Study]) -> Result<()> {
    for subject in ALL {
        let own: Vec<&Study> = studies.iter().filter(|study| study.measured() == subject.blocks()).collect();
        if !own.is_empty() {
            subject.look(lab, inventory, &own)?;
        }
    }
    Ok(())
}

/// What executors of a run are made from.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Definitions and the PHP side.
    pub lab: &'a Lab,
    /// A private folder for files.
    pub scratch: &'a Path,
    /// A folder for what servers, stores, workers and the generator say.
    pub logs: &'a Path,
    /// The user's words for stores: a URL with its password is nowhere else.
    pub stores: &'a [String],
    /// The user wants the run to end.
    pub interrupt: &'a Interrupt,
}

impl Surroundings<'_> {
    /// Where its files go.
    ///
    /// # Errors
    /// The PHP side cannot be put in place.
    fn room(&self) -> Result<Room> {
        let (scratch, logs) = (self.scratch.to_owned(), self.logs.to_owned());
        Ok(Room { scratch, logs, php_home: self.lab.php_home()? })
    }
}

/// Where an executor may put things.
#[derive(Clone, Debug)]
pub struct Room {
    /// A private folder for files.
    pub scratch: PathBuf,
    /// A folder for what servers, stores, workers and the generator say.
    pub logs: PathBuf,
    pub php_home: PathBuf,
}

pub trait Subject: Sync {
    /// What answers know of it: the kinds of its cells, and their phases.
    fn shape(&self) -> &'static Shape;

    /// Its blocks in a study.
    fn blocks(&self) -> Blocks;

    /// Looks for what cells of these studies, of this subject, can stand on. The inventory's runtimes are there already.
    ///
    /// # Errors
    /// A definition is not valid, or the PHP side cannot be put in place.
    fn look(&self, _lab: &Lab, _inventory: &mut Inventory, _studies: &[&Study]) -> Result<()> {
        Ok(())
    }

    /// The runtimes that its cells name.
    fn runtimes<'i>(&self, inventory: &'i Inventory) -> &'i [RuntimeEntry];

    /// Brings the payloads that a content name of a study stands for into place, with what a block asks of their bytes.
    ///
    /// # Errors
    /// A name that nothing answers to, or a file that cannot be copied.
    fn stage(&self, stager: &mut Stager<'_>, name: &str, bytes: Option<u64>) -> Result<Vec<Payload>>;

    /// Takes the cells of a study's blocks into a draft.
    ///
    /// # Errors
    /// A name that nothing answers to, a level or an option that is not taken.
    fn plan(&self, study: &Study, draft: &mut Draft<'_>, contents: &mut ContentSource<'_>) -> Result<()>;

    /// The columns of a plan's overview: those of a group, how many cells it has, and what differs within it.
    fn columns(&self) -> &'static [&'static str];

    /// A cell in that overview: its group, and what differs within it. `bytes` are its payload's.
    fn overview(&self, cell: &Cell, bytes: u64) -> (Vec<String>, String);

    /// Expected seconds of wall time of all visits to a cell, from nominal figures.
    fn cell_seconds(&self, cell: &Cell, policy: &Policy) -> f64 {
        let rounds = if policy.exhaustive { policy.max_rounds } else { policy.min_samples };
        let visit = self.visit_seconds(cell, &History::default(), cell.expected_seconds);
        visit * f64::from(self.rounds(cell).map_or(rounds, |rounds| rounds.min(policy.max_rounds)))
    }

    /// Expected seconds of wall time of the next visit, when one pass through the cell's headline phases takes `pass` seconds.
    fn visit_seconds(&self, cell: &Cell, past: &History, pass: f64) -> f64;

    /// After how many rounds a cell is done, whatever its intervals are; none: its figures decide.
    fn rounds(&self, _cell: &Cell) -> Option<u32> {
        None
    }

    /// Whether two cells of one group do the same, so that one can beat the other.
    fn do_the_same(&self, plan: &Plan, a: &Cell, b: &Cell) -> bool;

    /// Whether those that ask and those that answer are processes of this machine that are not to share processors.
    fn has_counterparts(&self, _plan: &Plan) -> bool {
        false
    }

    /// Whether a cell can be put under a profiler of PHP.
    fn is_profiled(&self, _cell: &Cell) -> bool {
        false
    }

    /// Judges a visit, where its executor has not: a wrong answer is a fault, never a number.
    ///
    /// # Errors
    /// What is wrong with it.
    fn judge(&self, _cell: &Cell, _payload: &Payload, _visit: &VisitRecord) -> Result<(), Fault> {
        Ok(())
    }

    /// Who carries out the visits of a run. Nothing is started before the first one.
    ///
    /// # Errors
    /// The PHP side or a folder for temporary files cannot be put in place.
    fn executor(&self, plan: &Plan, around: &Surroundings<'_>) -> Result<Box<dyn Executor>>;
}

/// Who carries out the visits of a plan, whose cells may be of several sides. Nothing is started before the first one.
///
/// # Errors
/// As of [`Subject::executor`]; or the definitions of a side cannot be read.
pub fn executor(plan: &Plan, around: &Surroundings<'_>) -> Result<Box<dyn Executor>> {
    if plan.sides.is_empty() {
        return of_plan(plan).executor(plan, around);
    }
    Ok(Box::new(sides::Sides::new(plan, around)?))
}

/// The versions of a plan's PHPs as they are now.
fn php_versions(plan: &Plan) -> impl Iterator<Item = Version> {
    plan.runtimes.iter().filter_map(|runtime| {
        let php = PhpRuntime::of(runtime.binary.as_ref()?).ok()?;
        Some(Version::of(&runtime.name, php.version))
    })
}
