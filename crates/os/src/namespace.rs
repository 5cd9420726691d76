//! Networks for ordinary users: in a user namespace of its own, which changes no number and no file's owner, a process may make network
//! namespaces as root may. It keeps the machine's own network until a thread enters another.
//!
//! Programs of others that are started from there are given none of it: the launcher lets go of it before it becomes one.

use std::ffi::OsString;
use std::process::{Command, ExitCode};
use std::{fs, io};

use rustix::process::{getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    configure_capability_in_ambient_set, set_capabilities,
};

use crate::command::answer;
use crate::lifeline;
use crate::network::Network;

/// The argument of `agent` that tries it.
const PROBE: &str = "--network-probe";

/// Handles `agent --network-probe` (`args` holds the program's own name first); `None` for any other command line.
pub fn dispatch(args: &[OsString]) -> Option<ExitCode> {
    let [_, agent, probe] = args else { return None };
    if agent != "agent" || probe != PROBE {
        return None;
    }
    let is_there = enter().is_ok() && Network::private().is_ok();
    Some(if is_there { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Lets this process make networks, where it cannot already and the machine allows it: tried in a process of its own first, so that nothing is
/// half done. To be called before there are threads.
pub fn allow_networks() {
    if geteuid().is_root() {
        return;
    }
    let probe = answer(Command::new(lifeline::this_program()).args(["agent", PROBE]));
    if probe.is_ok_and(|ended| ended.is_fine()) {
        // Should it fail after all, there are no networks, which is said where one is asked for.
        let _ = enter();
    }
}

/// Enters a user namespace in which everybody is who they were.
fn enter() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1\n"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1\n"))?;
    // What `ip` and launchers need, which are programs of their own, and no more: who has more is hidden from them.
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    set_capabilities(None, CapabilitySets { effective: needed, permitted: needed, inheritable: needed })?;
    configure_capability_in_ambient_set(CapabilitySet::SYS_ADMIN, true)?;
    Ok(configure_capability_in_ambient_set(CapabilitySet::NET_ADMIN, true)?)
}

/// Lets go of what [`allow_networks`] gave, for a program of others.
pub(super) fn let_go() {
    // A kernel without ambient capabilities gave none.
    let _ = clear_ambient_capability_set();
    if let Ok(sets) = capabilities(None) {
        let _ = set_capabilities(None, CapabilitySets { inheritable: CapabilitySet::empty(), ..sets });
    }
}
