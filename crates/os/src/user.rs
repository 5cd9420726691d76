//! The user that servers, stores and PHP run as when the lab is root's: a number that no account and no process has, and that owns nothing but what
//! the lab gives it. As root they would own all of root's files, also without its privileges. Or an account of the machine, where the user asks for it.

mod denied;

use std::ffi::{CString, OsStr};
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::{fmt, fs, io};

use anyhow::{Context, Result as Anyhow, ensure};
use rustix::process::{Gid, Uid};
use rustix::thread::CapabilitySet;
use walkdir::WalkDir;

use crate::command::answer;
use crate::{lifeline, regular};
use denied::Closed;
pub use denied::{Denied, RUNTIME_FILE};
use weigh_model::text::clean;

/// Where it is drawn from: above what accounts, services and containers are given.
const NUMBERS: std::ops::Range<u32> = 1_900_000_000..2_000_000_000;

/// A user of the lab's own, or an account of the machine, with its group. Written as `UID:GID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnUser {
    uid: u32,
    gid: u32,
}

impl fmt::Display for OwnUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.uid, self.gid)
    }
}

impl OwnUser {
    /// An account of this machine by its name, with this group or else its own. Only root can start programs as another.
    ///
    /// # Errors
    /// One line: there is no such account or group, it is root's, or this is not root.
    pub fn account(name: &str, group: Option<&str>) -> Anyhow<OwnUser> {
        let named = clean(name);
        ensure!(
            rustix::process::geteuid().is_root(),
            "only root can start PHP as {named}: start weigh with sudo"
        );
        let account = nix::unistd::User::from_name(name).ok().flatten();
        let account = account.with_context(|| format!("there is no user {named} on this machine"))?;
        ensure!(
            !account.uid.is_root(),
            "{named} is root; give the user that PHP-FPM has on the server, such as www-data"
        );
        let gid = match group {
            Some(group) => {
                let found = nix::unistd::Group::from_name(group).ok().flatten();
                found.with_context(|| format!("there is no group {} on this machine", clean(group)))?.gid
            }
            None => account.gid,
        };
        Ok(OwnUser { uid: account.uid.as_raw(), gid: gid.as_raw() })
    }

    /// The one of this lab, chosen once. None where the lab is not root's, or where the machine does not let it change users.
    pub fn of_lab(launcher: &OsStr) -> Option<OwnUser> {
        OwnUser::chosen(launcher).ok().flatten()
    }

    /// The one of this lab for these programs; none where the lab is not root's, or where there are no programs.
    ///
    /// # Errors
    /// The machine does not let it change users, or that user cannot carry out all of them or reach the folder for temporary files.
    pub fn for_programs<'p>(programs: impl Iterator<Item = &'p Path>) -> Result<Option<OwnUser>, Denied> {
        let mut programs = programs.peekable();
        if programs.peek().is_none() {
            return Ok(None);
        }
        let Some(user) = OwnUser::chosen(&lifeline::this_program())? else { return Ok(None) };
        if let Some(closed) = Closed::to(&std::env::temp_dir(), user.uid) {
            return Err(Denied::Temporary(closed));
        }
        let closed = programs.find_map(|program| Closed::to(program, user.uid));
        closed.map_or(Ok(Some(user)), |closed| Err(Denied::Program(closed)))
    }

    fn chosen(launcher: &OsStr) -> Result<Option<OwnUser>, Denied> {
        static CHOSEN: OnceLock<Result<Option<OwnUser>, Denied>> = OnceLock::new();
        CHOSEN.get_or_init(|| OwnUser::choose(launcher)).clone()
    }

    fn choose(launcher: &OsStr) -> Result<Option<OwnUser>, Denied> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        // As in many containers.
        let meters = rustix::thread::capabilities(None)
            .is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_PTRACE));
        if !meters {
            return Err(Denied::Machine {
                why: "root may not read here how much memory another user's processes take",
                remedy: "give the container CAP_SYS_PTRACE",
            });
        }
        let user = free_number().map(|uid| OwnUser { uid, gid: uid }).filter(|user| user.can_be(launcher));
        user.map(Some).ok_or(Denied::Machine {
            why: "root may not become another user here",
            remedy: "give the container CAP_SETUID and CAP_SETGID",
        })
    }

    /// By its numbers, `UID:GID`, as a launcher is given it.
    pub fn numbered(text: &str) -> Option<OwnUser> {
        let (uid, gid) = text.split_once(':')?;
        Some(OwnUser { uid: uid.parse().ok()?, gid: gid.parse().ok()? })
    }

    pub fn uid(self) -> u32 {
        self.uid
    }

    pub fn gid(self) -> u32 {
        self.gid
    }

    /// Whether a folder's owner is a user of a lab.
    pub fn is_one(uid: u32) -> bool {
        NUMBERS.contains(&uid)
    }

    /// Gives it what the lab made: a file, or a folder with all in it. Links are given, not what they lead to. Only what nobody else could change
    /// until now may be given, and what was given is not to be used by its path again: the user may have put links there.
    ///
    /// # Errors
    /// As the file system says.
    pub fn give(self, path: &Path) -> io::Result<()> {
        WalkDir::new(path)
            .into_iter()
            .try_for_each(|entry| lchown(entry?.path(), Some(self.uid), Some(self.gid)))
    }

    /// Lets it read what the lab made, a file or a folder with all in it, and change nothing of that: it stays the lab's.
    ///
    /// # Errors
    /// As the file system says.
    pub fn share(self, path: &Path) -> io::Result<()> {
        for entry in WalkDir::new(path) {
            let entry = entry?;
            lchown(entry.path(), None, Some(self.gid))?;
            if !entry.path_is_symlink() {
                let mode = entry.metadata()?.mode();
                fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode | (mode >> 3) & 0o050))?;
            }
        }
        Ok(())
    }

    /// Makes this process the user's, with these further groups, and without a way back. To be called before there are threads.
    pub fn become_it(self, groups: &[Gid]) -> io::Result<()> {
        use rustix::thread::{set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid};
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        set_thread_groups(groups)?;
        set_thread_res_gid(gid, gid, gid)?;
        set_thread_res_uid(uid, uid, uid)?;
        Ok(set_no_new_privs(true)?)
    }

    /// The further groups of an account; none of a user of the lab's own. To be asked before folders of others are mounted anywhere.
    pub fn groups(self) -> io::Result<Vec<Gid>> {
        let Some(account) = nix::unistd::User::from_uid(self.uid.into())? else { return Ok(Vec::new()) };
        let groups = nix::unistd::getgrouplist(&CString::new(account.name)?, self.gid.into())?;
        Ok(groups.into_iter().map(|group| Gid::from_raw(group.as_raw())).collect())
    }

    /// Tries it in a process of its own.
    fn can_be(self, launcher: &OsStr) -> bool {
        let mut probe = Command::new(launcher);
        let parent = std::process::id().to_string();
        probe.args(["agent", "--exec", &parent, lifeline::USER, &self.to_string(), "--", "true"]);
        answer(&mut probe).is_ok_and(|ended| ended.is_fine())
    }
}

/// A number that no account has and no process.
fn free_number() -> Option<u32> {
    let accounts = regular::system("/etc/passwd").unwrap_or_default()
        + &regular::system("/etc/group").unwrap_or_default();
    let processes: Vec<u32> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|p| Some(p.metadata().ok()?.uid()))
        .collect();
    let draw = || rand::random_range(NUMBERS);
    let is_free = |number: &u32| !accounts.contains(&format!(":{number}:")) && !processes.contains(number);
    std::iter::repeat_with(draw).take(100).find(is_free)
}
