//! The user that servers, stores and PHP run as when the lab is root's: a number that no account and no process has, and that owns nothing but what
//! the lab gives it. As root they would own all of root's files, also without its privileges.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rustix::process::{Gid, Uid};
use rustix::thread::CapabilitySet;
use walkdir::WalkDir;

use super::lifeline;

/// Where it is drawn from: above what accounts, services and containers are given.
const NUMBERS: std::ops::Range<u32> = 1_900_000_000..2_000_000_000;

/// A user of the lab's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnUser(u32);

impl OwnUser {
    /// The one of this lab, chosen once. None where the lab is not root's, or where the machine does not let it change users.
    pub fn of_lab(launcher: &OsStr) -> Option<OwnUser> {
        static CHOSEN: OnceLock<Option<OwnUser>> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            // Without that, as in many containers, root could not read how much memory another user's processes take.
            let meters = rustix::thread::capabilities(None)
                .is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_PTRACE));
            let user = (rustix::process::geteuid().is_root() && meters).then(free_number)?.map(OwnUser)?;
            user.can_be(launcher).then_some(user)
        })
    }

    /// The one of this lab, where it can carry out all of these programs and reach the folder for temporary files.
    pub fn for_programs<'p>(mut programs: impl Iterator<Item = &'p Path>) -> Option<OwnUser> {
        let user = OwnUser::of_lab(&lifeline::this_program())?;
        (user.reaches(&std::env::temp_dir()) && programs.all(|program| user.reaches(program))).then_some(user)
    }

    /// By its number, as a launcher is given it.
    pub fn numbered(text: &str) -> Option<OwnUser> {
        text.parse().ok().map(OwnUser)
    }

    /// Its number.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Whether a folder's owner is a user of a lab.
    pub fn is_one(uid: u32) -> bool {
        NUMBERS.contains(&uid)
    }

    /// Gives it what the lab made: a file, or a folder with all in it. Links are given, not what they lead to.
    ///
    /// # Errors
    /// As the file system says.
    pub fn give(self, path: &Path) -> io::Result<()> {
        WalkDir::new(path)
            .into_iter()
            .try_for_each(|entry| std::os::unix::fs::lchown(entry?.path(), Some(self.0), Some(self.0)))
    }

    /// Whether it may carry out or read what is there: every folder above lets anybody through, or is its own.
    pub fn reaches(self, path: &Path) -> bool {
        lets_through(path, Some(self.0))
    }

    /// Makes this process the user's, without groups and without a way back. To be called before there are threads.
    pub fn become_it(self) -> io::Result<()> {
        use rustix::thread::{set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid};
        let (uid, gid) = (Uid::from_raw(self.0), Gid::from_raw(self.0));
        set_thread_groups(&[])?;
        set_thread_res_gid(gid, gid, gid)?;
        set_thread_res_uid(uid, uid, uid)?;
        Ok(set_no_new_privs(true)?)
    }

    /// Tries it in a process of its own.
    fn can_be(self, launcher: &OsStr) -> bool {
        let mut probe = Command::new(launcher);
        let parent = std::process::id().to_string();
        probe.args(["agent", "--exec", &parent, lifeline::USER, &self.0.to_string(), "--", "true"]);
        probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        probe.status().is_ok_and(|status| status.success())
    }
}

/// Whether every user of the machine may read what is there.
pub fn is_open_to_all(path: &Path) -> bool {
    lets_through(path, None)
}

/// Whether a file and every folder above it let anybody through, or are this owner's.
fn lets_through(path: &Path, owner: Option<u32>) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    let lets = |path: &Path| {
        fs::metadata(path).is_ok_and(|data| {
            let bit = if data.is_dir() { 0o1 } else { 0o4 };
            data.mode() & bit != 0 || Some(data.uid()) == owner
        })
    };
    path.ancestors().all(lets)
}

/// A number that no account has and no process.
fn free_number() -> Option<u32> {
    let accounts = fs::read_to_string("/etc/passwd").unwrap_or_default()
        + &fs::read_to_string("/etc/group").unwrap_or_default();
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
