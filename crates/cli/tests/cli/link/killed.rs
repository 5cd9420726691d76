//! Nothing of a link outlives its lab: no process, no network, no device in it.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use weigh_model::link::Way;
use weigh_os::group::Group;

use crate::lab::wait_until;

/// Says that this copy of the tests plays the lab.
const LAB: &str = "WEIGH_TEST_LINK";

/// Not a test of its own: the lab that is killed. It makes a link, says which networks it has, and waits.
#[test]
fn lab_that_waits() {
    if std::env::var_os(LAB).is_none() {
        return;
    }
    let link = super::link("60mbit/1ms", Way::Tun).unwrap();
    let ids = [link.near(), link.far()].map(|network| std::fs::metadata(network.path()).unwrap().ino());
    println!("\nnetworks {} {}", ids[0], ids[1]);
    std::thread::sleep(std::time::Duration::from_secs(600));
}

/// Every network that a process is in or holds.
fn networks() -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let held =
            std::fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten().map(|e| e.path());
        for path in held.chain([process.path().join("ns/net")]) {
            let target = std::fs::read_link(path).unwrap_or_default();
            let name = target.to_str().unwrap_or_default();
            found.extend(name.strip_prefix("net:[").and_then(|id| id.strip_suffix(']')?.parse::<u64>().ok()));
        }
    }
    found
}

#[test]
fn a_killed_lab_leaves_neither_emulator_nor_network() {
    if super::link("60mbit/1ms", Way::Tun).is_none() {
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "link::killed::lab_that_waits", "--nocapture", "--test-threads=1"])
        .env(LAB, "1");
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let ids = lines.find_map(|line| line.strip_prefix("networks ").map(str::to_owned)).expect("no link");
    let ids: Vec<u64> = ids.split(' ').map(|id| id.parse().unwrap()).collect();
    let emulators = Group::below(child.id()).processes();
    assert_eq!(emulators.len(), 1, "{emulators:?}");
    assert!(ids.iter().all(|id| networks().contains(id)), "{ids:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    let gone = |id: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        status.is_empty() || status.contains(") Z ")
    };
    wait_until("the emulator is gone", || emulators.iter().all(gone));
    // Devices live in a network, and a network as long as somebody holds it.
    wait_until("both networks are gone", || ids.iter().all(|id| !networks().contains(id)));
}

#[test]
fn a_link_that_is_dropped_leaves_nothing() {
    let Some(link) = super::link("60mbit/1ms", Way::Tun) else { return };
    let ids = [link.near(), link.far()].map(|network| std::fs::metadata(network.path()).unwrap().ino());
    assert!(ids.iter().all(|id| networks().contains(id)));
    drop(link);
    wait_until("both networks are gone", || ids.iter().all(|id| !networks().contains(id)));
}
