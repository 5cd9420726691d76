//! Real sites: WordPress with MariaDB and its default theme, phpMyAdmin and DokuWiki, as Debian packages them, and a front controller with assets
//! of npm packages. Each is brought up in private folders and crawled by a client that keeps count; then `weigh` looks at it, advises and proves
//! as its owner would do it, and has to come to the same counts; the advice is installed by hand in a copy, and the crawl sent to it again. Nothing of this machine is changed, and all of it ends
//! with this program.
//!
//! Packages come from the archive that this machine's apt is configured for. They stay below `target/`: a second call reads the
//! archive's list again, and downloads what is newer.

#[path = "../common/mod.rs"]
mod common;
mod crawl;
mod database;
mod dokuwiki;
mod front;
mod ground;
mod install;
mod phpmyadmin;
mod replay;
mod server;
mod verbs;
mod visit;
mod wordpress;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};
use common::{Targets, progress};
use ground::{Ground, RunningSite};
use verbs::Extent;
use visit::Visited;
use weigh_os::launcher;

/// A site: its name, and what brings it up.
type Site = (&'static str, fn(&Ground) -> Result<RunningSite>);

const SITES: [Site; 5] = [
    ("wordpress", wordpress::stand),
    ("phpmyadmin", phpmyadmin::stand),
    ("dokuwiki", dokuwiki::stand),
    ("front", front::logged),
    ("front-unlogged", front::unlogged),
];
/// What takes the counts alone, or the counts and the replay, without the proof; or its pages by several PHPs.
const EXTENTS: [(&str, Extent); 3] =
    [("counts", Extent::Counts), ("php", Extent::Php), ("replay", Extent::Replay)];

fn main() -> ExitCode {
    // apt is started by a launcher, which is this program again.
    let args: Vec<_> = std::env::args_os().collect();
    launcher::dispatch(&args).unwrap_or_else(|| common::end(measure()))
}

/// All, or those that are named: `cargo bench -p weigh --bench sites -- wordpress`; `counts` leaves out what
/// follows from them, `replay` the proof; `php` makes its pages by several PHPs instead.
fn measure() -> Result<Targets> {
    weigh_os::umask::begin();
    // The sites are for all to read, as packages are: servers and PHP have users of their own.
    rustix::process::umask(rustix::fs::Mode::WGRP | rustix::fs::Mode::WOTH);
    let words = std::env::args_os().skip(1).filter(|a| !a.to_string_lossy().starts_with('-'));
    let extent = |word: &OsString| EXTENTS.iter().find(|(name, _)| word == name).map(|(_, extent)| *extent);
    let (extents, named): (Vec<OsString>, Vec<OsString>) = words.partition(|word| extent(word).is_some());
    let extent = extents.last().and_then(extent).unwrap_or(Extent::All);
    let known = SITES.map(|site| site.0);
    ensure!(named.iter().all(|n| known.iter().any(|s| n == s)), "sites: {}", known.join(", "));
    let mut targets = Targets::default();
    let begun = Instant::now();
    let ground = Ground::make()?;
    progress(&format!("packages are unpacked after {:.1} s", begun.elapsed().as_secs_f64()));
    for (name, stand) in SITES {
        if named.is_empty() || named.iter().any(|n| n == name) {
            one(&ground, name, stand, extent, &mut targets)?;
        }
    }
    Ok(targets)
}

fn one(
    ground: &Ground,
    name: &str,
    stand: fn(&Ground) -> Result<RunningSite>,
    extent: Extent,
    targets: &mut Targets,
) -> Result<()> {
    let begun = Instant::now();
    let site = stand(ground)?;
    for running in &site.servers {
        visited(&format!("sites-{name}-{}", running.name), &running.url, begun, targets)?;
        progress(&format!("{name}: {} has {}", running.name, running.config.display()));
    }
    verbs::measure(name, ground, site, extent, targets)
}

/// Visits a site as a browser would.
fn visited(name: &str, url: &str, begun: Instant, targets: &mut Targets) -> Result<()> {
    let Visited { front, assets, pages, wrong } = visit::all(url)?;
    let seconds = begun.elapsed().as_secs_f64();
    let measured = format!(
        "front page {} B in {} ms, {} assets of {} B, {pages} linked pages, up and visited in {seconds:.1} s{}",
        front.bytes,
        front.took.as_millis(),
        assets.len(),
        assets.iter().map(|asset| asset.bytes).sum::<u64>(),
        if wrong.is_empty() { String::new() } else { format!("; not 200: {}", wrong.join(", ")) },
    );
    targets.line(name, &measured, "everything is 200", wrong.is_empty());
    let mut largest = assets;
    largest.sort_by_key(|asset| std::cmp::Reverse(asset.bytes));
    for asset in largest.iter().take(5) {
        progress(&format!("  {} B {}", asset.bytes, asset.path));
    }
    Ok(())
}
