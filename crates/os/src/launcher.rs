//! The launcher of workers: this program as `agent --exec PARENT FLAGS… -- PROGRAM ARGS…`, with the flags `--network PATH`,
//! `--umask MASK`, `--user UID:GID` and `--show FOLDER` (repeatable) in any order.
//!
//! It joins the network if there is one, sets the umask, makes a mount namespace with the folders for the user, gives its privileges up, asks the
//! kernel to kill it when the thread that started it ends, makes sure that the lab was still there by then, and becomes the worker.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use rustix::fs::Mode;
use rustix::process::umask;

use crate::lifeline::{NETWORK, SHOW, UMASK, USER, this_program};
use crate::user::OwnUser;
use crate::{mounts, namespace, network};

/// What the launcher does before it becomes the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Flags<'a> {
    network: Option<&'a OsStr>,
    umask: Option<&'a OsStr>,
    user: Option<&'a OsStr>,
    shown: Vec<PathBuf>,
}

impl<'a> Flags<'a> {
    /// Flags with their values, in any order, and the words behind `--`; none where there are other words.
    pub(crate) fn before_program(mut words: &'a [OsString]) -> Option<(Flags<'a>, &'a [OsString])> {
        let mut flags = Flags::default();
        loop {
            match words {
                [dashes, program @ ..] if dashes == "--" => return Some((flags, program)),
                [flag, value, rest @ ..] => {
                    match flag.to_str()? {
                        SHOW => flags.shown.push(value.into()),
                        name => *flags.named(name)? = Some(value),
                    }
                    words = rest;
                }
                _ => return None,
            }
        }
    }

    fn named(&mut self, flag: &str) -> Option<&mut Option<&'a OsStr>> {
        match flag {
            NETWORK => Some(&mut self.network),
            UMASK => Some(&mut self.umask),
            USER => Some(&mut self.user),
            _ => None,
        }
    }

    /// Joins the network, sets the umask, shows the folders, and then becomes the user, who may do none of it.
    pub(crate) fn carry_out(&self) -> Result<()> {
        if let Some(path) = self.network {
            network::join(Path::new(path))?;
        }
        if let Some(mask) = self.umask {
            let mask = mask.to_str().and_then(|mask| u32::from_str_radix(mask, 8).ok());
            umask(Mode::from_raw_mode(mask.context("its umask is no octal number")?));
        }
        if let Some(user) = self.user {
            let user = user.to_str().and_then(OwnUser::numbered).context("its user is no number")?;
            let groups = user.groups().context("its user is not available")?;
            if !self.shown.is_empty() {
                mounts::show(&self.shown, user.uid())?;
            }
            // What it leaves in shared memory goes with it, where the machine allows that.
            let _ = nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWIPC);
            user.become_it(&groups).context("its user is not available")?;
        }
        Ok(())
    }
}

/// Handles `agent --exec PARENT FLAGS… -- PROGRAM ARGS…` and comes back only when that failed; `None` for any other command line (`args` holds the
/// program's own name first).
pub fn dispatch(args: &[OsString]) -> Option<ExitCode> {
    let [_, agent, exec, parent, rest @ ..] = args else { return None };
    if agent != "agent" || exec != "--exec" {
        return None;
    }
    let (flags, [program, rest @ ..]) = Flags::before_program(rest)? else { return None };
    let Some(parent) = parent.to_str().and_then(|p| p.parse().ok()) else {
        eprintln!("agent --exec: not a process id: {}", parent.display());
        return Some(ExitCode::FAILURE);
    };
    if let Err(error) = flags.carry_out() {
        eprintln!("cannot start {}: {error:#}", program.display());
        return Some(ExitCode::FAILURE);
    }
    if *program != this_program() {
        namespace::let_go();
    }
    let error = become_worker(parent, Command::new(program).args(rest));
    eprintln!("cannot start {}: {error}", program.display());
    Some(ExitCode::FAILURE)
}

fn become_worker(parent: u32, command: &mut Command) -> io::Error {
    use rustix::process::{Signal, set_parent_process_death_signal};
    use std::os::unix::process::CommandExt;
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return error.into();
    }
    // The lab may have ended before the kernel was asked: then this process has another parent by now.
    if std::os::unix::process::parent_id() != parent {
        return io::Error::other("the lab has ended");
    }
    command.exec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split(' ').map(Into::into).collect()
    }

    #[test]
    fn other_command_lines_are_left_alone() {
        assert!(dispatch(&args("weigh")).is_none());
        assert!(dispatch(&args("weigh agent")).is_none());
        assert!(dispatch(&args("weigh run --exec 1 -- true")).is_none());
        assert!(dispatch(&args("weigh agent --exec 1 --")).is_none());
        assert!(dispatch(&args("weigh agent --exec 1 --group 7 -- true")).is_none());
        assert!(dispatch(&args("weigh agent --exec 1 --umask")).is_none());
    }

    #[test]
    fn flags_come_in_any_order_and_end_before_the_program() {
        let all = Flags {
            network: Some("/net".as_ref()),
            umask: Some("22".as_ref()),
            user: Some("7:7".as_ref()),
            shown: vec!["/a".into(), "/b".into()],
        };
        for line in [
            "--network /net --umask 22 --show /a --user 7:7 --show /b",
            "--show /a --user 7:7 --show /b --network /net --umask 22",
        ] {
            let words = args(&format!("{line} -- true --umask 77"));
            assert_eq!(Flags::before_program(&words), Some((all.clone(), &words[11..])), "{line}");
        }
        let words = args("-- true");
        assert_eq!(Flags::before_program(&words), Some((Flags::default(), &words[1..])));
    }

    #[test]
    fn a_value_that_is_none_starts_nothing() {
        let told = |flags: Flags<'_>| flags.carry_out().unwrap_err().to_string();
        let umask = Flags { umask: Some("9".as_ref()), ..Flags::default() };
        assert_eq!(told(umask), "its umask is no octal number");
        let user = Flags { user: Some("root".as_ref()), ..Flags::default() };
        assert_eq!(told(user), "its user is no number");
    }

    #[test]
    fn a_launcher_whose_lab_is_gone_starts_nothing() {
        let not_the_parent = std::os::unix::process::parent_id() + 1;
        let error = std::thread::spawn(move || become_worker(not_the_parent, &mut Command::new("true")));
        assert_eq!(error.join().unwrap().to_string(), "the lab has ended");
    }
}
