//! What part of a server is on this machine: its program, version and modules, and with them its ways.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::definition::{Definition, WayRow};
use weigh_model::setting::Setting;
use weigh_model::suggest::nearest_hint;
use weigh_model::way::WayDescription;
use weigh_os::programs::{Installed, first_of};

/// A server as this machine has it.
#[derive(Clone, Debug)]
pub struct Found {
    pub definition: Definition,
    /// Its program; none: not found.
    pub program: Option<PathBuf>,
    /// The version as queried: `1.22.1`.
    pub version: Option<String>,
    /// Its modules by name; one that is built in has no file.
    pub modules: BTreeMap<String, Option<PathBuf>>,
    /// Its ways, each with what it lacks.
    pub ways: Vec<WayDescription>,
    /// Null: HTTPS is available. Otherwise the reason.
    pub tls_missing: Option<String>,
    /// Null: the server can be started. Else why not.
    pub missing: Option<String>,
    pub remedy: Option<String>,
}

impl Definition {
    /// Looks for the server on this machine.
    pub fn find(&self) -> Found {
        self.at(first_of(&self.programs))
    }

    /// The server of this very program.
    pub fn at(&self, program: Option<PathBuf>) -> Found {
        let install = format!("apt install {}", self.package);
        let Installed { program, version, missing, remedy } =
            Installed::ask(program, &self.programs, &self.version, install.clone());
        let modules = program.as_deref().map_or_else(BTreeMap::new, |p| self.modules_of(p));
        let lacks = |names: &[String]| {
            let first = names.iter().find(|n| !modules.contains_key(*n) && self.modules.is_some())?;
            Some(format!("module {first} was not found"))
        };
        let (missing, remedy) = match missing {
            Some(missing) => (Some(missing), remedy),
            None => lacks(&self.needs).map(|missing| (missing, install)).unzip(),
        };
        let tls_missing = match &self.tls {
            None => Some("it has no HTTPS".into()),
            Some(tls) => missing.clone().or_else(|| lacks(&tls.modules)),
        };
        let about = |row: &WayRow| {
            let since = row.since.as_ref().zip(version.as_ref()).filter(|(s, v)| numbers(v) < numbers(s));
            let too_old = since.map(|(s, v)| format!("{} {v} does not have it, {s} does", self.name));
            match &missing {
                Some(missing) => (Some(missing.clone()), remedy.clone()),
                None => (lacks(&row.modules).or(too_old), row.remedy.clone()),
            }
        };
        let ways = self.ways.iter().map(|row| {
            let (missing, remedy) = about(row);
            let library =
                version.as_ref().filter(|_| missing.is_none()).map(|v| format!("{} {v}", self.name));
            self.describe(row, library, missing, remedy)
        });
        let ways = ways.collect();
        Found { definition: self.clone(), program, version, modules, ways, tls_missing, missing, remedy }
    }

    fn describe(
        &self,
        row: &WayRow,
        library: Option<String>,
        missing: Option<String>,
        remedy: Option<String>,
    ) -> WayDescription {
        WayDescription {
            name: row.name.clone(),
            kind: row.kind,
            codings: row.codings.clone(),
            subjects: row.subjects.clone(),
            levels: row.levels.clone(),
            options: row.options.iter().chain(&self.options).cloned().collect(),
            library,
            about: row.about.clone(),
            nominal: row.nominal.clone(),
            remedy: remedy.filter(|_| missing.is_some()),
            missing,
        }
    }

    fn modules_of(&self, program: &Path) -> BTreeMap<String, Option<PathBuf>> {
        let Some(modules) = &self.modules else { return BTreeMap::new() };
        let built_in = modules.built_in.iter().flat_map(|query| query.ask(program).unwrap_or_default());
        let mut found: BTreeMap<_, _> = built_in.map(|name| (name, None)).collect();
        let (before, after) = modules.file.as_deref().and_then(|f| f.split_once("{}")).unwrap_or_default();
        for folder in modules.folders.iter().rev().filter(|_| modules.file.is_some()) {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let name = name.to_str().and_then(|n| n.strip_prefix(before)?.strip_suffix(after));
                found.extend(name.map(|n| (n.to_owned(), Some(entry.path()))));
            }
        }
        found
    }
}

impl Found {
    /// The row of the way that a setting names; without one, of the plain way.
    pub(super) fn row(&self, way: Option<&Setting>) -> Result<Option<&WayRow>> {
        let Some(way) = way else { return Ok(None) };
        let name = &self.definition.name;
        let names = || self.ways.iter().map(|w| w.name.as_str());
        let Some(described) = self.ways.iter().find(|w| w.name == way.codec) else {
            bail!("{name} has no method `{}`{}", way.codec, nearest_hint(&way.codec, names()));
        };
        if let Some(missing) = &described.missing {
            let remedy = described.remedy.as_ref().map_or(String::new(), |r| format!(": {r}"));
            bail!("{name}: {} is not available: {missing}{remedy}", way.codec);
        }
        match (way.level, &described.levels) {
            (Some(level), None) => bail!("{name}: {} has no levels, so not {level}", way.codec),
            (Some(level), Some(range)) if level < range.min || level > range.max => {
                bail!("{name}: {} has levels {} to {}, not {level}", way.codec, range.min, range.max)
            }
            _ => {}
        }
        for (option, value) in &way.options {
            let known = described.options.iter().map(|o| o.name.as_str());
            let Some(found) = described.options.iter().find(|o| o.name == *option) else {
                bail!("{name}: {} has no option `{option}`{}", way.codec, nearest_hint(option, known));
            };
            let in_range = |(low, high)| value.parse::<i32>().is_ok_and(|v| v >= low && v <= high);
            if !found.words.contains(value) && !found.range.is_some_and(in_range) {
                bail!("{name}: {option}={value} is not accepted; use {}", found.words.join(", "));
            }
        }
        Ok(self.definition.ways.iter().find(|row| row.name == way.codec))
    }
}

/// The numbers of a version, for comparison.
fn numbers(version: &str) -> Vec<u32> {
    version.split(|c: char| !c.is_ascii_digit()).map_while(|n| n.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(numbers("1.4.69") < numbers("1.10"));
        assert!(numbers("v2.11.0-beta") > numbers("v2.6") || numbers("2.11.0-beta") > numbers("2.6"));
    }
}
