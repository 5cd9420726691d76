//! `store.toml`, read strictly, and what of a store is on this machine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::defs::Definitions;
use crate::rig::fpm::folders;
use crate::rig::server::definition::{Query, signal};
use crate::rig::server::found::ask;
use weigh_model::suggest::readable;

/// The version of the file format that this program reads.
pub const SCHEMA: u32 = 1;

/// A store as its folder describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreDefinition {
    /// The version of the file format; [`SCHEMA`].
    pub schema: u32,
    /// The folder's name.
    pub name: String,
    /// One line for tables.
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
    /// In PHP's process.
    Process,
    /// In a folder.
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
    /// What is sent.
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
    /// Its definition.
    pub definition: StoreDefinition,
    /// Its program; none: not found, or nothing to start.
    pub program: Option<PathBuf>,
    /// The version as queried.
    pub version: Option<String>,
    /// Null: it can be had. Else why not.
    pub missing: Option<String>,
    /// What would mend it.
    pub remedy: Option<String>,
}

/// All stores that are defined.
pub struct Stores;

impl Stores {
    /// The embedded stores and those of the overlay, by name.
    ///
    /// # Errors
    /// One line: which file is wrong, and where.
    pub fn load(definitions: &Definitions) -> Result<Vec<StoreDefinition>> {
        definitions
            .folders("stores")?
            .into_iter()
            .map(|(name, files)| StoreDefinition::parse(&name, files))
            .collect()
    }
}

impl StoreDefinition {
    /// A store from the files of its folder.
    pub(super) fn parse(folder: &str, mut files: BTreeMap<String, String>) -> Result<StoreDefinition> {
        let whence = format!("stores/{folder}/store.toml");
        let Some(text) = files.remove("store.toml") else {
            bail!("stores/{folder}: there is no store.toml in it");
        };
        let mut definition: StoreDefinition =
            toml::from_str(&text).map_err(|e| readable(&e, &text, &whence))?;
        definition.templates = files;
        definition.check(folder).with_context(|| whence)?;
        Ok(definition)
    }

    fn check(&self, folder: &str) -> Result<()> {
        if self.schema != SCHEMA {
            bail!("schema = {} is not known; this program reads schema = {SCHEMA}", self.schema);
        }
        if self.name != folder {
            bail!("name = \"{}\" is not the folder's", self.name);
        }
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
        signal(&self.stop)?;
        self.version.iter().try_for_each(|query| query.expression().map(|_| ()))
    }

    /// Looks for the store on this machine.
    pub fn find(&self) -> Found {
        if self.within.is_some() {
            return Found {
                definition: self.clone(),
                program: None,
                version: None,
                missing: None,
                remedy: None,
            };
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = folders(&path);
        let program =
            self.programs.iter().find_map(|p| folders.iter().map(|f| f.join(p)).find(|f| f.is_file()));
        self.at(program)
    }

    /// The store of this very program.
    pub fn at(&self, program: Option<PathBuf>) -> Found {
        let asked = program.as_deref().zip(self.version.as_ref());
        let version = asked.and_then(|(program, query)| ask(program, query).into_iter().next());
        let (missing, remedy) = match (&program, &version) {
            (None, _) => {
                let package = (!self.package.is_empty()).then(|| format!("apt install {}", self.package));
                let url = self
                    .schemes
                    .first()
                    .map(|scheme| format!("name a running one with --store {scheme}://HOST:PORT"));
                let remedy: Vec<String> = package.into_iter().chain(url).collect();
                (Some(format!("no program {}", self.programs.join(" or "))), Some(remedy.join(", or ")))
            }
            (Some(program), None) => (Some(format!("{} does not tell its version", program.display())), None),
            _ => (None, None),
        };
        Found { definition: self.clone(), program, version, missing, remedy }
    }
}
