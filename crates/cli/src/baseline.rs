//! `weigh baseline`: runs and loads kept under a name, to compare later ones with.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use serde::Serialize;

use crate::exit::{self, Exit, OrRefuse};
use crate::terminal;
use weigh_answer::table::Grid;
use weigh_model::text::clean_path;
use weigh_run::baseline;
use weigh_run::kept::StoredMeasurement;
use weigh_run::list::{LATEST, find_kept};

/// The version of the JSON that is written.
const SCHEMA: u32 = 1;

/// Flags of `weigh baseline`.
#[derive(Debug, clap::Args)]
#[command(after_help = exit::help(EXAMPLES))]
pub struct Args {
    #[command(subcommand)]
    what: BaselineVerb,
}

const EXAMPLES: &str = "Examples:
  weigh baseline save main              keep the newest run as main
  weigh baseline list";

#[derive(Debug, Subcommand)]
enum BaselineVerb {
    /// Keep a run or a load as a baseline; one of the same name is replaced
    #[command(after_help = exit::help("Examples:
  weigh baseline save main              the newest run
  weigh baseline save v2 weigh-runs/x   a run of yours"))]
    Save {
        /// The baseline's name, such as main
        #[arg(value_name = "BASELINE")]
        name: String,
        /// The folder of a run or load, its name in weigh-runs, or `latest`
        #[arg(value_name = "RUN", default_value = LATEST)]
        run: PathBuf,
    },
    /// List the baselines in weigh-runs/baselines
    #[command(after_help = exit::help("Examples:
  weigh baseline list
  weigh baseline list --json"))]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a baseline
    #[command(after_help = exit::help("Examples:
  weigh baseline remove main"))]
    Remove {
        /// The baseline's name
        #[arg(value_name = "BASELINE")]
        name: String,
    },
}

/// What `weigh baseline list --json` writes.
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

/// Runs the verb.
pub fn run(args: &Args) -> Result<ExitCode> {
    match &args.what {
        BaselineVerb::Save { name, run } => {
            let run = baseline::check(name).and_then(|()| find_kept(run)).or_usage_error()?;
            let kept = baseline::save(name, &run).or_usage_error()?;
            terminal::print(&format!("{}\n", clean_path(&kept)))?;
            terminal::note(&format!("Compare later runs with it: weigh compare --baseline {name}"));
        }
        BaselineVerb::List { json: true } => terminal::print_json(&listing())?,
        BaselineVerb::List { json: false } => list()?,
        BaselineVerb::Remove { name } => baseline::remove(name).or_usage_error()?,
    }
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

fn list() -> Result<()> {
    let listing = listing();
    if listing.baselines.is_empty() {
        terminal::note("No baselines yet; keep the newest run as one: weigh baseline save main");
        return Ok(());
    }
    let mut grid = Grid::list(&["name", "study", "configurations", "started"]);
    for row in &listing.baselines {
        let study = row.study.as_deref().unwrap_or("damaged");
        grid.line(&[row.name.as_str(), study, &row.configurations.to_string(), &row.started]);
    }
    terminal::print(&terminal::lines(&grid))
}
