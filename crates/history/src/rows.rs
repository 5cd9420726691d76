//! The runs of a folder, the newest first.

use std::path::Path;

use serde::Serialize;

use super::derive::size_of;
use super::folder::{Entry, History};
use super::summary::Summary;
use weigh_run::list::is_running;

/// Which runs are asked for.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub study: Option<String>,
    /// Started at this time or later, RFC 3339, UTC.
    pub since: Option<String>,
    /// This many of the newest.
    pub limit: Option<usize>,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It ended by itself.
    Complete,
    /// A process writes it.
    Running,
    /// It did not end by itself; `weigh run --resume` goes on with it.
    Interrupted,
    /// It cannot be read.
    Damaged,
}

impl State {
    /// Of a run in a folder; who writes it is known to the kernel alone.
    fn of(is_complete: bool, is_damaged: bool, path: &Path) -> State {
        match (is_damaged, is_complete) {
            (false, true) => State::Complete,
            _ if is_running(path) => State::Running,
            (true, _) => State::Damaged,
            (false, false) => State::Interrupted,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            State::Complete => "complete",
            State::Running => "running",
            State::Interrupted => "interrupted",
            State::Damaged => "damaged",
        }
    }
}

/// A run as a list shows it.
#[derive(Clone, Debug)]
pub struct RunRow {
    /// The name of its folder.
    pub name: String,
    pub state: State,
    /// The bytes of its files.
    pub bytes: u64,
    pub summary: Summary,
}

impl RunRow {
    fn of(name: &str, path: &Path, summary: &Summary) -> RunRow {
        RunRow {
            name: name.to_owned(),
            state: State::of(summary.complete, summary.damaged.is_some(), path),
            bytes: size_of(path),
            summary: summary.clone(),
        }
    }
}

impl Filter {
    /// Whether a run is asked for, whatever its place among the newest.
    pub(super) fn takes(&self, run: &Entry) -> bool {
        let Summary { study, started, .. } = &run.summary;
        (self.study.is_none() || self.study == *study)
            && self.since.as_ref().is_none_or(|since| started >= since)
    }
}

impl History {
    /// The runs, the newest first.
    pub fn runs(&self, filter: &Filter) -> Vec<RunRow> {
        let asked = self.runs.iter().filter(|run| filter.takes(run)).take(filter.limit.unwrap_or(usize::MAX));
        asked.map(|run| RunRow::of(&run.name, &run.path, &run.summary)).collect()
    }
}
