//! The flags of gates, which several verbs have, and what is done with what gates came to.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::{results, terminal};
use weigh_answer::compare::document::gate_blocks;
use weigh_answer::compare::gate::Judged;
use weigh_answer::compare::junit;
use weigh_answer::format::Detail;
use weigh_answer::format::terminal::text as terminal_text;
use weigh_model::gate::Gate;
use weigh_model::suggest::readable;
use weigh_model::text::clean_path;
use weigh_os::regular;
use weigh_run::loading::load_dir;

/// The longest file of gates in bytes.
const LONGEST: u64 = 1 << 20;

/// Flags of gates.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Gates")]
pub struct GateFlags {
    /// A limit to keep, such as cpu<5% (beside the baseline), p99<50ms or rate>200 (repeatable)
    #[arg(long, value_name = "GATE", value_parser = one_gate)]
    pub gate: Vec<Gate>,
    /// A file with gate tables, as studies have them
    #[arg(long, value_name = "FILE")]
    pub gates: Option<PathBuf>,
    /// Write what the gates came to as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// A gate of the command line.
fn one_gate(text: &str) -> Result<Gate, String> {
    Gate::parse(text).map_err(|error| error.to_string())
}

/// A file of gates. Other keys belong to whatever else the file is, such as a study.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    gate: Vec<Gate>,
}

/// The gates that were asked for, and where they are written.
#[derive(Clone, Debug, Default)]
pub struct Judging {
    gates: Vec<Gate>,
    junit: Option<PathBuf>,
}

impl GateFlags {
    /// Reads the file, and makes sure that the XML can be written.
    ///
    /// # Errors
    /// One line: the file and what is wrong in it.
    pub fn read(&self) -> Result<Judging> {
        let mut gates = self.gates.as_deref().map(of_file).transpose()?.unwrap_or_default();
        gates.extend(self.gate.iter().cloned());
        self.junit.iter().try_for_each(|file| load_dir::can_write(file))?;
        Ok(Judging { gates, junit: self.junit.clone() })
    }
}

fn of_file(path: &Path) -> Result<Vec<Gate>> {
    let shown = clean_path(path);
    let text = regular::text(path, LONGEST)?;
    let file: File = toml::from_str(&text).map_err(|error| readable(&error, &text, &shown.to_string()))?;
    ensure!(!file.gate.is_empty(), "{shown} has no [[gate]] table");
    file.gate.iter().try_for_each(|gate| gate.limit().map(drop)).with_context(|| shown.to_string())?;
    Ok(file.gate)
}

impl Judging {
    /// These gates after those of a study.
    pub fn with(&self, own: &[Gate]) -> Vec<Gate> {
        own.iter().chain(&self.gates).cloned().collect()
    }

    /// Those of the command line.
    pub fn asked(&self) -> &[Gate] {
        &self.gates
    }

    /// Shows what gates came to, unless results are JSON, and writes the XML if it is asked for.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn tell(&self, suite: &str, judged: &[Judged], detail: Detail, json: bool) -> Result<()> {
        if !judged.is_empty() && !json {
            let options = results::options(detail, None);
            terminal::print(&terminal_text(&gate_blocks(judged, &options), &options))?;
        }
        self.write(suite, judged)
    }

    /// Whether XML is asked for.
    pub fn has_junit(&self) -> bool {
        self.junit.is_some()
    }

    /// Writes the XML, if it is asked for.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, suite: &str, gates: &[Judged]) -> Result<()> {
        match &self.junit {
            Some(file) => load_dir::write(file, junit::xml(suite, gates)?.as_bytes()),
            None => Ok(()),
        }
    }
}
