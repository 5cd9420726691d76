//! `server.toml`, read strictly: an unknown key is an error that names the nearest one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, bail};
use serde::Deserialize;

use crate::service::FolderDefinition;
use weigh_model::advised::Advised;
use weigh_model::protocol::{Levels, OptionDescription};
use weigh_model::way::{OwnConfig, WayKind};
use weigh_os::programs::Query;
use weigh_serverconf::Rules;

use super::dictionaries::Dictionaries;
use super::emission::Emission;

/// A web server as its folder describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The version of the file format; 1.
    pub schema: u32,
    pub name: String,
    pub about: String,
    /// Names of its program, the first that is found is taken: on `PATH`, and where administrators' programs are.
    pub programs: Vec<String>,
    /// The package that brings it.
    pub package: String,
    /// How it tells its version.
    pub version: Query,
    /// The arguments that run it in the foreground; templates.
    pub run: Vec<String>,
    /// The arguments that let it check its configuration; templates. Absent: it cannot.
    #[serde(default)]
    pub lint: Option<Vec<String>>,
    /// The signal on which it finishes what it does and ends: `QUIT`, `TERM`, …
    pub stop: String,
    /// The path that its configuration answers with status 200 and the instance's token.
    pub ready: String,
    /// Where its PHP comes from.
    pub php: Php,
    /// The header by which PHP hands a file over; absent: it has none.
    #[serde(default)]
    pub offload_header: Option<String>,
    /// Environment variables; values are templates.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Modules that every configuration needs.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Where modules are; absent: it has none.
    #[serde(default)]
    pub modules: Option<Modules>,
    /// What HTTPS needs; absent: it has no HTTPS.
    #[serde(default)]
    pub tls: Option<Tls>,
    /// Options that every way has; the first word of each is the default.
    #[serde(default)]
    pub options: Vec<OptionDescription>,
    /// What of a user's own configuration can be measured; absent: nothing.
    #[serde(default)]
    pub own: Option<Rules>,
    /// What a policy is written as; absent: nothing.
    #[serde(default)]
    pub policy: Option<Emission>,
    pub ways: Vec<WayRow>,
    /// The templates by file name; not a key of the file.
    #[serde(skip)]
    pub templates: BTreeMap<String, String>,
    /// The user's configurations among its ways; not a key of the file.
    #[serde(skip)]
    pub mine: Vec<OwnConfig>,
    /// What a policy asks of it, where that is among its ways; not a key of the file.
    #[serde(skip)]
    pub advised: Option<Advised>,
    /// The deltas that it sends whatever the way, where the files have any; not a key of the file.
    #[serde(skip)]
    pub dictionaries: Option<Dictionaries>,
}

impl Definition {
    /// Whether it can be configured for the deltas of its files.
    pub fn has_dictionaries(&self) -> bool {
        self.policy.iter().flat_map(|policy| &policy.snippets).any(|snippet| snippet.dictionaries)
    }

    /// The modules that their configuration takes.
    pub(super) fn dictionary_modules(&self) -> impl Iterator<Item = &String> {
        let snippets = self.policy.iter().flat_map(|policy: &Emission| &policy.snippets);
        snippets.filter(|snippet| snippet.dictionaries).flat_map(|snippet| &snippet.modules)
    }
}

/// Who carries out PHP scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Php {
    Fpm,
    /// The server itself: it is PHP.
    Itself,
}

/// Where a server's modules are.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modules {
    /// Folders, the first that has a module wins.
    #[serde(default)]
    pub folders: Vec<PathBuf>,
    /// A module's file; `{}` stands for its name.
    #[serde(default)]
    pub file: Option<String>,
    /// How the program tells the modules that are built in.
    #[serde(default)]
    pub built_in: Option<Query>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    #[serde(default)]
    pub modules: Vec<String>,
    #[serde(default)]
    pub remedy: Option<String>,
}

/// One way; see [`weigh_model::way::WayDescription`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WayRow {
    pub name: String,
    pub kind: WayKind,
    /// The content codings that it can send.
    #[serde(default)]
    pub codings: Vec<String>,
    /// What it serves: `page`, `asset`, `download`.
    pub subjects: Vec<String>,
    #[serde(default)]
    pub levels: Option<Levels>,
    /// Options beside the level and those of the server.
    #[serde(default)]
    pub options: Vec<OptionDescription>,
    #[serde(default)]
    pub modules: Vec<String>,
    /// Modules that it uses where they are there.
    #[serde(default)]
    pub optional: Vec<String>,
    /// The first version of the server that has it.
    #[serde(default)]
    pub since: Option<String>,
    /// What would bring what it needs.
    #[serde(default)]
    pub remedy: Option<String>,
    #[serde(default)]
    pub about: String,
    /// Rough encode throughput, (level, MB/s).
    #[serde(default)]
    pub nominal: Vec<(i32, f64)>,
    /// It serves links to the files of the docroot, arranged as it needs them.
    #[serde(default)]
    pub mirror: Option<Mirror>,
    /// A regular expression of the directives of a user's configuration that switch it on.
    #[serde(default)]
    pub directive: Option<String>,
    /// The directive that lists the types which it encodes, in place of a list further out.
    #[serde(default)]
    pub types_in: Option<String>,
    /// The directive that has the level.
    #[serde(default)]
    pub level_in: Option<String>,
    /// The directive that has the smallest size.
    #[serde(default)]
    pub size_in: Option<String>,
    /// The method that compresses beside it what has no precompressed file: where this one is on, the filters of other content codings send
    /// such responses uncompressed to clients that accept its own.
    #[serde(default)]
    pub beside: Option<String>,
    /// The directive that lists its coding and those of other methods.
    #[serde(default)]
    pub codings_in: Option<String>,
}

/// How the links of a mirrored docroot differ from the docroot: only for files that have encoded variants beside them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mirror {
    /// The file's own name in it, from `name` and `extension`; absent: the same.
    #[serde(default)]
    pub plain: Option<String>,
    /// A template, `NAME.EXTENSION`, that is rendered for each file and stands beside it as `FILE.EXTENSION`.
    #[serde(default)]
    pub map: Option<String>,
}

impl FolderDefinition for Definition {
    const ROOT: &'static str = "servers";
    const FILE: &'static str = "server.toml";

    fn head(&self) -> (u32, &str, &str) {
        (self.schema, &self.name, &self.stop)
    }

    fn templates(&mut self) -> &mut BTreeMap<String, String> {
        &mut self.templates
    }

    fn check(&self) -> Result<()> {
        if !self.ready.starts_with('/') || self.programs.is_empty() {
            bail!("it needs a `ready` path that begins with / and at least one of `programs`");
        }
        self.version.expression()?;
        self.modules.iter().flat_map(|m| &m.built_in).try_for_each(|query| query.expression().map(drop))?;
        for way in &self.ways {
            if self.ways.iter().filter(|w| w.name == way.name).count() > 1 {
                bail!("the method `{}` is there twice", way.name);
            }
            let map = way.mirror.as_ref().and_then(|m| m.map.as_ref());
            if let Some(map) = map.filter(|m| !self.templates.contains_key(*m)) {
                bail!("the method `{}` needs a template {map} beside server.toml", way.name);
            }
        }
        let parts = self.policy.iter().flat_map(Emission::templates);
        if let Some(part) = parts.into_iter().find(|part| !self.templates.contains_key(*part)) {
            bail!("the policy needs a template {part} beside server.toml");
        }
        Ok(())
    }
}
