//! A run as it stands on disk: read without locking, checked before it is believed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::{PLAN, RECORDS, RUN};
use crate::log::{self, Log, LogError};
use weigh_answer::report::{Report, RunFacts};
use weigh_answer::subject;
use weigh_model::plan::Plan;
use weigh_model::record::Record;
use weigh_os::digest::sha256;
use weigh_os::machine::Machine;
use weigh_os::regular;

/// The version of the directory's layout and of its files.
pub const SCHEMA: u32 = 1;

/// `run.json`: the facts of a run that do not change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunFile {
    /// [`SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// When the run was started first, RFC 3339, UTC.
    pub started: String,
    /// Weighbridge's version.
    pub version: String,
    /// The command line.
    pub command: Vec<String>,
    /// The seed of every random choice.
    pub seed: u64,
    /// The machine, as queried at the start.
    pub machine: Machine,
    /// SHA-256 of other files of the directory, by name, hexadecimal.
    pub digests: BTreeMap<String, String>,
}

impl RunFile {
    /// The facts of a run that starts now.
    pub fn new(plan: &Plan, plan_json: &[u8], command: Vec<String>, machine: Machine) -> RunFile {
        let now = jiff::Timestamp::now();
        let started = jiff::Timestamp::from_second(now.as_second()).unwrap_or(now).to_string();
        let digests = BTreeMap::from([(PLAN.to_owned(), sha256(plan_json))]);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        RunFile { schema: SCHEMA, started, version, command, seed: plan.seed, machine, digests }
    }

    /// The command line as it can be typed.
    pub fn command_line(&self) -> String {
        shell_words::join(&self.command)
    }

    /// The command line without what only this run had: its folder, its profiles, how it was shown and judged. None of
    /// another verb than `run`, which measures more than studies.
    pub fn repeat(&self) -> Option<String> {
        const WITH_VALUE: [&str; 6] = ["--out", "--profile", "--columns", "--gate", "--gates", "--junit"];
        const ALONE: [&str; 2] = ["--json", "--full"];
        let mut words = self.command.iter();
        let mut kept: Vec<&str> = words.next().map(String::as_str).into_iter().collect();
        let mut verb = None;
        while let Some(word) = words.next() {
            let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
            if ALONE.contains(&name) {
                continue;
            }
            if WITH_VALUE.contains(&name) {
                // Its value is the next word, unless it stands in this one.
                if name == word {
                    words.next();
                }
                continue;
            }
            kept.push(word);
            if name == "--defs" && name == word {
                kept.extend(words.next().map(String::as_str));
            } else if verb.is_none() && !word.starts_with('-') {
                verb = Some(word.as_str());
            }
        }
        (verb == Some("run")).then(|| shell_words::join(kept))
    }
}

#[derive(Clone, Debug)]
pub struct StoredRun {
    pub path: PathBuf,
    pub file: RunFile,
    pub plan: Plan,
    pub records: Vec<Record>,
    /// Bytes of a torn last line of the log, ignored: a visit that was cut off, or is being written.
    pub torn_bytes: u64,
}

impl StoredRun {
    /// Reads a run directory, complete, interrupted or going on; of a very long one some rounds, see [`weigh_model::thin`].
    ///
    /// # Errors
    /// It is no run directory, is damaged, or was written by a later version.
    pub fn read(path: &Path) -> Result<StoredRun> {
        StoredRun::read_by(path, log::thinned).map(|(stored, _)| stored)
    }

