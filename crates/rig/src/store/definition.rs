//! `store.toml`, read strictly, and what part of a store is on this machine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, bail};
use serde::Deserialize;

use crate::service::FolderDefinition;
use weigh_os::programs::{Installed, Query, first_of};

/// A store as its folder describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreDefinition {
    /// The version of the file format; 1.
    pub schema: u32,
    pub name: String,
    pub about: String,
    /// Where it is when there is nothing to start.
    #[serde(default)]
    pub within: Option<Within>,
    /// Names of its program, the first that is found is taken.
    #[serde(default)]
    pub programs: Vec<String>,
    /// The package that brings it; empty: none does.
    #[serde(default)]
    pub package: String,
    /// How it tells its version.
    #[serde(default)]
    pub version: Option<Query>,
    /// The arguments that run it in the foreground; templates.
    #[serde(default)]
    pub run: Vec<String>,
    /// The signal on which it ends.
    #[serde(default = "term")]
    pub stop: String,
    /// The schemes of its URLs.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// The port where a URL has none.
    #[serde(default)]
    pub port: Option<u16>,
    /// What the path of its URLs names. Absent: a database's number.
    #[serde(default)]
    pub path: Option<UrlPath>,
    /// The namespace of a private instance.
    #[serde(default)]
    pub namespace: Option<String>,
    /// The name of its unix socket in the private directory. Absent: it listens on TCP alone.
    #[serde(default)]
    pub socket: Option<String>,
    /// TCP ports that it needs. Absent: one.
    #[serde(default = "one")]
    pub ports: u16,
    /// Folders that it wants to find in its private directory.
    #[serde(default)]
    pub folders: Vec<String>,
    /// What it is asked, and what its answer begins with, when it is ready. Absent: it is ready when it takes connections.
    #[serde(default)]
    pub probe: Option<Probe>,
    /// Settings of PHP's ini that its drivers need, `NAME=VALUE`.
    #[serde(default)]
    pub ini: Vec<String>,
    /// Seconds for which a driver's first requests may fail after that.
    #[serde(default)]
    pub settle: u64,
    /// The templates by file name; not a key of the file.
    #[serde(skip)]
    pub templates: BTreeMap<String, String>,
}

/// Where a store is that nothing is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Within {
    Process,
    Folder,
}

/// What the path of a URL names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UrlPath {
    /// A namespace, which must be there.
    Namespace,
}

/// A question and the begin of its answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    pub send: String,
    /// What the answer begins with.
    pub expect: String,
}

fn term() -> String {
    "TERM".into()
}

fn one() -> u16 {
    1
}

/// A store as this machine has it.
#[derive(Clone, Debug)]
pub struct Found {
    pub definition: StoreDefinition,
    /// Its program; none: not found, or nothing to start.
    pub program: Option<PathBuf>,
    pub version: Option<String>,
    /// Null: it is available. Otherwise the reason.
    pub missing: Option<String>,
    pub remedy: Option<String>,
}

impl FolderDefinition for StoreDefinition {
    const ROOT: &'static str = "stores";
    const FILE: &'static str = "store.toml";

    fn head(&self) -> (u32, &str, &str) {
        (self.schema, &self.name, &self.stop)
    }

    fn templates(&mut self) -> &mut BTreeMap<String, String> {
        &mut self.templates
    }

    fn check(&self) -> Result<()> {
        if self.within.is_none()
            && (self.programs.is_empty() || self.run.is_empty() || self.version.is_none())
        {
            bail!("it needs `programs`, `version` and `run`, or `within` when there is nothing to start");
        }
        let is_plain =
            |name: &&String| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if let Some(odd) = self.folders.iter().find(|name| !is_plain(name)) {
            bail!("folders: `{odd}` may hold letters, digits and hyphens only");
        }
        if self.ports == 0 || self.ports > 3 {
            bail!("ports = {} must be 1 to 3", self.ports);
        }
        self.version.iter().try_for_each(|query| query.expression().map(drop))
    }
}

impl StoreDefinition {
    /// Looks for the store on this machine.
    pub fn find(&self) -> Found {
        self.at(first_of(&self.programs))
    }

    /// The store of this very program.
    pub fn at(&self, program: Option<PathBuf>) -> Found {
        let definition = self.clone();
        let Some(version) = self.version.as_ref().filter(|_| self.within.is_none()) else {
            return Found { definition, program: None, version: None, missing: None, remedy: None };
        };
        let package = (!self.package.is_empty()).then(|| format!("apt install {}", self.package));
        let url = self
            .schemes
            .first()
            .map(|scheme| format!("name a running one with --store {scheme}://HOST:PORT"));
        let remedy: Vec<String> = package.into_iter().chain(url).collect();
        let Installed { program, version, missing, remedy } =
            Installed::ask(program, &self.programs, version, remedy.join(", or "));
        Found { definition, program, version, missing, remedy }
    }
}
