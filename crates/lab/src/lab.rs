//! The lab: the way from a study to a finished run, for the verbs that need it.
//!
//! It opens the definitions and the corpus, asks the runtimes what they can measure, stages content, builds the
//! plan, and drives the run. It prints nothing: a [`Progress`] hears what takes longer than a moment.

mod clients;
mod delivering;
mod discover;
mod execute;
mod own;
pub mod profiled;
mod stage;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

pub use discover::Discovery;
pub use execute::{Finished, execute, pool};
pub use own::Own;
pub use stage::Stager;

use crate::content::Library;
use crate::content::cache::Cache;
use crate::defs::{self, Definitions};
use crate::planner::build::{Ask, build};
use crate::planner::clients::is_made;
use crate::rig::network::Network;
use crate::rig::runtime::PhpRuntime;
use weigh_model::inventory::Inventory;
use weigh_model::plan::Plan;
use weigh_model::study::Study;
use weigh_model::suggest::nearest_hint;
use weigh_model::text::clean_path;

/// Hears what the lab is about to do, where it may take longer than a moment.
pub trait Progress {
    /// One line, such as `preparing value:tree-2.4m`.
    fn doing(&mut self, what: &str);

    /// Something the user should know, such as a file that was left out.
    fn note(&mut self, what: &str);
}

/// Hears nothing.
#[derive(Debug)]
pub struct Quiet;

impl Progress for Quiet {
    fn doing(&mut self, _what: &str) {}
    fn note(&mut self, _what: &str) {}
}

/// Definitions, corpus and places of one call of the program.
#[derive(Debug)]
pub struct Lab {
    /// Studies and the PHP side.
    pub definitions: Definitions,
    /// The corpus with its cache.
    pub library: Library,
    /// Where the PHP side is written for its workers.
    cache: PathBuf,
}

impl Lab {
    /// Opens the lab, with a folder of definitions laid over the built-in ones.
    ///
    /// # Errors
    /// The definitions cannot be read, or there is no place for a cache.
    pub fn open(defs: Option<&Path>) -> Result<Lab> {
        let definitions = Definitions::load(defs)?;
        let cache = Cache::default_folder()?;
        let library = Library::open(&cache)?;
        Ok(Lab { definitions, library, cache })
    }

    /// A study by name, or from a file when the text is a path.
    ///
    /// # Errors
    /// Neither a known name nor a readable file, or not a valid study.
    pub fn study(&self, name: &str) -> Result<Study> {
        let path = Path::new(name);
        if path.extension().is_some_and(|e| e == "toml") || path.components().count() > 1 {
            return defs::read_study(path);
        }
        if path.is_file() {
            bail!("`{name}` is a file that does not end in .toml; a study's file does");
        }
        let names = self.definitions.study_names();
        if !names.iter().any(|n| n == name) {
            bail!("no study `{name}`{}", nearest_hint(name, names.iter().map(String::as_str)));
        }
        self.definitions.study(name)
    }

    /// The folder of the PHP side, written when it is not there yet.
    ///
    /// # Errors
    /// The cache cannot be written.
    pub fn php_home(&self) -> Result<PathBuf> {
        self.definitions.write_php(&self.cache).context("the PHP worker cannot be put in place")
    }

    /// Everything that can be measured: native codecs and each PHP named, or those on `PATH` when none is.
    ///
    /// # Errors
    /// A PHP that was named cannot be used; one that was merely found is left out with the reason.
    pub fn inventory(&self, named: &[PathBuf]) -> Result<Inventory> {
        Discovery::new(&|| self.php_home(), self.runtimes()).inventory(named)
    }

    /// The same of every PHP there is: on `PATH` and fetched.
    ///
    /// # Errors
    /// The PHP side cannot be put in place.
    pub fn everything(&self) -> Result<Inventory> {
        Discovery::new(&|| self.php_home(), self.runtimes()).everything()
    }

