//! The list of runs: `weigh runs`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use crate::exit::Exit;
use crate::terminal::{self, Line};
use weigh_answer::table::{Grid, Kind};
use weigh_history::{Filter, History, RunRow, State, Summary};
use weigh_model::text::clean_path;
use weigh_model::units;

/// The version of the JSON that is written.
const SCHEMA: u32 = 1;

/// What `weigh runs --json` writes.
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
    /// What `weigh runs show` takes.
    name: String,
    /// The study, `load` for a load; null where the run is damaged.
    study: Option<String>,
    /// When it was started, RFC 3339, UTC.
    started: String,
    /// It ended by itself; else `weigh run --resume` goes on with it.
    complete: bool,
    /// A process writes it.
    running: bool,
    /// How it stands, in one word.
    state: State,
    /// Configurations in its plan.
    configurations: usize,
    /// Rounds measured.
    rounds: u32,
    /// Seconds of wall time.
    seconds: f64,
    /// The bytes of its files.
    bytes: u64,
    /// Why it cannot be shown; null where it can.
    damaged: Option<String>,
}

impl From<RunRow> for Row {
    fn from(RunRow { name, state, bytes, summary }: RunRow) -> Row {
        let Summary { study, started, configurations, rounds, seconds, damaged, .. } = summary;
        let (complete, running) = (state == State::Complete, state == State::Running);
        Row {
            name,
            study,
            started,
            complete,
            running,
            state,
            configurations,
            rounds,
            seconds,
            bytes,
            damaged,
        }
    }
}

/// The history of a folder of runs, as it stands now.
pub fn history_of(folder: &Path) -> Result<History> {
    let mut line = Line::new(false);
    let progress = &mut |done, all| line.say(format!("reading runs: {done} of {all}"));
    let read = History::read(folder, &mut terminal::note_once, progress);
    line.bar.finish_and_clear();
    read
}

pub fn show(folder: &Path, filter: &Filter, json: bool) -> Result<ExitCode> {
    let runs = history_of(folder)?.runs(filter);
    if json {
        let runs = runs.into_iter().map(Row::from).collect();
        terminal::print_json(&Listing { schema: SCHEMA, folder: folder.to_owned(), runs })?;
    } else if runs.is_empty() {
        let asked = filter.study.is_some() || filter.since.is_some();
        let such = if asked { "such runs" } else { "runs" };
        let none = format!("no {such} in {}; measure one: weigh run --quick\n", clean_path(folder));
        terminal::print(&none)?;
    } else {
        terminal::print(&table(&runs))?;
    }
    Ok(Exit::Fine.into())
}

/// Runs as a table, and below it what is wrong with damaged ones.
pub fn table(runs: &[RunRow]) -> String {
    let mut table = Grid::list(&["run", "study", "started (UTC)", "state", "configurations", "size"]);
    table.columns[4].kind = Kind::Whole;
    table.columns[5].kind = Kind::Three;
    for run in runs {
        let Summary { started, study, configurations, .. } = &run.summary;
        let started = started.replace('T', " ").trim_end_matches('Z').to_owned();
        let study = study.as_deref().unwrap_or("–");
        let (count, size) = (configurations.to_string(), units::bytes(run.bytes));
        table.line(&[&run.name, study, &started, run.state.name(), &count, &size]);
    }
    let damaged = runs.iter().filter_map(|run| run.summary.damaged.as_ref());
    damaged.fold(terminal::lines(&table), |text, why| format!("{text}{why}\n"))
}
