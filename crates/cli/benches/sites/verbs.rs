//! What the owner of a site would type after `weigh site`: `weigh advise`, `weigh prove`; and the policy's files, installed.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};

use crate::common::{self, Targets, WEIGH, progress};
use crate::ground::{Ground, Running, RunningSite};
use crate::{crawl, replay};

/// The longest time of advice, whether its policy is proved or only replayed, and of a proof: loads of pages over three links have half of it.
const ADVICE: &str = "2m";
const PROOF: &str = "4m";
/// How long pages by several PHPs are measured.
const PAGES: &str = "3m";

/// What is done with a site after its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Nothing.
    Counts,
    /// In place of the counts, its pages by the PHPs of `SITES_PHPS`, with spaces between them.
    Php,
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
        if extent == Extent::Php {
            by_php(&name, &site, &running, &work, targets)?;
            continue;
        }
        if !crawl::measure(&name, &site, &running, &work, targets)? || extent == Extent::Counts {
            continue;
        }
        let advise = verb(&["advise", "site.toml", "--budget", ADVICE]);
        run(&format!("{name}-advise"), advise, &work, targets)?;
        // What could be measured is advised, even if something could not.
        if !work.join("advice/policy.toml").exists() {
            continue;
        }
        if extent == Extent::All {
            let prove = verb(&["prove", "--budget", PROOF, "--html", "proof.html"]);
            run(&format!("{name}-prove"), prove, &work, targets)?;
        }
        replay::measure(&name, (ground, &site, running), &work, targets)?;
    }
    Ok(())
}

/// Its pages by several PHPs.
fn by_php(
    name: &str,
    site: &RunningSite,
    running: &Running,
    work: &Path,
    targets: &mut Targets,
) -> Result<()> {
    let phps = std::env::var("SITES_PHPS").context("SITES_PHPS names no PHP")?;
    let mut look = verb(&["site", "--render", "--budget", PAGES]);
    look.arg("--docroot").arg(&site.docroot).arg("--server-config").arg(&running.config);
    look.args(phps.split_whitespace().flat_map(|php| ["--php", php]));
    run(&format!("{name}-php"), look, work, targets).map(drop)
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
