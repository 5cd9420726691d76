//! What the owner of a site would type after `weigh site`: `weigh advise`, `weigh prove`; and the policy's files, installed.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::common::{self, Targets, WEIGH, progress};
use crate::ground::{Ground, RunningSite};
use crate::{crawl, replay};

/// The longest time of each measurement, and of those whose policy is only replayed.
const BUDGET: &str = "2m";
const SHORT: &str = "120s";

/// What is done with a site after its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Nothing.
    Counts,
    /// Advice with a small budget, installed by hand and replayed.
    Replay,
    /// Advice, its proof, and the replay.
    All,
}

/// For each server's configuration: a crawl, and what follows one after the other, as far as it ends well.
pub fn measure(
    name: &str,
    ground: &Ground,
    mut site: RunningSite,
    extent: Extent,
    targets: &mut Targets,
) -> Result<()> {
    for running in std::mem::take(&mut site.servers) {
        let server = running.name;
        // Kept, to be looked at.
        let work = common::kept("sites")?.join(format!("{name}-{server}"));
        if work.exists() {
            fs::remove_dir_all(&work)?;
        }
        fs::create_dir_all(&work)?;
        let name = format!("sites-{name}-{server}");
        if !crawl::measure(&name, &site, &running, &work, targets)? || extent == Extent::Counts {
            continue;
        }
        let budget = if extent == Extent::All { BUDGET } else { SHORT };
        let advise = verb(&["advise", "site.toml", "--budget", budget]);
        run(&format!("{name}-advise"), advise, &work, targets)?;
        // What could be measured is advised, even if something could not.
        if !work.join("advice/policy.toml").exists() {
            continue;
        }
        if extent == Extent::All {
            run(&format!("{name}-prove"), verb(&["prove", "--budget", budget]), &work, targets)?;
        }
        replay::measure(&name, (ground, &site, running), &work, targets)?;
    }
    Ok(())
}

fn verb(args: &[&str]) -> Command {
    let mut command = Command::new(WEIGH);
    command.args(args);
    command
}

/// Runs one, shows what it says, and tells whether it ended well.
fn run(name: &str, mut command: Command, work: &Path, targets: &mut Targets) -> Result<bool> {
    let begun = Instant::now();
    let said = command.current_dir(work).output().context("weigh cannot be started")?;
    let seconds = begun.elapsed().as_secs_f64();
    for text in [&said.stdout, &said.stderr] {
        String::from_utf8_lossy(text).lines().for_each(|line| progress(&format!("  {line}")));
    }
    let is_fine = said.status.success();
    targets.line(name, &format!("{} after {seconds:.1} s", said.status), "ends well", is_fine);
    Ok(is_fine)
}
