//! What a command cost: CPU seconds of it and of all that it started, and what it printed.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};

/// A command that ended well.
#[derive(Debug)]
pub struct Ended {
    /// CPU seconds in user mode and in the kernel, of the command and of the children that it waited for.
    pub cpu: f64,
    /// Of these, in the kernel.
    pub system: f64,
    /// What it printed.
    pub stdout: String,
}

/// Runs a command on one processor to its end. Only one may run at a time: the cost is what the ended children of this
/// program have used more than before.
///
/// # Errors
/// It cannot be started or fails: with its last line on stderr.
pub fn run(command: &[String], cpu: usize) -> Result<Ended> {
    let name = command.first().map(String::as_str).unwrap_or_default();
    let before = used()?;
    // Ours keeps its results in the folder it is called in.
    let scratch = tempfile::tempdir()?;
    let mut pinned = Command::new("taskset");
    pinned.args(["-c", &cpu.to_string()]).args(command).current_dir(&scratch).stdin(Stdio::null());
    let output = pinned.output().context("taskset cannot be started")?;
    let after = used()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.trim().lines().last().unwrap_or_default();
    ensure!(output.status.success(), "{name} ended with {}: {last}", output.status);
    let (user, system) = (after.0 - before.0, after.1 - before.1);
    Ok(Ended { cpu: user + system, system, stdout: String::from_utf8_lossy(&output.stdout).into_owned() })
}

/// User and system seconds of all children that have ended.
fn used() -> Result<(f64, f64)> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 / 1e6;
    Ok((seconds(usage.user_time()), seconds(usage.system_time())))
}
