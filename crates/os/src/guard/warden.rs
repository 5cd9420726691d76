//! The guard itself: `agent --guard DIR CPUS USER FOLDER… -- PROGRAM ARGS…`, started by the lab; a program of another user is shown the folders
//! ([`crate::mounts`]). With `--guard-lent` the directory stays when the
//! program ends before the lab does.
//!
//! Its stdin carries orders, one byte a signal for the program, and closes when the lab ends. Its stdout carries one line: how the program
//! ended. Its stderr is the program's, too.
//!
//! Started by root, a program has a number of its own as its user ([`crate::user`]). If none is available, root gets another number
//! ([`crate::ordinary`]).

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Gid, Pid, Signal, Uid, WaitOptions, WaitStatus};

use crate::command::{SHORT_OF_MEMORY, how};
use crate::group::Group;
use crate::lifeline;
use crate::ordinary::{PROBE, become_ordinary};
use crate::user::OwnUser;

/// The argument of `agent` for a directory that is the guard's.
pub(super) const GIVEN: &str = "--guard";
/// The argument of `agent` for one that is the lab's as long as there is a lab.
pub(super) const LENT: &str = "--guard-lent";
static ORPHANED: AtomicBool = AtomicBool::new(false);
/// How long to let killed processes go before looking for further ones.
const BREATH: Duration = Duration::from_millis(2);

/// Handles `agent --guard …` (`args` holds the program's own name first); `None` for any other command line.
pub fn dispatch(args: &[OsString]) -> Option<ExitCode> {
    match args {
        [_, agent, probe] if agent == "agent" && probe == PROBE => {
            Some(if become_ordinary().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        [_, agent, guard, dir, cpus, user, rest @ ..]
            if agent == "agent" && (guard == GIVEN || guard == LENT) =>
        {
            let dashes = rest.iter().position(|word| word == "--")?;
            let (folders, command) = (&rest[..dashes], &rest[dashes + 1..]);
            if command.is_empty() {
                return None;
            }
            let ended = watch(Path::new(dir), cpus, user, folders, command);
            end_everything();
            if guard == GIVEN || ORPHANED.load(Ordering::SeqCst) {
                remove(Path::new(dir));
            }
            Some(match ended {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("cannot start {}: {error}", command[0].display());
                    ExitCode::FAILURE
                }
            })
        }
        _ => None,
    }
}

/// Starts the program and comes back when it has ended, by itself or because the lab has.
fn watch(
    dir: &Path,
    cpus: &OsStr,
    user: &OsStr,
    folders: &[OsString],
    command: &[OsString],
) -> io::Result<()> {
    rustix::process::setsid()?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let user = user.to_str().and_then(OwnUser::numbered);
    match user {
        // Some open their stderr again by its name.
        Some(user) => {
            let own = (Some(Uid::from_raw(user.uid())), Some(Gid::from_raw(user.gid())));
            rustix::fs::fchown(io::stderr(), own.0, own.1)?;
        }
        // Where there is none to be had, programs are started as root: most do with it.
        None => drop(become_ordinary()),
    }
    pin(cpus)?;
    LazyLock::force(&SHORT_OF_MEMORY);
    let program = start_program(dir, user, folders, command)?;
    std::thread::spawn(move || obey(program));
    let how = reap_until(program);
    let mut news = io::stdout();
    // The lab may be gone.
    let _ = writeln!(news, "{how}").and_then(|()| news.flush());
    Ok(())
}

/// Starts the program so that it dies with the guard; in a process group of its own, for some signal theirs when they stop.
fn start_program(
    dir: &Path,
    user: Option<OwnUser>,
    folders: &[OsString],
    command: &[OsString],
) -> io::Result<Pid> {
    use std::os::unix::process::CommandExt;
    let stderr = || io::stderr().as_fd().try_clone_to_owned();
    let flags = user.map(|user| user_flags(user, folders)).unwrap_or_default();
    let mut launch = lifeline::launcher_with(flags);
    launch.args(command);
    launch.current_dir(dir).process_group(0);
    launch.stdin(Stdio::null()).stdout(stderr()?).stderr(stderr()?);
    let id = lifeline::spawn(launch)?.id();
    i32::try_from(id).ok().and_then(Pid::from_raw).ok_or_else(|| io::Error::other("no process id"))
}

/// The launcher's flags for a program of this user that is shown these folders.
fn user_flags(user: OwnUser, folders: &[OsString]) -> Vec<OsString> {
    let shown = folders.iter().flat_map(|folder| [lifeline::SHOW.into(), folder.clone()]);
    [lifeline::USER.into(), user.to_string().into()].into_iter().chain(shown).collect()
}

/// Passes on the lab's signals; when the lab is gone, kills until the main thread has nothing left to wait for.
fn obey(program: Pid) {
    for order in io::stdin().lock().bytes() {
        let Ok(order) = order else { break };
        if let Some(signal) = Signal::from_named_raw(i32::from(order)) {
            let _ = rustix::process::kill_process(program, signal);
        }
    }
    ORPHANED.store(true, Ordering::SeqCst);
    loop {
        Group::below(std::process::id()).kill();
        std::thread::sleep(BREATH);
    }
}

/// Waits for whatever ends, until the program has; how it ended.
fn reap_until(program: Pid) -> String {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == program => return describe(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return format!("lost: {error}"),
        }
    }
}

fn describe(status: WaitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    how(std::process::ExitStatus::from_raw(status.as_raw()))
}

/// Kills what is left, and waits for all of it.
fn end_everything() {
    let everything = Group::below(std::process::id());
    loop {
        everything.kill();
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(None) => std::thread::sleep(BREATH),
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

fn remove(dir: &Path) {
    if let Err(error) = fs::remove_dir_all(dir) {
        let _ = writeln!(io::stderr(), "cannot remove {}: {error}", dir.display());
    }
}

/// `0,2`: to these processors; `-`: to all.
fn pin(cpus: &OsStr) -> io::Result<()> {
    let list = cpus.to_str().filter(|c| *c != "-").unwrap_or_default();
    let mut set = nix::sched::CpuSet::new();
    let numbers: Vec<usize> = list.split(',').filter_map(|c| c.parse().ok()).collect();
    if numbers.is_empty() {
        return Ok(());
    }
    for cpu in &numbers {
        set.set(*cpu)?;
    }
    nix::sched::sched_setaffinity(nix::unistd::Pid::from_raw(0), &set)
        .map_err(|e| io::Error::other(format!("cannot be pinned to processors {list}: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_command_lines_are_left_alone() {
        for line in [
            "weigh",
            "weigh agent",
            "weigh agent --guard",
            "weigh agent --guard - - - --",
            "weigh run --guard - - - -- true",
        ] {
            let args: Vec<OsString> = line.split(' ').map(Into::into).collect();
            assert!(dispatch(&args).is_none(), "{line}");
        }
    }
}
