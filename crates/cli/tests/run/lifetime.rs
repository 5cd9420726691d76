//! How long workers live, and the promise that none outlives the lab.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use weigh_model::protocol::{FaultKind, Phase};
use weigh_os::interrupt::Interrupt;
use weigh_run::executor::{CodecWorker, Failure};

use crate::scripted::{LAUNCHER, LONG, is_gone, wait_until, worker};

#[test]
fn a_worker_stays_for_all_visits_and_ends_with_its_input() {
    let mut it = worker("good");
    assert_eq!(it.executor.describe().unwrap().version, "1");
    let visit = it.visit(LONG).unwrap();
    assert_eq!(visit.phases[&Phase::Encode].cpu_ns, [1.5]);
    let pid = it.visit_pid();
    assert_eq!(it.visit_pid(), pid);
    it.executor.end();
    assert!(is_gone(pid));
    assert_ne!(it.visit_pid(), pid, "it is started again when it is needed again");
}

#[test]
fn a_hang_is_killed_with_all_it_started() {
    let mut it = worker(
        "[ -e once ] && { good; continue; }; touch once; sleep 1000 & echo $! > child; echo $$ > pid; sleep 1000",
    );
    // Time enough for the script to come so far, however busy the machine is.
    let fault = it.fault(Duration::from_secs(3));
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert!(fault.message.contains("limited to 3 s"), "{}", fault.message);
    let (pid, child) = (it.file("pid").trim().parse().unwrap(), it.file("child").trim().parse().unwrap());
    assert!(is_gone(pid));
    wait_until("the worker's own child is gone", || is_gone(child));
    it.visit_pid();
}

#[test]
fn a_worker_that_died_between_visits_is_started_again() {
    let mut it = worker("good; [ -e once ] || { touch once; exit 1; }");
    let pid = it.visit_pid();
    wait_until("the worker is gone", || is_gone(pid));
    std::thread::sleep(Duration::from_secs(1));
    assert_ne!(it.visit_pid(), pid);
}

#[test]
fn an_interrupt_ends_the_wait() {
    let mut it = worker("touch asked; sleep 1000");
    let (interrupt, asked) = (it.interrupt.clone(), it.home.path().join("asked"));
    let setter = std::thread::spawn(move || {
        wait_until("the worker was asked", || asked.exists());
        interrupt.set();
    });
    assert_eq!(it.visit(LONG), Err(Failure::Interrupted));
    setter.join().unwrap();
}

#[test]
fn the_environment_is_fixed_and_the_group_its_own() {
    let mut it = worker("env > env.txt; cat /proc/$$/stat > stat; good");
    let pid = it.visit_pid();
    let env = it.file("env.txt");
    assert!(env.lines().any(|l| l == "LC_ALL=C") && env.lines().any(|l| l.starts_with("PATH=")), "{env}");
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "the test's own environment has it");
    assert!(!env.contains("CARGO_MANIFEST_DIR"), "{env}");
    let stat = it.file("stat");
    let group = stat.rsplit(") ").next().unwrap().split(' ').nth(2).unwrap();
    assert_eq!(group, pid.to_string());
}

#[test]
fn a_worker_outlives_the_thread_that_asked_for_it() {
    let mut it = worker("good");
    let pid = it.visit_pid();
    let mut it = std::thread::spawn(move || {
        it.executor.end();
        it.visit_pid();
        it
    })
    .join()
    .unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let second = it.visit_pid();
    assert_ne!(second, pid);
    assert_eq!(it.visit_pid(), second, "the same worker still answers");
}

#[test]
fn dropping_the_executor_ends_the_worker() {
    let mut it = worker("good");
    let pid = it.visit_pid();
    drop(it.executor);
    assert!(is_gone(pid));
}

/// A stand-in for the lab that starts a worker through the launcher, says its process id, and waits.
fn lab_with_worker(launcher: &Path) -> (std::process::Child, u32) {
    let line = format!("'{}' agent --exec $$ -- sleep 1000 & echo $!; read wait", launcher.display());
    let mut lab =
        Command::new("sh").args(["-c", &line]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut pid = String::new();
    BufReader::new(lab.stdout.take().unwrap()).read_line(&mut pid).unwrap();
    (lab, pid.trim().parse().unwrap())
}

#[test]
fn no_worker_outlives_a_lab_that_was_killed() {
    if !cfg!(target_os = "linux") {
        println!("skipped: only Linux kills a child with its parent");
        return;
    }
    let (mut lab, pid) = lab_with_worker(&PathBuf::from(LAUNCHER));
    let comm = || fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    wait_until("the launcher has become the worker", || comm() == "sleep\n");
    lab.kill().unwrap();
    lab.wait().unwrap();
    wait_until("the worker is gone", || is_gone(pid));
}

#[test]
fn a_launcher_that_comes_too_late_starts_nothing() {
    let marker = tempfile::tempdir().unwrap();
    let file = marker.path().join("started");
    let output =
        Command::new(LAUNCHER).args(["agent", "--exec", "1", "--", "touch"]).arg(&file).output().unwrap();
    assert!(!output.status.success() && !file.exists());
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error, "cannot start touch: the lab has ended\n");
}

#[test]
fn a_signal_sets_the_interrupt_and_ends_nothing() {
    let interrupt = Interrupt::on_signals().unwrap();
    assert!(!interrupt.is_set());
    let pid = std::process::id().to_string();
    assert!(Command::new("sh").args(["-c", "kill -TERM \"$1\"", "sh", &pid]).status().unwrap().success());
    wait_until("the signal has arrived", || interrupt.is_set());
}
