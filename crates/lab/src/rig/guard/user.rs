//! Root under another number: some servers refuse to serve as root, or give their workers to a user who cannot read the files.
//!
//! In a user namespace of its own a process of root's has an ordinary number, reads what root owns, and has none of root's privileges:
//! so each program behaves as it would for an ordinary user.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The argument of `agent` that tries whether there is a user namespace to be had.
pub(super) const PROBE: &str = "--guard-probe";
/// The number that root has inside.
const INSIDE: u32 = 1000;

/// Makes root an ordinary user; anybody else is one. To be called before there are threads.
pub(super) fn become_ordinary() -> io::Result<()> {
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
        let mut probe = Command::new(launcher);
        probe.args(["agent", PROBE]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        rustix::process::geteuid().is_root() && !probe.status().is_ok_and(|s| s.success())
    })
}
