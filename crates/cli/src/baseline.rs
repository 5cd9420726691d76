//! Baselines: runs and loads kept under a name, to compare later ones with.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use crate::exit::{Exit, OrRefuse};
use crate::terminal;
use weigh_answer::table::Grid;
use weigh_model::text::clean_path;
use weigh_run::baseline;
use weigh_run::kept::StoredMeasurement;
use weigh_run::list::find_kept;

/// The version of the JSON that is written.
const SCHEMA: u32 = 1;

/// What `weigh compare --baselines --json` writes.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Listing {
    /// The version of this form.
    schema: u32,
    /// The folder of baselines.
    folder: PathBuf,
    /// Every baseline, by name.
    baselines: Vec<Row>,
}

/// One baseline.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Row {
    /// What `weigh compare --baseline` takes.
    name: String,
    /// The study, `load` for a load; null if it is damaged.
    study: Option<String>,
    /// When its run was started, RFC 3339, UTC.
    started: String,
    /// Configurations in its plan.
    configurations: usize,
}

/// Keeps a run or a load, the path or name of which this is.
///
/// # Errors
/// A name that is none, a run that is not there.
pub fn save(name: &str, run: &Path) -> Result<ExitCode> {
    let run = baseline::check(name).and_then(|()| find_kept(run)).or_usage_error()?;
    let kept = baseline::save(name, &run).or_usage_error()?;
    terminal::print(&format!("{}\n", clean_path(&kept)))?;
    terminal::note(&format!("Compare later runs with it: weigh compare --baseline {name}"));
    Ok(Exit::Fine.into())
}

/// Removes one.
///
/// # Errors
/// There is none of this name.
pub fn forget(name: &str) -> Result<ExitCode> {
    baseline::remove(name).or_usage_error()?;
    Ok(Exit::Fine.into())
}

fn listing() -> Listing {
    let row = |found: weigh_run::list::Found| {
        let kept = StoredMeasurement::read(&found.path).ok();
        Row {
            configurations: kept.as_ref().map_or(0, StoredMeasurement::configurations),
            study: kept.map(|kept| kept.study().to_owned()),
            name: found.name,
            started: found.started,
        }
    };
    let baselines = baseline::all().into_iter().map(row).collect();
    Listing { schema: SCHEMA, folder: baseline::folder(), baselines }
}

/// Lists them.
///
/// # Errors
/// What printing has.
pub fn list(json: bool) -> Result<ExitCode> {
    let listing = listing();
    if json {
        terminal::print_json(&listing)?;
    } else if listing.baselines.is_empty() {
        terminal::note("No baselines yet; keep the newest run as one: weigh compare --save main");
    } else {
        let mut grid = Grid::list(&["name", "study", "configurations", "started"]);
        for row in &listing.baselines {
            let study = row.study.as_deref().unwrap_or("damaged");
            grid.line(&[row.name.as_str(), study, &row.configurations.to_string(), &row.started]);
        }
        terminal::print(&terminal::lines(&grid))?;
    }
    Ok(Exit::Fine.into())
}