    /// Looks for what deliveries of these studies go through: links, web servers, a network of their own. Nothing is started but the servers'
    /// programs, for their versions.
    ///
    /// # Errors
    /// A link or a server's definition is not valid.
    fn look_for_servers(&self, inventory: &mut Inventory, studies: &[Study]) -> Result<()> {
        for text in studies.iter().flat_map(Study::all_links) {
            inventory.links.insert(text.to_owned(), self.definitions.link(text)?);
        }
        if studies.iter().any(|study| !study.deliveries.is_empty()) {
            inventory.servers = delivering::servers(&self.definitions)?;
        }
        if studies.iter().flat_map(|study| &study.deliveries).any(|block| block.slow.is_some()) {
            inventory.no_network = Network::narrow().err().map(|why| format!("{why:#}"));
        }
        Ok(())
    }

    /// Starts, for studies that have deliveries, a pool of each of the inventory's PHPs, and asks it what it can have sent.
    ///
    /// # Errors
    /// The PHP side cannot be put in place.
    fn ask_pools(&self, inventory: &mut Inventory, studies: &[Study]) -> Result<()> {
        if studies.iter().any(|study| !study.deliveries.is_empty()) {
            inventory.pools = delivering::pools(inventory, &self.php_home()?);
        }
        Ok(())
    }

    /// The PHPs of these names: binaries, or fetched runtimes.
    ///
    /// # Errors
    /// There is none of a name, or it does not say its version.
    pub fn php(&self, named: &[PathBuf]) -> Result<Vec<PhpRuntime>> {
        let binaries = Discovery::new(&|| self.php_home(), self.runtimes()).resolve(named)?;
        binaries.iter().map(|binary| PhpRuntime::of(binary)).collect()
    }

    /// The folder of fetched runtimes; it need not be there.
    pub fn runtimes(&self) -> PathBuf {
        self.cache.join("runtimes")
    }

    /// The native codecs alone: nothing is started.
    pub fn native(&self) -> Inventory {
        Discovery::native()
    }

    /// Stages the contents a study names into `staging` and builds its plan.
    ///
    /// # Errors
    /// A name that nothing answers to, or content that cannot be staged.
    pub fn plan(
        &self,
        study: &Study,
        ask: &Ask,
        inventory: &Inventory,
        staging: &Path,
        progress: &mut dyn Progress,
    ) -> Result<Plan> {
        let mut stager = Stager::new(&self.library, staging);
        let plan = build(study, ask, inventory, &mut |name, block| {
            progress.doing(&format!("preparing {name}"));
            if study.is_client() && is_made(name) {
                Ok(vec![stager.made(name)?])
            } else if study.deliveries.is_empty() {
                stager.corpus(name, block)
            } else {
                stager.begin_of(name, block)
            }
        });
        stager.notes().iter().for_each(|note| progress.note(note));
        plan
    }

    /// The same for a study whose contents are paths of the user's: each block has them all. They go beside the study,
    /// because a path need not be text.
    ///
    /// # Errors
    /// A path that cannot be measured, or names that nothing answers to.
    pub fn plan_paths(
        &self,
        study: &Study,
        paths: &[PathBuf],
        ask: &Ask,
        inventory: &Inventory,
        staging: &Path,
        progress: &mut dyn Progress,
    ) -> Result<Plan> {
        let mut stager = Stager::new(&self.library, staging);
        let mut study = study.clone();
        for block in &mut study.cells {
            block.content = (0..paths.len()).map(|number| number.to_string()).collect();
        }
        let plan = build(&study, ask, inventory, &mut |number, block| {
            let path = number.parse::<usize>().ok().and_then(|n| paths.get(n)).context("no such path")?;
            progress.doing(&format!("reading {}", clean_path(path)));
            Ok(vec![stager.path(path, block)?])
        });
        stager.notes().iter().for_each(|note| progress.note(note));
        plan
    }
}
