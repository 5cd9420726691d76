//! `weigh runs prune`: old runs are removed, after asking.

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, anyhow};

use crate::exit::{Exit, OrRefuse};
use crate::{listing, quantity, terminal};
use weigh_history::{RunRow, remove};
use weigh_model::units;

/// Flags of `weigh runs prune`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Remove runs that were started longer ago than this, such as 90d, 12h or 2w
    #[arg(long, value_name = "AGE", value_parser = quantity::ago)]
    older_than: String,
    /// Keep this many of the newest runs, however old
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = quantity::whole::<usize>)]
    keep: usize,
    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short, conflicts_with = "dry_run")]
    yes: bool,
}

pub const EXAMPLES: &str = "Examples:
  weigh runs prune --older-than 90d --dry-run
  weigh runs prune --older-than 30d --keep 20 --yes";

pub fn run(args: &Args, folder: &Path) -> Result<ExitCode> {
    let before = &args.older_than;
    let runs = listing::history_of(folder)?.prunable(before, args.keep);
    if runs.is_empty() {
        terminal::print("no runs to remove\n")?;
        return Ok(Exit::Fine.into());
    }
    terminal::print(&listing::table(&runs))?;
    let all = summary(&runs);
    if args.dry_run {
        terminal::print(&format!("would remove {all}; nothing was removed\n"))?;
        return Ok(Exit::Fine.into());
    }
    if !args.yes && !agreed(&all)? {
        terminal::print("nothing was removed\n")?;
        return Ok(Exit::Fine.into());
    }
    let mut failed = 0;
    for run in &runs {
        if let Err(error) = remove(folder, &run.name) {
            terminal::error(&error);
            failed += 1;
        }
    }
    let removed = units::count(runs.len() - failed, "run", "runs");
    terminal::print(&format!("removed {removed}\n"))?;
    let exit = if failed > 0 { Exit::Internal } else { Exit::Fine };
    Ok(exit.into())
}

fn summary(runs: &[RunRow]) -> String {
    let bytes = runs.iter().map(|run| run.bytes).sum();
    format!("{}, {}", units::count(runs.len(), "run", "runs"), units::bytes(bytes))
}

/// Asks; where nobody can answer, `--yes` does.
fn agreed(all: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(anyhow!("nobody to ask whether to remove {all}; add --yes, or --dry-run"))
            .or_usage_error();
    }
    terminal::ask(&format!("Remove {all}?"))
}
