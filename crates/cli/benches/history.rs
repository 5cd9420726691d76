//! Is the history of 1,000 runs read quickly? One small study is run, and copied with other dates. All summaries are made anew, and read by the
//! program as users call it: the list, a metric over time, and the list after one run was added.
//!
//! `WEIGH_BENCH_RUNS` gives another number of runs.

mod common;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use common::{Targets, WEIGH, progress, rounds};
use serde_json::Value;
use weigh_answer::estimate::QUANTILE;
use weigh_stats::quantile;

/// Runs of the history.
const RUNS: usize = 1000;
/// Seconds to make its summaries.
const REBUILT: f64 = 10.0;
/// Seconds of a query, with the start of the program.
const QUERY: f64 = 0.5;
/// The same where a run was added, which is read first.
const NEW: f64 = 0.5;

const STUDY: &str = include_str!("history/study.toml");

fn main() -> ExitCode {
    common::end(measure())
}

fn measure() -> Result<Targets> {
    let asked = std::env::var("WEIGH_BENCH_RUNS").ok().and_then(|n| n.parse().ok());
    let count = asked.unwrap_or(RUNS);
    let home = tempfile::tempdir()?;
    std::fs::write(home.path().join("small.toml"), STUDY)?;
    weigh(home.path(), &["run", "small.toml", "--out", "weigh-runs/0"])?;
    let runs = home.path().join("weigh-runs");
    for at in 1..count {
        copy(&runs, at)?;
    }
    progress(&format!("{count} runs"));
    let mut times: [Vec<f64>; 4] = Default::default();
    for round in 1..=rounds(7) {
        let all: [&[&str]; 3] =
            [&["runs", "--json"], &["runs", "--json"], &["runs", "trend", "encode", "--json"]];
        for entry in std::fs::read_dir(&runs)? {
            let summary = entry?.path().join("summary.json");
            if summary.exists() {
                std::fs::remove_file(summary)?;
            }
        }
        for (args, times) in all.iter().zip(&mut times) {
            times.push(weigh(home.path(), args)?);
        }
        copy(&runs, count + round)?;
        times[3].push(weigh(home.path(), &["runs", "--json"])?);
        progress(&format!("round {round}"));
    }
    let names = ["history-rebuilt", "history-list", "history-trend", "history-list-new-run"];
    let mut targets = Targets::default();
    for ((name, times), bound) in names.iter().zip(&times).zip([REBUILT, QUERY, QUERY, NEW]) {
        judge(&mut targets, name, times, count, bound);
    }
    Ok(targets)
}

/// Neighbours only add to a time, so the low quantile is the program's own.
fn judge(targets: &mut Targets, name: &str, times: &[f64], count: usize, bound: f64) {
    let low = quantile(times, QUANTILE).unwrap_or(f64::INFINITY);
    let (least, most) = (quantile(times, 0.0).unwrap_or(low), quantile(times, 1.0).unwrap_or(low));
    let measured = format!("{:.0} ms [{:.0}, {:.0}]", low * 1e3, least * 1e3, most * 1e3);
    let target = format!("{count} runs in ≤ {:.0} ms", bound * 1e3);
    targets.line(name, &measured, &target, low <= bound);
}

/// A copy of the first run, a day and a name later each.
fn copy(runs: &Path, at: usize) -> Result<()> {
    let (from, to) = (runs.join("0"), runs.join(at.to_string()));
    std::fs::create_dir(&to)?;
    for name in ["plan.json", "records.ndjson", "lock"] {
        std::fs::copy(from.join(name), to.join(name)).with_context(|| format!("{name}: not copied"))?;
    }
    let mut facts: Value = serde_json::from_slice(&std::fs::read(from.join("run.json"))?)?;
    let started: jiff::Timestamp = facts["started"].as_str().unwrap_or_default().parse()?;
    let later = jiff::Timestamp::from_second(started.as_second() + 86_400 * at as i64)?;
    facts["started"] = later.to_string().into();
    Ok(std::fs::write(to.join("run.json"), serde_json::to_vec(&facts)?)?)
}

/// Runs the program; its seconds of wall time.
fn weigh(home: &Path, args: &[&str]) -> Result<f64> {
    let begin = Instant::now();
    let mut command = Command::new(WEIGH);
    command.args(args).current_dir(home).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status()?;
    ensure!(status.success(), "weigh {}: {status}", args.join(" "));
    Ok(begin.elapsed().as_secs_f64())
}
