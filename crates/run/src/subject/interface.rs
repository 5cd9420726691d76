//! What every subject has: how it is planned, visited and judged, and what its executors are made from.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::draft::{ContentSource, Draft};
use crate::executor::{Executor, Version};
use crate::lab::{Home, Stager};
use crate::state::History;
use crate::study::{Blocks, Study};
use weigh_answer::report::shape::Shape;
use weigh_model::cell::Cell;
use weigh_model::inventory::{Inventory, RuntimeEntry};
use weigh_model::payload::Payload;
use weigh_model::plan::{Plan, Policy};
use weigh_model::protocol::{Fault, Phase};
use weigh_model::record::VisitRecord;
use weigh_os::interrupt::Interrupt;
use weigh_rig::runtime::PhpRuntime;

/// What executors of a run are made from.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Definitions and the PHP side.
    pub home: &'a Home,
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
    pub(super) fn room(&self) -> Result<Room> {
        Ok(Room { logs: self.logs.to_owned(), php_home: self.home.php_home()? })
    }
}

/// Where an executor may put things.
#[derive(Clone, Debug)]
pub struct Room {
    /// A folder for what servers, stores, workers and the generator say.
    pub logs: PathBuf,
    pub php_home: PathBuf,
}

/// What planning needs of a subject.
pub trait Planned: Sync {
    /// Its blocks in a study.
    fn blocks(&self) -> Blocks;

    /// Looks for what cells of these studies, of this subject, can stand on. The inventory's runtimes are there already.
    ///
    /// # Errors
    /// A definition is not valid, or the PHP side cannot be put in place.
    fn look(&self, _home: &Home, _inventory: &mut Inventory, _studies: &[&Study]) -> Result<()> {
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
}

/// What a run needs of a subject. Answers know it by its shape alone.
pub trait Subject: Planned {
    /// The kinds of its cells, and their phases.
    fn shape(&self) -> &'static Shape;

    /// Wall seconds of one encode and one decode in a visit, or of one response.
    fn pass_seconds(&self, visit: &VisitRecord) -> Option<f64> {
        let median = |phase: &Phase| weigh_stats::median(&visit.phases.get(phase)?.wall_ns);
        let medians = self.shape().phases.iter().map(median).collect::<Option<Vec<f64>>>()?;
        Some(medians.iter().sum::<f64>() * visit.spent() / 1e9)
    }

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

/// The versions of a plan's PHPs as they are now.
pub(super) fn php_versions(plan: &Plan) -> impl Iterator<Item = Version> {
    plan.runtimes.iter().filter_map(|runtime| {
        let php = PhpRuntime::of(runtime.binary.as_ref()?).ok()?;
        Some(Version::of(&runtime.name, php.version))
    })
}
