//! What the owner of a site would type after `weigh site`: `weigh advise`, `weigh prove`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::common::{self, Targets, WEIGH, progress};
use crate::crawl;
use crate::ground::Standing;

/// The longest time of each measurement.
const BUDGET: &str = "2m";

/// For each server's configuration: a crawl, and all three one after the other, as far as they end well; `is_short` takes the first alone.
pub fn measure(name: &str, site: &Standing, is_short: bool, targets: &mut Targets) -> Result<()> {
    for running in &site.servers {
        let server = running.name;
        // Kept, to be looked at.
        let work = common::kept("sites")?.join(format!("{name}-{server}"));
        if work.exists() {
            fs::remove_dir_all(&work)?;
        }
        fs::create_dir_all(&work)?;
        let name = format!("sites-{name}-{server}");
        if !crawl::measure(&name, site, running, &work, targets)? || is_short {
            continue;
        }
        let steps = [
            ("advise", verb(&["advise", "site.toml", "--budget", BUDGET])),
            ("prove", verb(&["prove", "--budget", BUDGET])),
        ];
        for (step, command) in steps {
            if !run(&format!("{name}-{step}"), command, &work, targets)? {
                break;
            }
        }
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
