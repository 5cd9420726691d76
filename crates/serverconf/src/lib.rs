//! A configuration of the user's: read as its server reads it, understood, and made fit for a private instance that runs it whole.
//!
//! [`tree`] reads it, [`site`] finds the site that is meant, and [`whole`] rewrites it where it must be. What it does with a URL is asked
//! of the instance. What is particular to a server stands in its `server.toml`. Nothing outside of the lab is written or asked.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod notes;
pub mod php;
pub mod places;
pub mod site;
pub mod syntax;
pub mod tree;
pub mod whole;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use regex::Regex;
use serde::Deserialize;

use site::{Site, Wanted};
pub use syntax::Syntax;
use syntax::{Directive, Place};
use tree::Tree;
use weigh_model::text::clean_path;
use weigh_model::way::{CONFIG, DIR, OwnConfig};

/// What of a user's configuration a private instance cannot have as it is. Names are compared without regard to case; `*` at the end of
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

/// What this machine has of a server.
#[derive(Clone, Copy, Debug)]
pub struct Installed<'s> {
    /// Its program; none: not found.
    pub program: Option<&'s Path>,
    /// A module's file, `{}` stands for its name; none: it has no modules in files.
    pub module_file: Option<&'s str>,
    /// Its modules by name; one that is built in has no file.
    pub modules: &'s BTreeMap<String, Option<PathBuf>>,
}

/// A configuration that was read, with the site that is meant.
#[derive(Clone, Debug)]
pub struct Read {
    pub tree: Tree,
    pub site: Site,
    /// What a private instance runs.
    pub config: OwnConfig,
    /// What of it was left out or replaced, one line each.
    pub notes: Vec<String>,
}

/// The file of media types in an instance's folder.
pub const TYPES_FILE: &str = "own.types";

/// The text with the list of media types in the instance's own folder: the user's file may be readable for its owner alone.
pub fn with_types(text: &str, tree: &Tree) -> String {
    let is_list = |line: &str| {
        let name = line.split_whitespace().next().unwrap_or_default();
        tree.types.is_some() && name.eq_ignore_ascii_case("TypesConfig")
    };
    let line = |line: &str| {
        if is_list(line) { format!("TypesConfig \"{DIR}/{TYPES_FILE}\"\n") } else { line.to_owned() }
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Its media types, each with its extension.
fn listed(tree: &Tree) -> String {
    tree.types.iter().flatten().map(|(extension, of)| format!("{of} {extension}\n")).collect()
}

/// Reads a configuration of a server and makes it fit for a private instance. `text` is what the file has.
///
/// # Errors
/// One line: the file, the line in it, and what cannot be read or run.
pub fn read(rules: &Rules, server: &Installed<'_>, file: &Path, text: &str, wanted: &Wanted) -> Result<Read> {
    let mut tree = Tree::read(rules, server.program, file, text)?;
    let mut site = site::choose(rules, &tree, wanted).with_context(|| clean_path(file))?;
    let (modules, optional) = if tree.is_whole { (Vec::new(), Vec::new()) } else { modules(rules, &tree)? };
    if !tree.is_whole {
        whole::frame(rules, &mut tree, &mut site);
    }
    let whole = whole::whole(rules, server, &tree, &site)?;
    let config = OwnConfig {
        way: CONFIG.to_owned(),
        file: file.to_string_lossy().into_owned().into(),
        sha256: tree.sha256.clone(),
        files: tree.files.iter().map(|file| file.to_string_lossy().into_owned().into()).collect(),
        text: with_types(&whole.written.text, &tree),
        types: listed(&tree),
        origins: whole.written.origins.iter().map(|at| at.map(|Place { file, line }| (file, line))).collect(),
        root: site.root.clone(),
        host: site.host().map(str::to_owned),
        modules,
        optional,
        ..OwnConfig::default()
    };
    let mut notes = whole.notes;
    if tree.only.is_some() {
        let root = tree.files.first().map(|root| clean_path(root)).unwrap_or_default();
        notes.insert(0, format!("read as a part of {root}"));
    } else if !tree.is_whole {
        notes
            .insert(0, format!("no {} was found with it; what it does not say is Weighbridge's", rules.root));
    }
    Ok(Read { tree, site, config, notes })
}

/// The modules that a part which stands alone needs, and those that it uses where they are there.
fn modules(rules: &Rules, tree: &Tree) -> Result<(Vec<String>, Vec<String>)> {
    let (mut needed, mut optional) = (Vec::new(), Vec::new());
    for (pattern, module) in &rules.modules {
        let pattern = expression(pattern)?;
        if tree.directives.iter().any(|d| uses(rules, d, &pattern, false)) {
            needed.push(module.clone());
        } else if tree.directives.iter().any(|d| uses(rules, d, &pattern, true)) {
            optional.push(module.clone());
        }
    }
    Ok((needed, optional))
}

/// Whether a directive, or one within it, is such a one; `guarded`: those count too that apply only where a module is there.
fn uses(rules: &Rules, directive: &Directive, pattern: &Regex, guarded: bool) -> bool {
    let is_guard = is(&rules.guards, &directive.name);
    (!is_guard && pattern.is_match(&directive.text()))
        || ((guarded || !is_guard) && directive.within().iter().any(|d| uses(rules, d, pattern, guarded)))
}

/// Whether a name is one of these.
fn is(names: &[String], name: &str) -> bool {
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
