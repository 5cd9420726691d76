//! A program that the lab runs to its end: package clients, a PHP that is asked for its version, a profiler.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// None: it ran out of time.
    pub status: Option<ExitStatus>,
    /// At most a megabyte.
    pub stdout: String,
    /// At most a megabyte.
    pub stderr: String,
}

/// Runs a program to its end or until `patience` is over; then it and all it started are killed. Its output goes
/// through files in `work`, and of each at most a megabyte comes back.
pub fn run_within(command: &mut Command, work: &Path, patience: Duration) -> io::Result<Ended> {
    let (out, err) = (work.join("stdout"), work.join("stderr"));
    command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
    let mut child = command.process_group(0).spawn()?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() >= patience {
            kill_group(child.id());
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    Ok(Ended { status, stdout: bounded(&out)?, stderr: bounded(&err)? })
}

/// Kills a process and all of the group that it leads. What has ended already cannot be killed.
pub fn kill_group(leader: u32) {
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn bounded(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(1 << 20).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