    /// The run, and the bytes of its log up to the last whole record.
    pub(super) fn read_by(
        path: &Path,
        read: impl FnOnce(&Path, &Plan) -> Result<Log, LogError>,
    ) -> Result<(StoredRun, u64)> {
        if !path.join(RUN).exists() {
            bail!("{}: not a run directory (it has no {RUN})", path.display());
        }
        let (_, run_json) = load(path, RUN)?;
        let schema = run_json.get("schema").and_then(serde_json::Value::as_u64);
        match schema {
            Some(schema) if schema == u64::from(SCHEMA) => {}
            Some(schema) => bail!(
                "{}: was written in schema {schema} and this weigh reads schema {SCHEMA}; use the version of \
                 weigh that wrote it",
                path.join(RUN).display()
            ),
            None => bail!("{}: names no schema; it is damaged", path.join(RUN).display()),
        }
        let file: RunFile = typed(path, RUN, run_json)?;
        let (plan_bytes, plan_json) = load(path, PLAN)?;
        let digest = sha256(&plan_bytes);
        if file.digests.get(PLAN) != Some(&digest) {
            bail!(
                "{}: not the plan that this run was started with (its digest is not the one in {RUN}); restore \
                 it or start a new run",
                path.join(PLAN).display()
            );
        }
        let plan: Plan = typed(path, PLAN, plan_json)?;
        let checked = subject::check(&plan).and_then(|()| plan.check());
        checked.with_context(|| format!("{}: damaged", path.join(PLAN).display()))?;
        let log = read(&path.join(RECORDS), &plan)?;
        let stored =
            StoredRun { path: path.to_owned(), file, plan, records: log.records, torn_bytes: log.torn_bytes };
        Ok((stored, log.valid_bytes))
    }

    /// The run ended by itself.
    pub fn is_complete(&self) -> bool {
        self.records.iter().any(|r| matches!(r, Record::End { .. }))
    }

    pub fn report(&self) -> Report {
        Report::of(&self.facts(), &self.plan, &self.records)
    }

    /// The facts for a heading: how long, how many rounds, and whether it is complete.
    pub fn facts(&self) -> RunFacts {
        let mut facts = RunFacts {
            started: self.file.started.clone(),
            version: self.file.version.clone(),
            seed: self.file.seed,
            machine: self.file.machine.line(),
            folder: Some(self.path.display().to_string()),
            environment: self.file.machine.environment(),
            ..RunFacts::default()
        };
        for record in &self.records {
            match record {
                Record::Visit(visit) => {
                    facts.seconds = facts.seconds.max(visit.at);
                    facts.rounds = facts.rounds.max(visit.round);
                }
                Record::Fault { round, .. } => facts.rounds = facts.rounds.max(*round),
                Record::End { rounds, seconds, .. } => {
                    facts.complete = true;
                    facts.rounds = *rounds;
                    facts.seconds = *seconds;
                }
                Record::Stop { .. } | Record::Caveat { .. } | Record::Resumed { .. } => {}
            }
        }
        facts
    }
}

/// When the run in a folder was started; empty where its file does not say.
pub fn started(path: &Path) -> String {
    let facts = load(path, RUN).map(|(_, facts)| facts).unwrap_or_default();
    facts["started"].as_str().unwrap_or_default().to_owned()
}

fn load(dir: &Path, name: &str) -> Result<(Vec<u8>, serde_json::Value)> {
    let path = dir.join(name);
    let bytes = regular::read(&path, regular::RESULT)?;
    let json = serde_json::from_slice(&bytes);
    let json = json.with_context(|| format!("{}: damaged: not JSON", path.display()))?;
    Ok((bytes, json))
}

fn typed<T: serde::de::DeserializeOwned>(dir: &Path, name: &str, json: serde_json::Value) -> Result<T> {
    serde_json::from_value(json).with_context(|| format!("{}: damaged", dir.join(name).display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weigh_model::plan::Plan;

    fn repeated(words: &[&str]) -> Option<String> {
        let command = words.iter().map(|word| (*word).to_owned()).collect();
        RunFile::new(&Plan::default(), b"", command, Machine::default()).repeat()
    }

    #[test]
    fn a_command_is_repeated_without_what_only_that_run_had() {
        let words = ["weigh", "--defs", "run", "run", "page-output", "--out", "here", "--json", "--seed=2"];
        assert_eq!(repeated(&words).unwrap(), "weigh --defs run run page-output '--seed=2'");
        let words = ["weigh", "run", "--profile=redis", "--gate", "p99<5ms", "--content", "my page.html"];
        assert_eq!(repeated(&words).unwrap(), "weigh run --content 'my page.html'");
        assert_eq!(repeated(&["weigh", "advise", "site.toml"]), None);
        assert_eq!(repeated(&["weigh", "--out"]), None);
        assert_eq!(repeated(&[]), None);
    }
}
