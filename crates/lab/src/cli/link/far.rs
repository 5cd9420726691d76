//! Commands at the two ends of a link.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::process::{Child, Command, ExitCode, ExitStatus};

use anyhow::{Context, Result, ensure};

use super::PEER;
use crate::rig::lifeline;
use crate::rig::link::Link;

/// The words of the command at the far end; none where there is no such command.
pub(super) fn words(far: Option<&str>) -> Result<Vec<OsString>> {
    let Some(line) = far else { return Ok(Vec::new()) };
    let words =
        shell_words::split(line).with_context(|| format!("--far {line:?} cannot be split into words"))?;
    ensure!(!words.is_empty(), "--far: no command");
    Ok(words.into_iter().map(OsString::from).collect())
}

/// Runs a command at the near end to its end, beside one at the far end that is killed then. The exit code is the command's.
pub(super) fn run(link: &Link, far: &[OsString], command: &[OsString]) -> Result<ExitCode> {
    // A command dies with the thread that starts it: each of these stays until the end.
    let peer = link.far_address();
    let status = link.far().within(|| -> Result<ExitStatus> {
        let _far = if far.is_empty() { None } else { Some(Killed(start(far, peer)?)) };
        link.near().within(|| start(command, peer)?.wait().context("the command is lost"))?
    })??;
    Ok(code(status))
}

fn start(command: &[OsString], peer: Ipv4Addr) -> Result<Child> {
    let mut start = Command::new(lifeline::this_program());
    start.args(["agent", "--exec", &std::process::id().to_string(), "--"]).args(command);
    start.env(PEER, peer.to_string());
    start.spawn().with_context(|| format!("{} cannot be started", command[0].display()))
}

fn code(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let signal = || status.signal().map_or(1, |signal| 128 + signal);
    ExitCode::from(u8::try_from(status.code().unwrap_or_else(signal)).unwrap_or(1))
}

/// A command that ends with this value.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
