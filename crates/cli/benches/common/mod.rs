//! What the benchmarks share: the binary under test, real content, and one line a target.
//!
//! `WEIGH_BENCH_ROUNDS` shortens any of them (or makes it longer); each says on stderr how many rounds it takes.

#![allow(dead_code, reason = "each benchmark uses a part")]

pub mod worker;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
use weigh_answer::estimate::QUANTILE;
use weigh_stats::{Ratio, Rule, quantile};

/// The release binary that cargo built for this benchmark.
pub const WEIGH: &str = env!("CARGO_BIN_EXE_weigh");
/// The seed of everything that is drawn.
pub const SEED: u64 = 20_260_101;

/// One line a target, and whether all were met.
#[derive(Debug, Default)]
pub struct Targets {
    short: u32,
}

impl Targets {
    /// Prints `name: measured [interval] (target) ok|short`.
    pub fn line(&mut self, name: &str, measured: &str, target: &str, met: bool) {
        println!("{name}: {measured} ({target}) {}", if met { "ok" } else { "short" });
        self.short += u32::from(!met);
    }

    /// Takes a line that another program made.
    pub fn made(&mut self, line: &str) {
        println!("{line}");
        self.short += u32::from(!line.ends_with(" ok"));
    }

    /// A target that could not be measured is short, and says why.
    pub fn missing(&mut self, name: &str, why: &str, target: &str) {
        self.line(name, &format!("not measured, {why}"), target, false);
    }

    /// The [`low_ratio`] of pairs measured in the same rounds, which should be at most `bound`.
    pub fn at_most(&mut self, name: &str, pairs: &[(f64, f64)], bound: f64, what: &str) {
        let target = format!("{what} ≤ {bound}");
        match low_ratio(pairs) {
            Some(r) => {
                let measured = format!("{:.3} [{:.3}, {:.3}]", r.value, r.low, r.high);
                self.line(name, &measured, &target, r.value <= bound);
            }
            None => self.missing(name, "there are fewer than two rounds", &target),
        }
    }

    /// The [`low_ratio`] of pairs measured in the same rounds, which should be 1 within `tolerance`.
    pub fn ratio(&mut self, name: &str, pairs: &[(f64, f64)], tolerance: f64, what: &str) {
        let target = format!("{what} within {:.0}%", tolerance * 100.0);
        // The tolerance is a ratio's: 3% slower is 1.03, 3% quicker is 1/1.03.
        let met = |r: &Ratio| (1.0 / (1.0 + tolerance)..=1.0 + tolerance).contains(&r.value);
        match low_ratio(pairs) {
            Some(r) => {
                let measured = format!("{:.3} [{:.3}, {:.3}]", r.value, r.low, r.high);
                self.line(name, &measured, &target, met(&r));
            }
            None => self.missing(name, "there are fewer than two rounds", &target),
        }
    }
}

/// The ratio of what both sides cost when they are left alone, as everywhere in the lab: of the low quantiles over rounds, with the interval of the one rule
/// over pairs. `None` with fewer than two rounds.
pub fn low_ratio(pairs: &[(f64, f64)]) -> Option<Ratio> {
    let side = |of: fn(&(f64, f64)) -> f64| quantile(&pairs.iter().map(of).collect::<Vec<_>>(), QUANTILE);
    Rule::ALONE.compare(pairs.iter().copied(), side(|pair| pair.0)? / side(|pair| pair.1)?)
}

/// The exit code of a benchmark: non-zero when a target is short or something else went wrong.
pub fn end(targets: Result<Targets>) -> ExitCode {
    match targets {
        Ok(targets) if targets.short == 0 => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The peak of resident memory in bytes, `VmHWM`, of a process by its folder below `/proc`; see proc(5).
pub fn peak_resident(process: &Path) -> Option<u64> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Tells how it goes, on stderr.
pub fn progress(what: &str) {
    eprintln!("{what}");
}

/// Rounds of a benchmark, unless the environment asks for another number.
pub fn rounds(default: usize) -> usize {
    let asked = std::env::var("WEIGH_BENCH_ROUNDS").ok().and_then(|n| n.parse().ok()).filter(|n| *n > 0);
    let rounds = asked.unwrap_or(default);
    progress(&format!("{rounds} rounds; WEIGH_BENCH_ROUNDS gives another number"));
    rounds
}

/// A folder below `target/` that stays: for what is compiled or unpacked once.
pub fn kept(name: &str) -> Result<PathBuf> {
    let target = Path::new(WEIGH).ancestors().nth(2).context("the binary is not below target/")?;
    let folder = target.join("bench-peers").join(name);
    std::fs::create_dir_all(&folder).with_context(|| format!("{}: cannot be created", folder.display()))?;
    Ok(folder)
}

/// Fetches a package of npm and unpacks it into `package` below a folder.
pub fn unpack(package: &str, into: &Path) -> Result<()> {
    let npm = Command::new("npm").args(["pack", "--silent", package]).current_dir(into).output();
    let npm = npm.context("npm cannot be started")?;
    ensure!(npm.status.success(), "npm pack failed");
    let archive = String::from_utf8(npm.stdout)?;
    let status = Command::new("tar")
        .arg("-xzf")
        .arg(archive.trim())
        .current_dir(into)
        .stderr(Stdio::null())
        .status()?;
    ensure!(status.success(), "tar could not unpack it");
    Ok(())
}

/// A file of the folder `bench/`.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench").join(name)
}

/// Compiles a C file of the folder `bench/` into `target/`.
pub fn compile(name: &str, into: &str, options: &[&str]) -> Result<PathBuf> {
    let out = kept("built")?.join(into);
    let mut command = Command::new("cc");
    command.arg("-O2").args(options).arg("-o").arg(&out).arg(source(name)).arg("-ldl");
    let status = command.status().context("cc cannot be started")?;
    anyhow::ensure!(status.success(), "cc could not compile bench/{name}");
    Ok(out)
}

/// Stages corpus content into a folder as plain files: (name, path). What is not in the cache is fetched.
pub fn content(ids: &[&str], into: &Path) -> Result<Vec<(String, PathBuf)>> {
    let status = Command::new(WEIGH).args(["lab", "corpus", "fetch"]).stdout(Stdio::null()).status()?;
    if !status.success() {
        progress("the corpus is not complete; what there is will be used");
    }
    let lab = weigh_run::lab::Lab::open(None)?;
    let mut stager = weigh_run::lab::Stager::new(&lab.library, into);
    let mut files = Vec::new();
    for id in ids {
        for payload in stager.corpus(id, None)? {
            files.push((payload.name.clone(), payload.blob.clone()));
        }
    }
    stager.notes().iter().for_each(|note| progress(note));
    Ok(files)
}
