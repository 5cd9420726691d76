//! Discovery: each runtime is started once and describes itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::agent;
use crate::executor::{Executor, Failure};
use crate::interrupt::Interrupt;
use crate::inventory::{Inventory, NATIVE, RuntimeEntry};
use crate::protocol::Description;
use crate::rig::process::WorkerSpec;
use crate::rig::runtime;
use crate::rig::worker::ProcessExecutor;

/// Starts runtimes to ask them what they are.
pub struct Discovery<'a> {
    php_home: &'a dyn Fn() -> Result<PathBuf>,
    path: OsString,
}

impl<'a> Discovery<'a> {
    /// `php_home` gives the folder that holds `worker.php`; it is called when there is a PHP to ask.
    pub fn new(php_home: &'a dyn Fn() -> Result<PathBuf>) -> Discovery<'a> {
        Discovery { php_home, path: std::env::var_os("PATH").unwrap_or_default() }
    }

    /// Native codecs and each PHP named, or those on `PATH` when none is.
    ///
    /// # Errors
    /// A PHP that was named is not there or cannot be used.
    pub fn inventory(&self, wanted: &[PathBuf]) -> Result<Inventory> {
        let mut inventory = Discovery::native();
        let binaries = if wanted.is_empty() { runtime::on_path(&self.path) } else { self.resolve(wanted)? };
        if binaries.is_empty() {
            return Ok(inventory);
        }
        let php_home = (self.php_home)()?;
        for binary in binaries {
            match ask(&binary, &php_home) {
                Ok(description) => add(&mut inventory, binary, description),
                Err(why) if wanted.is_empty() => inventory.refused.push((binary, why)),
                Err(why) => bail!("--php {}: {why}", binary.display()),
            }
        }
        Ok(inventory)
    }

    /// The native codecs alone.
    pub fn native() -> Inventory {
        let native = RuntimeEntry { name: NATIVE.into(), binary: None, description: agent::describe() };
        Inventory { runtimes: vec![native], ..Inventory::default() }
    }

    fn resolve(&self, wanted: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for name in wanted {
            let Some(binary) = runtime::named(name, &self.path) else {
                bail!(
                    "--php {}: no such program; give the path of a PHP command line binary",
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

fn ask(binary: &Path, php_home: &Path) -> Result<Description, String> {
    let log = tempfile::NamedTempFile::new().map_err(|e| format!("no temporary file: {e}"))?;
    let spec = php_worker("php", binary, php_home, log.path().to_owned());
    let mut executor = ProcessExecutor::new(spec, Interrupt::new());
    let description = executor.describe();
    executor.end();
    description.map_err(|failure| match failure {
        Failure::Fault(fault) => fault.message,
        Failure::Interrupted => "interrupted".into(),
    })
}

/// How to start the PHP worker on a binary.
pub fn php_worker(name: &str, binary: &Path, php_home: &Path, log: PathBuf) -> WorkerSpec {
    WorkerSpec::program(name, binary, runtime::worker_arguments(&php_home.join("worker.php")), log)
}

fn add(inventory: &mut Inventory, binary: PathBuf, description: Description) {
    let taken: Vec<String> = inventory.runtimes.iter().map(|r| r.name.clone()).collect();
    let name = runtime::short_name(&description.version, &taken);
    inventory.runtimes.push(RuntimeEntry { name, binary: Some(binary), description });
}
