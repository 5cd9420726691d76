//! Discovery: each runtime is started once and describes itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::Home;
use crate::agent;
use crate::executor::{CodecWorker, Failure};
use crate::study::Study;
use crate::worker::ProcessExecutor;
use weigh_model::inventory::{Inventory, NATIVE, RuntimeEntry};
use weigh_model::plan::Runtime;
use weigh_model::protocol::Description;
use weigh_os::command::patience;
use weigh_os::interrupt::Interrupt;
use weigh_os::shelter::Shelter;
use weigh_rig::runtime;

impl Home {
    /// Native codecs and each PHP named, or those on `PATH` when none is.
    ///
    /// # Errors
    /// A PHP that was named is not there or cannot be used; one that was merely found is left out with the reason.
    pub fn inventory(&self, named: &[PathBuf]) -> Result<Inventory> {
        if named.is_empty() {
            return self.describe(runtime::on_path(&path()));
        }
        let inventory = self.describe(self.resolve(named)?)?;
        if let Some((binary, why)) = inventory.refused.first() {
            bail!("--php {}: {why}", binary.display());
        }
        Ok(inventory)
    }

    /// Native codecs, each PHP on `PATH`, and each that was fetched.
    pub fn everything(&self) -> Result<Inventory> {
        let fetched =
            runtime::prefixes(&self.runtimes()).into_iter().map(|(root, prefix)| root.join(prefix.cli));
        self.describe(runtime::on_path(&path()).into_iter().chain(fetched).collect())
    }

    /// The native codecs alone: nothing is started.
    pub fn native(&self) -> Inventory {
        let runtimes = vec![entry(NATIVE.into(), None, agent::describe())];
        Inventory { runtimes, ..Inventory::default() }
    }

    /// What is here for the studies, with nothing of the user's own.
    ///
    /// # Errors
    /// As [`Home::inventory`] and [`Home::look`].
    pub fn found(&self, studies: &[Study], php: &[PathBuf]) -> Result<Inventory> {
        let mut inventory = self.inventory(php)?;
        self.look(&mut inventory, studies)?;
        Ok(inventory)
    }

    fn describe(&self, binaries: Vec<PathBuf>) -> Result<Inventory> {
        let mut inventory = self.native();
        if binaries.is_empty() {
            return Ok(inventory);
        }
        let php_home = self.php_home()?;
        for binary in binaries {
            match ask(&binary, &php_home) {
                Ok(description) => {
                    let taken: Vec<String> = inventory.runtimes.iter().map(|r| r.plan.name.clone()).collect();
                    let name = runtime::short_name(&description.version, &taken);
                    inventory.runtimes.push(entry(name, Some(binary), description));
                }
                Err(why) => inventory.refused.push((binary, why)),
            }
        }
        Ok(inventory)
    }

    /// The binaries of these names, each once.
    pub(super) fn resolve(&self, wanted: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for name in wanted {
            let known = runtime::named(name, &path()).or_else(|| runtime::fetched(name, &self.runtimes()));
            let Some(binary) = known else {
                bail!(
                    "--php {}: no such program; give the path of a PHP command line binary, or the name of a fetched \
                     runtime (weigh lab runtime list)",
                    name.display()
                );
            };
            let binary = std::path::absolute(&binary)?;
            if !found.contains(&binary) {
                found.push(binary);
            }
        }
        Ok(found)
    }
}

pub(super) fn path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

fn ask(binary: &Path, php_home: &Path) -> Result<Description, String> {
    let room = Shelter::new().map_err(|e| format!("no temporary folder: {e}"))?;
    let spec = runtime::worker("php", binary, &[], &php_home.join("worker.php"), room.path().join("log"));
    let mut executor = ProcessExecutor::new(spec, Interrupt::new()).start_limit(2 * patience());
    let description = executor.describe();
    executor.end();
    description.map_err(|failure| match failure {
        Failure::Fault(fault) => fault.message,
        Failure::Interrupted => "interrupted".into(),
    })
}

fn entry(name: String, binary: Option<PathBuf>, said: Description) -> RuntimeEntry {
    RuntimeEntry {
        plan: Runtime { name, binary, version: said.version, facts: said.facts, ..Runtime::default() },
        codecs: said.codecs,
        serializers: said.serializers,
        ..RuntimeEntry::default()
    }
}
