//! A sweep over 10,000 files of this machine: what it costs on a cluster, and what it finds.

use std::collections::BTreeMap;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use walkdir::WalkDir;

use super::common::{Targets, progress};
use super::{Ground, processes};

/// Files of a sweep.
const FILES: usize = 10_000;
/// The longest of them, in bytes.
const LONGEST: u64 = 100_000;
/// Where files are on most machines.
const PLACES: [&str; 3] = ["/usr/share", "/usr/lib", "/usr/include"];
/// Long enough for several rounds, so that what is done once per run is a small part.
const ARGS: [&str; 8] =
    ["codec", "--list", "list.txt", "--exact", "--codecs", "zstd:3,zlib:1", "--budget", "60s"];
/// What it may cost beyond Ray's own start.
const BOUND: f64 = 1.10;

/// Measures it.
pub fn measure(ground: &Ground, rounds: usize, targets: &mut Targets) -> Result<()> {
    list(ground)?;
    fs::write(ground.home().join("one.txt"), "a".repeat(5000))?;
    let one = ["codec", "one.txt", "--codecs", "zstd:3", "--budget", "5s"];
    // Ray is installed before anything counts.
    ground.run(&[&one[..], &["--on", "ray", "--yes", "--out", "installed"]].concat())?;
    let mut costs = Vec::new();
    let mut same = true;
    for round in 0..rounds {
        progress(&format!("sweep: round {} of {rounds}", round + 1));
        let out = |name: &str| format!("{name}-{round}");
        let start = ground.run(&[&one[..], &["--on", "ray", "--yes", "--out", &out("start")]].concat())?;
        let bare = ground.run(&[&one[..], &["--out", &out("bare")]].concat())?;
        let here = ground.run(&[&ARGS[..], &["--out", &out("here")]].concat())?;
        let there = ground.run(&[&ARGS[..], &["--on", "ray", "--yes", "--out", &out("there")]].concat())?;
        // Each visit counts, because a budget may end one side earlier.
        let each = |cpu: f64, run: &str| Ok::<f64, anyhow::Error>(cpu / visits(ground, run)?.len() as f64);
        let beyond = there.cpu - (start.cpu - bare.cpu);
        progress(&format!(
            "CPU seconds: {:.2} here, {:.2} on Ray, of which its start {:.2}; wall {:.1} s and {:.1} s",
            here.cpu,
            there.cpu,
            start.cpu - bare.cpu,
            here.wall,
            there.wall
        ));
        costs.push((each(beyond, &out("there"))?, each(here.cpu, &out("here"))?));
        same &= findings(ground, &out("here"))? == findings(ground, &out("there"))?;
    }
    targets.at_most("sweep", &costs, BOUND, "CPU time of 10,000 files on Ray ÷ local");
    let words = if same { "the same" } else { "others" };
    targets.line("sweep findings", words, "sizes and digests as locally", same);
    let killed = killed(ground)? == findings(ground, "here-0")?;
    let words = if killed { "the same" } else { "others" };
    targets.line("sweep with a killed worker", words, "sizes and digests as locally", killed);
    Ok(())
}

/// A sweep whose worker is killed after the first visit.
fn killed(ground: &Ground) -> Result<BTreeMap<String, Value>> {
    progress("sweep: a worker is killed");
    let args = [&ARGS[..], &["--on", "ray", "--yes", "--out", "killed"]].concat();
    let mut child = ground.weigh(&args).spawn()?;
    let mut victim = None;
    while child.try_wait()?.is_none() && victim.is_none() {
        sleep(Duration::from_millis(20));
        if visits(ground, "killed").is_ok_and(|visits| !visits.is_empty()) {
            victim = processes::find(" agent").and_then(rustix::process::Pid::from_raw);
        }
    }
    let victim = victim.context("the sweep ended before its worker could be killed")?;
    rustix::process::kill_process(victim, rustix::process::Signal::KILL)?;
    let status = child.wait()?;
    processes::reap();
    ensure!(status.success(), "the sweep with a killed worker ended with {status}");
    findings(ground, "killed")
}

/// The list of files.
fn list(ground: &Ground) -> Result<()> {
    let files = PLACES.iter().flat_map(|place| WalkDir::new(place).sort_by_file_name()).flatten();
    let fits = |entry: &walkdir::DirEntry| {
        entry.file_type().is_file() && entry.metadata().is_ok_and(|meta| (1..LONGEST).contains(&meta.len()))
    };
    let paths: Vec<String> = files
        .filter(fits)
        .filter_map(|entry| Some(entry.path().to_str()?.to_owned()))
        .filter(|path| !path.contains('\n'))
        .take(FILES)
        .collect();
    ensure!(paths.len() == FILES, "this machine has only {} files in {}", paths.len(), PLACES.join(", "));
    fs::write(ground.home().join("list.txt"), paths.join("\n"))?;
    Ok(())
}

/// The visits of a run.
fn visits(ground: &Ground, run: &str) -> Result<Vec<Value>> {
    let records = fs::read_to_string(ground.home().join(run).join("records.ndjson"))?;
    let records = records.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(records.filter(|record| record["type"] == "visit").collect())
}

/// What a run found that does not depend on time: by configuration, sizes and digest.
fn findings(ground: &Ground, run: &str) -> Result<BTreeMap<String, Value>> {
    let of = |visit: Value| {
        let found = ["decoded_bytes", "encoded_bytes", "sha256_encoded"].map(|name| visit[name].clone());
        (visit["cell"].to_string(), Value::from(found.to_vec()))
    };
    let found: BTreeMap<String, Value> = visits(ground, run)?.into_iter().map(of).collect();
    ensure!(
        found.len() == 2,
        "{run}: the machine is too busy for every configuration to be measured within its budget"
    );
    Ok(found)
}
