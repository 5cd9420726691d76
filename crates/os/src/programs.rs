//! Programs of this machine: where they are, and what they say of themselves when they are asked.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::answer;
use anyhow::{Context, Result};
use serde::Deserialize;
use weigh_model::text::clean_bytes;

/// Where administrators' programs are although they may not be on an ordinary user's `PATH`.
const ADMINISTRATORS: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// The folders of `path` and those of `ADMINISTRATORS`, each once.
pub fn folders(path: &OsStr) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let all = std::env::split_paths(path).chain(ADMINISTRATORS.into_iter().map(PathBuf::from));
    all.filter(|f| f.is_absolute() && seen.insert(f.clone())).collect()
}

/// The first of these names that is a program on `PATH`, or where administrators' programs are.
pub fn first_of(names: &[String]) -> Option<PathBuf> {
    let folders = folders(&std::env::var_os("PATH").unwrap_or_default());
    names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}

/// Programs called `stem` with nothing but a version behind it (`php`, `php8.2`, `php84`), each once whatever its links, in the order of
/// the folders, and by name within one.
pub fn numbered(stem: &str, folders: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for folder in folders {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        let mut names: Vec<_> =
            entries.flatten().map(|e| e.file_name()).filter(|name| is_numbered(name, stem)).collect();
        names.sort();
        for program in names.into_iter().map(|name| folder.join(name)) {
            let Ok(real) = program.canonicalize() else { continue };
            if real.is_file() && seen.insert(real) {
                found.push(program);
            }
        }
    }
    found
}

fn is_numbered(name: &OsStr, stem: &str) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(stem));
    rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// A question to a program: arguments, and a regular expression whose first group is an answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    pub args: Vec<String>,
    /// The expression; it is looked for in stdout and stderr.
    pub pattern: String,
}

impl Query {
    pub fn expression(&self) -> Result<regex::Regex> {
        let made = regex::RegexBuilder::new(&self.pattern).multi_line(true).build();
        made.with_context(|| format!("pattern = \"{}\" is no regular expression", self.pattern))
    }

    /// What a program answers: the first group of each match.
    ///
    /// # Errors
    /// One line: it cannot be started, or does not end.
    pub fn ask(&self, program: &Path) -> io::Result<Vec<String>> {
        let said = answer(Command::new(program).args(&self.args).env("LC_ALL", "C"))?;
        Ok(self.answers(&(said.stdout + &said.stderr)))
    }

    fn answers(&self, text: &str) -> Vec<String> {
        let Ok(expression) = self.expression() else { return Vec::new() };
        let groups = expression.captures_iter(text).filter_map(|c| c.get(1));
        groups.map(|group| clean_bytes(group.as_str().as_bytes())).collect()
    }
}

/// What part of a program is on this machine.
#[derive(Clone, Debug)]
pub struct Installed {
    /// Where it is; none: nowhere.
    pub program: Option<PathBuf>,
    /// The version that it says.
    pub version: Option<String>,
    /// Null: it can be started. Else why not.
    pub missing: Option<String>,
    pub remedy: Option<String>,
}

impl Installed {
    /// Asks a program that was looked for under these names. `remedy` brings it.
    pub fn ask(program: Option<PathBuf>, names: &[String], version: &Query, remedy: String) -> Installed {
        let Some(place) = &program else {
            let missing = Some(format!("no program {}", names.join(" or ")));
            return Installed { program, version: None, missing, remedy: Some(remedy) };
        };
        let (version, missing) = match version.ask(place).map(|said| said.into_iter().next()) {
            Ok(Some(version)) => (Some(version), None),
            Ok(None) => (None, Some(format!("{} does not tell its version", place.display()))),
            Err(error) => (None, Some(error.to_string())),
        };
        Installed { program, version, missing, remedy: None }
    }
}

#[cfg(test)]
mod tests;
