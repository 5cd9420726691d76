//! `runtimes/NAME.toml`: a distribution whose suites have PHP.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The version of this form.
const SCHEMA: u32 = 1;

/// A distribution whose suites have PHP.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeSource {
    /// The version of this form.
    schema: u32,
    pub about: String,
    /// What the archive's Release file says of itself.
    pub origin: String,
    /// The component that has PHP.
    pub component: String,
    /// Suites by which the archive is known among the machine's sources.
    pub suites: Vec<String>,
    /// Suites that are not whole, each with the suite that has the packages that it lacks.
    #[serde(default)]
    pub needs: BTreeMap<String, String>,
    /// Packages that must be there, with `{php}` for `php8.4`.
    pub required: Vec<String>,
    /// Extensions that are taken where the suite has them: as `php8.4-NAME`, else as `php-NAME`.
    pub extensions: Vec<String>,
    /// Libraries that are taken where the suite has them.
    pub libraries: Vec<String>,
    /// Extensions that are loaded before all others, in this order.
    pub first: Vec<String>,
    /// Extensions that are not loaded though they are there.
    pub never: Vec<String>,
}

impl RuntimeSource {
    /// Reads a definition; `place` is its file, for messages.
    pub fn parse(text: &str, place: &str) -> Result<RuntimeSource> {
        let source: RuntimeSource = toml::from_str(text).with_context(|| format!("{place} is not valid"))?;
        if source.schema != SCHEMA {
            bail!("{place}: schema {} is not known; this program reads {SCHEMA}", source.schema);
        }
        Ok(source)
    }

    /// A suite and the one that it needs, as apt's sources name them.
    pub fn with_needed(&self, suite: &str) -> String {
        self.needs.get(suite).map_or(suite.to_owned(), |other| format!("{suite} {other}"))
    }

    /// The packages to take of those that a suite has, and the name of its PHP (`php8.4`): of this version, or the newest.
    ///
    /// # Errors
    /// The suite has no PHP, or lacks a required package.
    pub fn choose(&self, known: &BTreeSet<String>, version: Option<&str>) -> Result<(String, Vec<String>)> {
        let newest = || {
            let (major, minor) = known.iter().filter_map(|name| version_of(name)).max()?;
            Some(format!("{major}.{minor}"))
        };
        let version = version.map(str::to_owned).or_else(newest).context("it has no PHP")?;
        let php = format!("php{version}");
        let mut chosen = Vec::new();
        for name in &self.required {
            let name = name.replace("{php}", &php);
            if !known.contains(&name) {
                bail!("it has no package {name}");
            }
            chosen.push(name);
        }
        for extension in &self.extensions {
            let forms = [format!("{php}-{extension}"), format!("php-{extension}")];
            chosen.extend(forms.into_iter().find(|name| known.contains(name)));
        }
        chosen.extend(self.libraries.iter().filter(|name| known.contains(*name)).cloned());
        Ok((php, chosen))
    }

    /// Extensions in the order in which they are to be loaded, without those that are not.
    pub fn order(&self, mut extensions: Vec<String>) -> Vec<String> {
        extensions.retain(|name| !self.never.contains(name));
        let rank = |name: &String| self.first.iter().position(|f| f == name).unwrap_or(self.first.len());
        extensions.sort_by_key(|name| (rank(name), name.clone()));
        extensions
    }
}

/// `(8, 4)` of `php8.4-cli`.
fn version_of(package: &str) -> Option<(u32, u32)> {
    let version = package.strip_prefix("php")?.strip_suffix("-cli")?;
    let (major, minor) = version.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests;
