//! A program that the lab runs to its end: package clients, a PHP that is asked for its version, a profiler.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::content::regular;
use crate::interrupt::{INTERRUPTED, Interrupt};

/// How often a wait looks at its child, the clock and the user's wish.
const GLANCE: Duration = Duration::from_millis(2);

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
///
/// # Errors
/// It cannot be started, or a signal that is caught ended the wait.
pub fn run_within(command: &mut Command, work: &Path, patience: Duration) -> io::Result<Ended> {
    let (out, err) = (work.join("stdout"), work.join("stderr"));
    command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
    let mut child = command.process_group(0).spawn()?;
    let status = wait(&mut child, Instant::now() + patience, &Interrupt::caught())?;
    Ok(Ended { status, stdout: bounded(&out)?, stderr: bounded(&err)? })
}

/// Waits for a child that leads a group, until `deadline` (none) or until the user wants an end; then all of the group is killed.
///
/// # Errors
/// It cannot be waited for, or the user wants an end.
pub fn wait(child: &mut Child, deadline: Instant, interrupt: &Interrupt) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let is_interrupted = interrupt.is_set();
        if is_interrupted || Instant::now() >= deadline {
            kill_group(child.id());
            child.wait()?;
            return if is_interrupted { Err(io::Error::other(INTERRUPTED)) } else { Ok(None) };
        }
        std::thread::sleep(GLANCE);
    }
}

/// Kills a process and all of the group that it leads. What has ended already cannot be killed.
pub fn kill_group(leader: u32) {
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn bounded(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    regular::open(path)?.take(1 << 20).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A child that leads a group and does not end by itself.
    fn endless() -> Child {
        Command::new("sleep").arg("1000").process_group(0).spawn().unwrap()
    }

    #[test]
    fn a_child_is_waited_for_until_it_ends_its_time_is_over_or_the_user_wants_an_end() {
        let (interrupt, never) = (Interrupt::new(), Instant::now() + Duration::from_secs(1000));
        let mut short = Command::new("true").process_group(0).spawn().unwrap();
        assert!(wait(&mut short, never, &interrupt).unwrap().unwrap().success());
        let mut late = endless();
        assert_eq!(wait(&mut late, Instant::now(), &interrupt).unwrap(), None);
        assert!(late.try_wait().unwrap().is_some(), "it was killed");
        interrupt.set();
        let mut unwanted = endless();
        assert_eq!(wait(&mut unwanted, never, &interrupt).unwrap_err().to_string(), INTERRUPTED);
        assert!(unwanted.try_wait().unwrap().is_some(), "it was killed");
    }
}
