//! A configuration of the user's, reduced to what a private instance can take over: what decides how responses are encoded and sent.
//!
//! Which directives those are stands in `server.toml`; here is how files are read and what happens to each directive. What is not
//! named there is refused with its line: nothing is taken over, or left out in silence, that nobody has thought of.

mod reduce;
mod syntax;
#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::{Context, Result, bail};
use regex::Regex;
use serde::Deserialize;

use super::definition::{Definition, WayRow};
use super::render::{INNER, OUTER};
use crate::digest;
use reduce::Reduced;
pub use syntax::Syntax;
use syntax::Wrong;
use weigh_model::text::clean_path;
use weigh_model::way::{CONFIG, OwnConfig, WayKind};

/// The longest configuration in bytes.
pub const LONGEST: u64 = 1 << 20;

/// What of a user's configuration a server's private instance takes over. Names are compared without regard to case; `*` at the
/// end of one stands for any rest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// How its files are written.
    pub syntax: Syntax,
    /// Regular expressions, any of which tells that a file is for this server.
    pub signs: Vec<String>,
    /// Blocks whose content is read as if it stood outside of them.
    pub through: Vec<String>,
    /// The one of them that is a site; there may be one that does more than redirect.
    pub site: String,
    /// Directives that stand outside of the site.
    pub outer: Vec<String>,
    /// Directives and blocks that are taken over; what is in a block is judged by itself.
    pub keep: Vec<String>,
    /// Blocks that are taken over as they are.
    #[serde(default)]
    pub data: Vec<String>,
    /// Blocks that are taken over with other arguments.
    #[serde(default)]
    pub relocate: std::collections::BTreeMap<String, String>,
    /// What is the private instance's own business.
    pub leave: Vec<String>,
    /// What hands a request to another program: a block with one of these is left out.
    pub elsewhere: Vec<String>,
    /// What reads another file.
    pub include: Vec<String>,
    /// Regular expressions of files that need not be read: the instance has the like.
    pub included: Vec<String>,
    /// Regular expressions of directives that are refused although their names are not.
    #[serde(default)]
    pub forbidden: Vec<String>,
    /// Blocks whose content applies where its module is there.
    #[serde(default)]
    pub guards: Vec<String>,
    /// A regular expression of directives, and the module that they need.
    pub modules: Vec<(String, String)>,
    /// Regular expressions of directives that send variants encoded before.
    pub variants: Vec<String>,
}

/// A configuration with what the user should know of it.
#[derive(Clone, Debug)]
pub struct Read {
    /// What is taken over.
    pub config: OwnConfig,
    /// What is not, one line each.
    pub notes: Vec<String>,
}

/// The server that a file is for, by what stands in it.
///
/// # Errors
/// None or several; names those to choose from.
pub fn recognise<'d>(definitions: &'d [Definition], file: &Path, text: &str) -> Result<&'d Definition> {
    let mut found: Vec<&Definition> = Vec::new();
    for definition in definitions {
        let signs = definition.own.iter().flat_map(|rules| &rules.signs);
        if expressions(signs)?.iter().any(|sign| sign.is_match(text)) {
            found.push(definition);
        }
    }
    match found.as_slice() {
        [one] => Ok(one),
        _ => bail!(
            "--server-config {}: which server it is for cannot be told; add --server NAME ({})",
            clean_path(file),
            known(definitions).join(", ")
        ),
    }
}

/// The servers of which a configuration can be measured.
pub fn known(definitions: &[Definition]) -> Vec<&str> {
    definitions.iter().filter(|d| d.own.is_some()).map(|d| d.name.as_str()).collect()
}

/// Reads a configuration of a server.
///
/// # Errors
/// One line: the file, the line in it, and what cannot be made private there.
pub fn read(definition: &Definition, file: &Path, text: &str) -> Result<Read> {
    let rules = definition.own.as_ref().with_context(|| {
        format!(
            "{}: a configuration of your own cannot be measured yet; measure the running server with --url",
            definition.name
        )
    })?;
    let placed = |wrong: Wrong| anyhow::anyhow!("{}, line {}: {}", clean_path(file), wrong.line, wrong.what);
    let directives = rules.syntax.parse(text).map_err(placed)?;
    let Reduced { outer, inner, notes } = reduce::reduce(rules, directives)?.map_err(placed)?;
    if outer.is_empty() && inner.is_empty() {
        bail!(
            "{}: nothing in it decides how {} encodes or sends a response",
            clean_path(file),
            definition.name
        );
    }
    let all = || outer.iter().chain(&inner);
    let (mut modules, mut optional) = (Vec::new(), Vec::new());
    for (pattern, module) in &rules.modules {
        let pattern = expressions([pattern])?;
        if all().any(|d| reduce::uses(rules, d, &pattern, false)) {
            modules.push(module.clone());
        } else if all().any(|d| reduce::uses(rules, d, &pattern, true)) {
            optional.push(module.clone());
        }
    }
    let variants = expressions(&rules.variants)?;
    let config = OwnConfig {
        file: file.to_string_lossy().into_owned().into(),
        sha256: digest::sha256(text.as_bytes()),
        variants: all().any(|d| reduce::uses(rules, d, &variants, true)),
        outer: rules.syntax.write(&outer),
        inner: rules.syntax.write(&inner),
        modules,
        optional,
    };
    Ok(Read { config, notes })
}

/// What a server says of its configuration, with the user's file named in place of the copy in its private directory: lines are
/// the same in both.
pub(super) fn in_file(definition: &Definition, dir: &Path, words: String) -> String {
    let Some(own) = &definition.mine else { return words };
    [OUTER, INNER].iter().fold(words, |words, name| {
        words.replace(&dir.join(name).display().to_string(), &clean_path(&own.file))
    })
}

/// Regular expressions of a definition.
fn expressions<'t>(texts: impl IntoIterator<Item = &'t String>) -> Result<Vec<Regex>> {
    let made = texts.into_iter().map(|text| {
        let made = regex::RegexBuilder::new(text).multi_line(true).case_insensitive(true).build();
        made.with_context(|| format!("\"{text}\" is no regular expression"))
    });
    made.collect()
}

impl Definition {
    /// The server with a configuration of the user's among its ways.
    pub fn with_own(&self, config: &OwnConfig) -> Definition {
        let row = WayRow {
            name: CONFIG.into(),
            kind: if config.variants { WayKind::PreEncoded } else { WayKind::OnTheFly },
            // What it sends is for browsers to ask for.
            codings: Vec::new(),
            subjects: ["page", "asset", "download"].map(str::to_owned).to_vec(),
            levels: None,
            options: Vec::new(),
            modules: config.modules.clone(),
            optional: config.optional.clone(),
            since: None,
            remedy: None,
            about: format!("the configuration {}", clean_path(&config.file)),
            nominal: Vec::new(),
            mirror: None,
        };
        let mut definition = self.clone();
        definition.ways.push(row);
        definition.mine = Some(config.clone());
        definition
    }
}
