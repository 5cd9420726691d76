//! `weigh pack` beside what people pack with: `gzip -9`, `zopfli`, `brotli -q 11` and `zstd -19`, each for two files at a time, and npm's
//! precompress. CPU time and wall time, in the same rounds; bytes of each coding; memory; what a run takes that finds nothing to do; and deltas against
//! the version of before.

#[path = "../common/mod.rs"]
mod common;
mod deltas;
mod peers;
mod tree;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use common::{Targets, progress, rounds};
use peers::{Cost, Peer, Tool};

/// Seconds that a run may take in which nothing, or one file, changed.
const SOON: f64 = 0.5;
/// Memory in bytes that a run may take besides its largest file.
const MEMORY: u64 = 200_000_000;

fn main() -> ExitCode {
    common::end(measure())
}

fn measure() -> Result<Targets> {
    let home = tempfile::tempdir()?;
    let mut targets = Targets::default();
    let real = tree::real()?;
    let small = home.path().join("small");
    tree::small(&real, &small)?;
    let tools: Vec<Tool> = peers::all()?;
    for (name, tree, rounds) in [("real", &real, rounds(3)), ("small", &small, 2)] {
        beside(name, tree, home.path(), &tools, rounds, &mut targets)?;
    }
    again(&small, home.path(), rounds(3), &mut targets)?;
    deltas::measure(home.path(), &mut targets)?;
    Ok(targets)
}

/// All peers on one tree.
fn beside(
    name: &str,
    tree: &Path,
    home: &Path,
    tools: &[Tool],
    rounds: usize,
    targets: &mut Targets,
) -> Result<()> {
    let (files, bytes, largest) = tree::size(tree)?;
    progress(&format!("{name}: {files} files, {:.2} MB", bytes as f64 / 1e6));
    let pack = |args: &[&str]| Peer { tree, home }.pack(args);
    let (mut cpu, mut wall, mut pair, mut effort) = (vec![], vec![], vec![], vec![]);
    let (mut ours, mut quick, mut theirs, mut peak) = (None, None, vec![None; tools.len()], 0);
    for round in 0..rounds {
        progress(&format!("{name}: round {} of {rounds}", round + 1));
        let libraries = tree::libraries(tree)?;
        let all = pack(&[])?;
        cpu.push((all.cpu, libraries));
        wall.push((all.wall, libraries / cores()));
        peak = peak.max(all.peak);
        let balanced = pack(&["--effort", "balanced"])?;
        effort.push((balanced.cpu, all.cpu));
        for (tool, known) in tools.iter().zip(&mut theirs) {
            // The slow ones are asked for their bytes alone.
            if known.is_some() && tool.is_slow() {
                continue;
            }
            let cost = Peer { tree, home }.run(tool)?;
            if tool.is_pair() {
                let both = pack(&["--codings", "gzip,br"])?;
                pair.push((both.wall, cost.wall));
            }
            *known = Some(cost);
        }
        (ours, quick) = (Some(all), Some(balanced));
    }
    let (ours, quick) = (ours.context("no round")?, quick.context("no round")?);
    sizes(name, &ours, tools, &theirs, targets);
    targets.at_most(&format!("pack-{name}-cpu"), &cpu, 1.05, "CPU time ÷ that of the libraries alone");
    targets.at_most(
        &format!("pack-{name}-wall"),
        &wall,
        1.05,
        "wall time ÷ (CPU time of the libraries ÷ cores)",
    );
    if name == "real" {
        targets.at_most("pack-precompress-wall", &pair, 0.85, "gzip and br: wall time ÷ that of precompress");
        let more = quick.sum() as f64 / ours.sum() as f64 - 1.0;
        targets.line(
            "pack-balanced-bytes",
            &format!("+{:.2}%", more * 100.0),
            "bytes of all codings ≤ +1.5%",
            more <= 0.015,
        );
        targets.at_most("pack-balanced-cpu", &effort, 0.5, "CPU time ÷ that of best");
    }
    let most = MEMORY + largest;
    targets.line(
        &format!("pack-{name}-memory"),
        &format!("{:.0} MB", peak as f64 / 1e6),
        &format!("≤ {:.0} MB", most as f64 / 1e6),
        peak > 0 && peak <= most,
    );
    Ok(())
}

/// The bytes of each coding beside the best of the peers.
fn sizes(name: &str, ours: &Cost, tools: &[Tool], theirs: &[Option<Cost>], targets: &mut Targets) {
    for coding in ["gzip", "br", "zstd"] {
        let own = ours.bytes.get(coding).copied().unwrap_or(u64::MAX);
        let mut best = None;
        for (tool, cost) in tools.iter().zip(theirs) {
            let Some(bytes) = cost.as_ref().and_then(|cost| cost.bytes.get(coding)) else { continue };
            progress(&format!(
                "{name}: {coding} by {}: {bytes} bytes, {:.2} s of CPU time; ours: {own}",
                tool.name(),
                cost.as_ref().map_or(0.0, |c| c.cpu)
            ));
            if tool.name() != "zopfli" && best.is_none_or(|best| *bytes < best) {
                best = Some(*bytes);
            }
            if tool.is_pair() && coding == "gzip" && name == "real" {
                let fewer = 1.0 - own as f64 / *bytes as f64;
                targets.line(
                    "pack-precompress-gzip",
                    &format!("{:.2}% fewer bytes", fewer * 100.0),
                    "≥ 3%",
                    fewer >= 0.03,
                );
            }
        }
        let target = "bytes ≤ the best of the peers but zopfli";
        match best {
            Some(best) => targets.line(
                &format!("pack-{name}-{coding}"),
                &format!("{own} beside {best}"),
                target,
                own <= best,
            ),
            None => targets.missing(&format!("pack-{name}-{coding}"), "no peer is here", target),
        }
    }
}

/// A tree in which nothing changed, and one in which one file did.
fn again(tree: &Path, home: &Path, rounds: usize, targets: &mut Targets) -> Result<()> {
    let peer = Peer { tree, home };
    let copy = peer.copy()?;
    peer.weigh(&copy, &["--effort", "fast"])?;
    let (mut nothing, mut one) = (f64::INFINITY, f64::INFINITY);
    for round in 0..rounds {
        nothing = nothing.min(peer.weigh(&copy, &["--effort", "fast"])?.0.wall);
        let file = copy.join("0/0.js");
        std::fs::write(&file, format!("{}\n// {round}\n", std::fs::read_to_string(&file)?))?;
        let (cost, outcome) = peer.weigh(&copy, &["--effort", "fast"])?;
        anyhow::ensure!(outcome["written"] == 3, "one file of three variants changed: {outcome}");
        one = one.min(cost.wall);
    }
    targets.line(
        "pack-unchanged",
        &format!("{nothing:.3} s"),
        &format!("10,000 files ≤ {SOON} s"),
        nothing <= SOON,
    );
    targets.line(
        "pack-one-changed",
        &format!("{one:.3} s"),
        &format!("≤ {SOON} s and its encoding"),
        one <= SOON,
    );
    std::fs::remove_dir_all(copy)?;
    Ok(())
}

fn cores() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64)
}
