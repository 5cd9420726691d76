//! The lab: the way from a study to a finished run, for the verbs that need it.
//!
//! It opens the definitions and the corpus, asks the runtimes what they can measure, stages content, builds the
//! plan, and drives the run. It prints nothing: a [`Progress`] hears what takes longer than a moment.

pub mod discover;
mod foreign;
mod stage;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

pub use stage::{FILE, Stager};

use crate::study::Study;
use weigh_content::Library;
use weigh_content::cache::Cache;
use weigh_content::defs::Definitions;
use weigh_os::regular;
use weigh_os::shelter::Shelter;
use weigh_rig::runtime::PhpRuntime;

/// Hears what the lab is about to do, where it may take longer than a moment.
pub trait Progress {
    /// One line, such as `preparing value:tree-2.4m`.
    fn doing(&mut self, what: &str);

    /// Something the user should know, such as a file that was left out.
    fn note(&mut self, what: &str);
}

/// The folders of one call of the program: what is defined, and where things are kept. Whoever needs no contents takes this alone.
#[derive(Debug)]
pub struct Home {
    /// Studies and the PHP side.
    pub definitions: Definitions,
    /// Where the PHP side is written for its workers.
    cache: PathBuf,
    /// That place, if it goes with this.
    passing: Option<Shelter>,
}

/// The home and the corpus.
#[derive(Debug)]
pub struct Lab {
    pub home: Home,
    /// The corpus with its cache.
    pub library: Library,
}

impl std::ops::Deref for Lab {
    type Target = Home;

    fn deref(&self) -> &Home {
        &self.home
    }
}

impl Lab {
    /// Opens the lab, with a folder of definitions laid over the built-in ones.
    pub fn open(defs: Option<&Path>) -> Result<Lab> {
        let home = Home::open(defs)?;
        Ok(Lab { library: Library::open(&home.cache)?, home })
    }
}

impl Home {
    /// The folders, with one of definitions laid over the built-in ones.
    pub fn open(defs: Option<&Path>) -> Result<Home> {
        let definitions = Definitions::load(defs)?;
        // Without a home there is a cache for as long as this lasts.
        let (cache, passing) = match Cache::default_folder() {
            Some(folder) => (folder, None),
            None => {
                let shelter = Shelter::new().context("no temporary folder")?;
                (shelter.path().to_owned(), Some(shelter))
            }
        };
        Ok(Home { definitions, cache, passing })
    }

    /// Makes sure that what is fetched stays.
    ///
    /// # Errors
    /// The user has no home, and names no folder.
    pub fn keeps(&self) -> Result<()> {
        ensure!(self.passing.is_none(), "you have no home folder to keep it in; set WEIGH_CACHE to a folder");
        Ok(())
    }

    /// A study by name, or from a file when the text is a path.
    pub fn study(&self, name: &str) -> Result<Study> {
        let path = Path::new(name);
        if path.extension().is_some_and(|e| e == "toml") || path.components().count() > 1 {
            return Study::parse(&regular::text(path, regular::TEXT)?, &path.display().to_string());
        }
        if path.is_file() {
            bail!("{name}: a study's file ends in .toml; to measure this file write: weigh codec {name}");
        }
        let (text, whence) = self.definitions.study(name)?;
        Study::parse(text, &whence)
    }

    /// The folder of the PHP side, written when it is not there yet.
    pub fn php_home(&self) -> Result<PathBuf> {
        self.definitions.write_php(&self.cache).context("the PHP worker cannot be put in place")
    }

    /// The PHPs of these names: binaries, or fetched runtimes.
    pub fn php(&self, named: &[PathBuf]) -> Result<Vec<PhpRuntime>> {
        let binaries = self.resolve(named)?;
        binaries.iter().map(|binary| PhpRuntime::of(binary)).collect()
    }

    /// The folder of fetched runtimes; it need not be there.
    pub fn runtimes(&self) -> PathBuf {
        self.cache.join("runtimes")
    }
}
