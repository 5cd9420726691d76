//! The list of runs: what `weigh report` shows where no run is named.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use crate::cli::exit::Exit;
use crate::cli::terminal;
use crate::run::list::{Found, below};
use weigh_answer::table::{Grid, Kind};
use weigh_model::text::clean_path;

/// The version of the JSON that is written.
const SCHEMA: u32 = 1;

/// What `weigh report --json` writes where no run is named.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Listing {
    /// The version of this form.
    schema: u32,
    /// The folder that was looked into.
    folder: PathBuf,
    /// Every run in it, the newest first.
    runs: Vec<Row>,
}

/// One run.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Row {
    /// What `weigh report` takes.
    name: String,
    /// The study; null where the run is damaged.
    study: Option<String>,
    /// When it was started, RFC 3339, UTC.
    started: String,
    /// It ended by itself; else `weigh run --resume` goes on with it.
    complete: bool,
    /// A process writes it.
    running: bool,
    /// Configurations in its plan.
    configurations: usize,
    /// Why it cannot be shown; null where it can.
    damaged: Option<String>,
}

impl Row {
    fn of(run: &Found) -> Row {
        let (name, started, running) = (run.name.clone(), run.started.clone(), run.is_running());
        match run.read() {
            Ok(stored) => Row {
                name,
                study: Some(stored.plan.study.name.clone()),
                started,
                complete: stored.is_complete(),
                running,
                configurations: stored.plan.cells.len(),
                damaged: None,
            },
            Err(error) => Row {
                name,
                study: None,
                started,
                complete: false,
                running,
                configurations: 0,
                damaged: Some(format!("{error:#}")),
            },
        }
    }
}

/// Shows the runs in a folder.
pub fn show(folder: &Path, json: bool) -> Result<ExitCode> {
    let rows: Vec<Row> = below(folder).iter().map(Row::of).collect();
    if json {
        terminal::print_json(&Listing { schema: SCHEMA, folder: folder.to_owned(), runs: rows })?;
    } else if rows.is_empty() {
        let none = format!("no runs in {}; measure one: weigh run --quick\n", clean_path(folder));
        terminal::print(&none)?;
    } else {
        terminal::print(&table(&rows))?;
    }
    Ok(Exit::Fine.into())
}

fn table(rows: &[Row]) -> String {
    let mut table = Grid::list(&["run", "study", "started (UTC)", "state", "configurations"]);
    table.columns[4].kind = Kind::Whole;
    for row in rows {
        let state = match (&row.damaged, row.complete, row.running) {
            (Some(_), ..) => "damaged",
            (None, true, _) => "complete",
            (None, false, true) => "running",
            (None, false, false) => "interrupted",
        };
        let started = row.started.replace('T', " ").trim_end_matches('Z').to_owned();
        let study = row.study.as_deref().unwrap_or("–");
        table.line(&[&row.name, study, &started, state, &row.configurations.to_string()]);
    }
    let damaged = rows.iter().filter_map(|row| row.damaged.as_ref());
    damaged.fold(terminal::lines(&table), |text, why| format!("{text}{why}\n"))
}
