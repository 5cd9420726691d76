//! What a server's definition says of its configurations, and what this machine has of the server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use regex::Regex;
use serde::Deserialize;

use super::syntax::Syntax;

/// The parts of a user's configuration that a private instance cannot have as they are. Names are compared without regard to case; `*` at the end of
/// one stands for any rest. Everything that is not named here is taken over, and checked by the server itself.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// How its files are written.
    pub syntax: Syntax,
    /// The arguments by which the server prints what a configuration means, `{file}` among them; none: its files are read as they stand.
    #[serde(default)]
    pub print: Vec<String>,
    /// Regular expressions, any of which tells that a file is for this server.
    pub signs: Vec<String>,
    /// The name of the root file, which is looked for beside the folder of a part.
    pub root: String,
    /// Directives that only a root file has.
    pub whole: Vec<String>,
    /// The file of the instance that it stands in place of.
    pub file: String,
    /// Where its files usually are: a copied tree names them by these folders.
    pub homes: Vec<PathBuf>,
    /// The folder that relative paths of served files begin in.
    pub prefix: PathBuf,
    /// The document root where nothing says one.
    pub docroot: PathBuf,
    /// The block that sites stand in; absent: none.
    #[serde(default)]
    pub around: Option<String>,
    /// The block that is a site.
    pub site: String,
    /// The file that folders have of their own; empty: none.
    #[serde(default)]
    pub folder_file: String,
    /// Environment variables that it may name, where no file beside the root says.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Modules that are always there.
    #[serde(default)]
    pub built_in: Vec<String>,
    /// What is the private instance's own business.
    pub mine: Vec<String>,
    /// What is left out: it asks or writes outside, runs programs, or refuses the lab's own requests.
    pub without: Vec<String>,
    /// What hands requests to other programs.
    pub elsewhere: Vec<String>,
    /// Regular expressions of directives with what stands in place of them, the first that matches; `{line}` is the line's number.
    pub swap: Vec<(String, String)>,
    /// Regular expressions of directives whose first group is a path of files that are served.
    pub paths: Vec<String>,
    /// The same, where it may be something else: a path only if it begins with the document root.
    #[serde(default)]
    pub values: Vec<String>,
    /// What is otherwise where every visitor is a stranger.
    #[serde(default)]
    pub stranger: Stranger,
    /// Blocks whose content is no directives.
    #[serde(default)]
    pub data: Vec<String>,
    /// A regular expression of what loads a module; its first group is the file.
    pub load: String,
    /// The package of a module; `{}` stands for its name.
    pub package: String,
    /// Directives that a block has where the user's has none; `""` is the file itself.
    #[serde(default)]
    pub defaults: BTreeMap<String, Vec<String>>,
    /// Templates that are included at the begin of a block; `""` is the file itself.
    #[serde(default)]
    pub inserts: BTreeMap<String, String>,
    /// A template that is included at the end.
    #[serde(default)]
    pub end: Option<String>,
    /// A template that is included around a part that stands alone.
    #[serde(default)]
    pub wrap: Option<String>,
    /// A template that is included in the site of such a part where it hands nothing to PHP.
    #[serde(default)]
    pub php: Option<String>,
    /// Directives that stand around such a part where it has none of that name.
    #[serde(default)]
    pub alone: Vec<String>,
    /// Directives of such a part that stand outside of the site.
    #[serde(default)]
    pub outer: Vec<String>,
    /// Of such a part: a regular expression of directives, and the module that they need.
    #[serde(default)]
    pub modules: Vec<(String, String)>,
    /// Of such a part: blocks whose content applies where its module is there.
    #[serde(default)]
    pub guards: Vec<String>,
}

/// A configuration where every visitor is a stranger: without a login, and from nowhere.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stranger {
    /// What of [`Rules::without`] asks for a login, and stays.
    #[serde(default)]
    pub logins: Vec<String>,
    /// What is left out in its place, as it knows users.
    #[serde(default)]
    pub without: Vec<String>,
    /// Goes before [`Rules::swap`].
    #[serde(default)]
    pub swap: Vec<(String, String)>,
}

impl Rules {
    /// The same for strangers.
    pub fn for_strangers(mut self) -> Rules {
        let Stranger { logins, without, swap } = self.stranger.clone();
        self.without.retain(|name| !logins.contains(name));
        self.without.extend(without);
        self.swap.splice(0..0, swap);
        self
    }
}

/// What this machine has of a server.
#[derive(Clone, Copy, Debug)]
pub struct InstalledServer<'s> {
    /// Its program; none: not found.
    pub program: Option<&'s Path>,
    /// A module's file, `{}` stands for its name; none: it has no modules in files.
    pub module_file: Option<&'s str>,
    /// Its modules by name; one that is built in has no file.
    pub modules: &'s BTreeMap<String, Option<PathBuf>>,
}

/// Whether a name is one of these.
pub(super) fn is(names: &[String], name: &str) -> bool {
    let name = name.to_lowercase();
    names.iter().any(|known| match known.to_lowercase().strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == known.to_lowercase(),
    })
}

/// A regular expression of a definition.
pub fn expression(text: &str) -> Result<Regex> {
    let made = regex::RegexBuilder::new(text).multi_line(true).case_insensitive(true).build();
    made.with_context(|| format!("\"{text}\" is no regular expression"))
}

/// Regular expressions of a definition.
pub fn expressions<'t>(texts: impl IntoIterator<Item = &'t String>) -> Result<Vec<Regex>> {
    texts.into_iter().map(|text| expression(text)).collect()
}
