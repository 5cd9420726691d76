//! A configuration of the user's: read as its server reads it, understood, and made fit for a private instance that runs it whole.
//!
//! [`tree`] reads it, [`site`] finds the site that is meant, and [`whole`] rewrites it where it must be. What it does with a URL is asked
//! of the instance. What is particular to a server stands in its `server.toml`. Nothing outside of the lab is written or asked.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod notes;
pub mod php;
pub mod places;
mod rules;
pub mod site;
pub mod syntax;
pub mod tree;
pub mod whole;

use std::path::Path;

use anyhow::{Context, Result};
use regex::Regex;

use rules::is;
pub use rules::{InstalledServer, Rules, expression, expressions};
use site::{Site, Wanted};
use syntax::Directive;
pub use syntax::Syntax;
use tree::Tree;
use weigh_model::text::clean_path;
use weigh_model::way::{CONFIG, DIR, OwnConfig};

/// A configuration that was read, with the site that is meant.
#[derive(Clone, Debug)]
pub struct Read {
    pub tree: Tree,
    pub site: Site,
    /// What a private instance runs.
    pub config: OwnConfig,
    /// The parts of it that were left out or replaced, one line each.
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
pub fn read(
    rules: &Rules,
    server: &InstalledServer<'_>,
    file: &Path,
    text: &str,
    wanted: &Wanted,
) -> Result<Read> {
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
        origins: whole.written.origins,
        root: site.root.clone(),
        host: site.host(&whole.written.text).map(str::to_owned),
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
