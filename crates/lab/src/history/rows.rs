//! The runs of an index, the newest first.

use std::path::Path;

use anyhow::Result;
use rusqlite::{Row, named_params};
use serde::Serialize;

use super::History;
use super::derive::{Derived, size_of};
use crate::run::list::is_running;

/// Which runs are asked for.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Of this study.
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

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            State::Complete => "complete",
            State::Running => "running",
            State::Interrupted => "interrupted",
            State::Damaged => "damaged",
        }
    }
}

/// A run as the index knows it.
#[derive(Clone, Debug)]
pub struct RunRow {
    /// The name of its folder.
    pub name: String,
    /// The study, `load` for a load; none where the run is damaged.
    pub study: Option<String>,
    /// When it was started, RFC 3339, UTC.
    pub started: String,
    /// How it stands now.
    pub state: State,
    /// Configurations in its plan.
    pub configurations: usize,
    /// Rounds measured.
    pub rounds: u32,
    /// Seconds of wall time.
    pub seconds: f64,
    /// The bytes of its files.
    pub bytes: u64,
    /// Why it cannot be shown.
    pub damaged: Option<String>,
}

impl RunRow {
    /// A run as its folder tells, without an index.
    pub fn read(name: &str, path: &Path) -> RunRow {
        let Derived { started, study, is_complete, configurations, rounds, seconds, damaged, .. } =
            Derived::of(path);
        RunRow {
            name: name.to_owned(),
            study,
            started,
            state: State::of(is_complete, damaged.is_some(), path),
            configurations,
            rounds,
            seconds,
            bytes: size_of(path),
            damaged,
        }
    }
}

/// In the order of [`RunRow`]'s members.
const RUNS: &str = "
SELECT name, study, started, complete, configurations, rounds, seconds, bytes, damaged FROM runs
WHERE (:study IS NULL OR study = :study) AND (:since IS NULL OR started >= :since)
ORDER BY started DESC, name DESC LIMIT :limit";

impl History {
    /// The runs, the newest first.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn runs(&self, filter: &Filter) -> Result<Vec<RunRow>> {
        let mut asked = self.db.prepare_cached(RUNS)?;
        let limit = filter.limit.map_or(-1, |limit| limit as i64);
        let given = named_params! { ":study": filter.study, ":since": filter.since, ":limit": limit };
        let rows = asked.query_map(given, |row| self.row(row))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn row(&self, row: &Row) -> rusqlite::Result<RunRow> {
        let name: String = row.get(0)?;
        let (is_complete, damaged): (bool, Option<String>) = (row.get(3)?, row.get(8)?);
        let state = State::of(is_complete, damaged.is_some(), &self.folder.join(&name));
        Ok(RunRow {
            study: row.get(1)?,
            started: row.get(2)?,
            configurations: row.get::<_, i64>(4)?.max(0) as usize,
            rounds: row.get(5)?,
            seconds: row.get(6)?,
            bytes: row.get::<_, i64>(7)?.max(0) as u64,
            name,
            state,
            damaged,
        })
    }
}
