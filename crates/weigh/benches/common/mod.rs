//! What the benchmarks share: the binary under test, real content, and one line a target.

#![allow(dead_code, reason = "each benchmark uses a part")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The release binary that cargo built for this benchmark.
pub const WEIGH: &str = env!("CARGO_BIN_EXE_weigh");

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

    /// The exit code: non-zero when a target is short.
    pub fn end(self) -> ExitCode {
        if self.short == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Stages corpus content into a folder as plain files: (name, path). What is not in the cache is fetched.
pub fn content(ids: &[&str], into: &Path) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let status = Command::new(WEIGH).args(["corpus", "fetch"]).stdout(Stdio::null()).status()?;
    if !status.success() {
        eprintln!("the corpus is not complete; what there is will be used");
    }
    let lab = weigh::lab::Lab::open(None)?;
    let mut stager = weigh::lab::Stager::new(&lab.library, into);
    let mut files = Vec::new();
    for id in ids {
        for payload in stager.corpus(id, None)? {
            files.push((payload.name.clone(), payload.blob.clone()));
        }
    }
    Ok(files)
}

/// Seconds of CPU time are what a shared machine can tell: rounds of a benchmark, unless the environment asks
/// for another number.
pub fn rounds(default: usize) -> usize {
    std::env::var("WEIGH_BENCH_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Runs the binary, and gives its JSON.
pub fn weigh_json(arguments: &[&str], folder: &Path) -> anyhow::Result<serde_json::Value> {
    let output = Command::new(WEIGH).args(arguments).current_dir(folder).stderr(Stdio::inherit()).output()?;
    anyhow::ensure!(
        matches!(output.status.code(), Some(0 | 2)),
        "weigh {} ended with {}",
        arguments.join(" "),
        output.status
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}
