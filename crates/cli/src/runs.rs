//! `weigh runs`: the runs there are, one of them again, metrics over time, old runs removed, everything exported.

mod prune;
mod trend;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::exit::{Exit, OrRefuse};
use crate::listing::{history_of, show};
use crate::{quantity, report, terminal, view};
use weigh_history::Filter;
use weigh_model::text::clean_path;
use weigh_model::units;
use weigh_run::list::FOLDER;

/// Flags of `weigh runs`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// The folder of runs
    #[arg(long = "in", value_name = "DIR", default_value = FOLDER, global = true)]
    folder: PathBuf,
    #[command(flatten)]
    which: Which,
    /// As JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    what: Option<RunsVerb>,
}

/// Which runs are meant.
#[derive(Clone, Debug, Default, clap::Args)]
struct Which {
    /// Only runs of this study
    #[arg(long, value_name = "STUDY")]
    study: Option<String>,
    /// Only runs since then: a date (UTC) such as 2026-01-31, or an age such as 30d, 12h or 2w
    #[arg(long, value_name = "WHEN", value_parser = quantity::since)]
    since: Option<String>,
    /// Only this many of the newest
    #[arg(long, value_name = "N", value_parser = quantity::count::<u32>)]
    limit: Option<u32>,
}

impl Which {
    fn filter(&self) -> Filter {
        let limit = self.limit.map(|limit| limit as usize);
        Filter { study: self.study.clone(), since: self.since.clone(), limit }
    }
}

const EXAMPLES: &str = "Examples:
  weigh runs --since 30d                       the runs of the last 30 days
  weigh runs show latest --full                the newest run with all evidence
  weigh runs trend encode --only zstd          CPU time of zstd, over time
  weigh runs prune --older-than 90d --dry-run  what would be removed";

#[derive(Debug, Subcommand)]
enum RunsVerb {
    /// List the runs
    #[command(after_help = "Examples:\n  weigh runs list --since 30d\n  weigh runs list --json")]
    List {
        #[command(flatten)]
        which: Which,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one: its answer, tables, files, pictures
    Show(report::Args),
    /// Write a page for a browser that lists them, with their answers, their reports and the progress of one that is measuring
    #[command(after_help = view::EXAMPLES)]
    Open,
    /// Show a metric over time: each configuration, change points, and what changed there
    #[command(after_help = trend::EXAMPLES)]
    Trend(trend::Args),
    /// Remove old runs, after asking; baselines and runs that are measuring stay
    #[command(after_help = prune::EXAMPLES)]
    Prune(prune::Args),
    /// Write every value of every run into a file, a line each: CSV, or JSON by its ending; an existing file is replaced
    #[command(after_help = "Examples:\n  weigh runs export runs.csv\n  weigh runs export runs.ndjson")]
    Export {
        /// The file: .csv, .ndjson or .jsonl
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let folder = &args.folder;
    if folder != Path::new(FOLDER) && !folder.is_dir() {
        return Err(anyhow::anyhow!("--in {}: not a folder", clean_path(folder))).or_usage_error();
    }
    match &args.what {
        None => show(folder, &args.which.filter(), args.json),
        Some(RunsVerb::List { which, json }) => show(folder, &which.filter(), *json),
        Some(RunsVerb::Show(args)) => report::run(args, folder),
        Some(RunsVerb::Open) => view::run(folder),
        Some(RunsVerb::Trend(args)) => trend::run(args, folder),
        Some(RunsVerb::Prune(args)) => prune::run(args, folder),
        Some(RunsVerb::Export { file }) => export(folder, file),
    }
}

fn export(folder: &Path, file: &Path) -> Result<ExitCode> {
    let count =
        history_of(folder).and_then(|history| weigh_history::export(&history, file)).or_usage_error()?;
    terminal::print(&format!("{}: {}\n", clean_path(file), units::count(count, "value", "values")))?;
    Ok(Exit::Fine.into())
}
