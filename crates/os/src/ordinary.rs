//! Root as an ordinary user, for programs that have no user of their own: some servers refuse to serve as root, or give their workers to a user who
//! cannot read the files. In a user namespace of its own a process of root's has an ordinary number, reads what root owns, and has none of root's
//! privileges.

use std::ffi::OsStr;
use std::process::Command;
use std::sync::OnceLock;
use std::{fs, io};

use crate::command::answer;

/// The argument of `agent` that tries whether there is a user namespace to be had.
pub(crate) const PROBE: &str = "--guard-probe";
/// The number that root has inside.
const INSIDE: u32 = 1000;

/// Makes root an ordinary user; anybody else is one. To be called before there are threads.
pub(crate) fn become_ordinary() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if !user.is_root() {
        return Ok(());
    }
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{INSIDE} {} 1\n", user.as_raw()))?;
    fs::write("/proc/self/gid_map", format!("{INSIDE} {} 1\n", group.as_raw()))
}

/// Whether guarded programs run as root: the lab does, and the machine gives it no user namespace. Asked once.
pub fn is_real_root(launcher: &OsStr) -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let probe = || answer(Command::new(launcher).args(["agent", PROBE]));
        rustix::process::geteuid().is_root() && !probe().is_ok_and(|ended| ended.is_fine())
    })
}
