//! Resident memory of the process that makes the load: as it says itself, and as the kernel says.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::common::{Targets, WEIGH, peak_resident, progress};
use crate::server::Server;
use crate::tool::CONNECTIONS;

/// Requests of the short run, and of the long one unless the environment asks for another number.
const SHORT: u64 = 10_000;
const LONG: u64 = 10_000_000;
/// The most that may be resident, in bytes.
const BOUND: u64 = 12_000_000;
/// The long run may need this much more or less than the short one.
const GROWTH: f64 = 0.05;
/// How often the kernel is asked. It tells the peak so far, so that only what grows in the last moment is missed.
const GLANCE: Duration = Duration::from_millis(5);

/// The peak of resident memory in bytes.
struct Peak {
    own_word: u64,
    kernel: u64,
}

/// Prints the lines on memory.
pub fn measure(targets: &mut Targets, server: &Server, cpu: usize) -> Result<()> {
    let asked = std::env::var("WEIGH_BENCH_REQUESTS").ok().and_then(|n| n.parse().ok());
    let long = asked.unwrap_or(LONG);
    progress(&format!("memory after {SHORT} and {long} requests; WEIGH_BENCH_REQUESTS gives another number"));
    let mut peaks = Vec::new();
    for requests in [SHORT, long] {
        let peak = run(server, cpu, requests)?;
        let largest = peak.own_word.max(peak.kernel);
        let measured =
            format!("{:.2} MB by its own word, {:.2} MB by the kernel's", mb(peak.own_word), mb(peak.kernel));
        targets.line(
            &format!("resident memory, {requests} requests"),
            &measured,
            "≤ 12 MB",
            largest <= BOUND,
        );
        peaks.push(largest as f64);
    }
    let growth = peaks[1] / peaks[0];
    let met = (1.0 - GROWTH..=1.0 + GROWTH).contains(&growth);
    let name = format!("resident memory, {long} ÷ {SHORT} requests");
    targets.line(&name, &format!("{growth:.3}"), "1 within 5%", met);
    Ok(())
}

fn run(server: &Server, cpu: usize, requests: u64) -> Result<Peak> {
    let mut command = Command::new("taskset");
    command.args(["-c", &cpu.to_string(), WEIGH, "load", "--json", "--quiet", "--threads", "1"]);
    command.args(["-c", &CONNECTIONS.to_string(), "-n", &requests.to_string()]).arg(server.url("1k", false));
    let scratch = tempfile::tempdir()?;
    command.current_dir(&scratch).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = command.spawn().context("taskset cannot be started")?;
    let (pid, ended) = (child.id(), AtomicBool::new(false));
    let (output, kernel) = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(pid, &ended));
        let output = child.wait_with_output();
        ended.store(true, Ordering::Relaxed);
        (output, watcher.join().unwrap_or(0))
    });
    let output = output?;
    let document: Value = serde_json::from_slice(&output.stdout).context("weigh load --json")?;
    let result = &document["result"];
    let completed = &result["classes"][0]["counts"]["completed"];
    ensure!(*completed == requests, "{completed} of {requests} requests were completed");
    let own_word = result["client"]["peak_rss_bytes"].as_u64().context("it tells no memory")?;
    ensure!(kernel > 0, "the process that makes the load was not seen");
    Ok(Peak { own_word, kernel })
}

/// The largest peak of any child of the process, until it has ended. `weigh` itself only draws and waits.
fn watch(parent: u32, ended: &AtomicBool) -> u64 {
    let mut peak = 0;
    while !ended.load(Ordering::Relaxed) {
        peak = children(parent).iter().filter_map(|child| peak_resident(child)).fold(peak, u64::max);
        std::thread::sleep(GLANCE);
    }
    peak
}

/// The processes that any thread of a process has started.
fn children(parent: u32) -> Vec<PathBuf> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{parent}/task")) else { return Vec::new() };
    let lists = threads.flatten().filter_map(|t| std::fs::read_to_string(t.path().join("children")).ok());
    lists
        .flat_map(|l| l.split_whitespace().map(|pid| Path::new("/proc").join(pid)).collect::<Vec<_>>())
        .collect()
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
