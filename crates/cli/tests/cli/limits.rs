//! Where the system sets limits, or takes no more words: an error in a line, and nothing is left.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::lab::{Lab, SMALL, WEIGH, wait_until};
use crate::load::server::{Server, response};

/// Runs the program by a line of the shell that ends with it.
fn shell(lab: &Lab, line: &str, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{line} exec \"$0\" \"$@\""), WEIGH]).args(args).current_dir(lab.work());
    command.env("WEIGH_CACHE", lab.cache()).env("TMPDIR", lab.tmp()).stdin(Stdio::null());
    command
}

fn ran(lab: &Lab, line: &str, args: &[&str]) -> Output {
    shell(lab, line, args).output().unwrap()
}

/// What lies in the folder of temporary files.
fn left(lab: &Lab) -> Vec<String> {
    let entries = std::fs::read_dir(lab.tmp()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_full_stderr_is_no_error_of_its_own() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    for (args, code) in [(&["runs", "show", "none"][..], 2), (&["run", "small.toml", "--out", "out"], 0)] {
        let ended = ran(&lab, "exec 2>/dev/full;", args);
        assert_eq!(ended.status.code(), Some(code), "{args:?}");
    }
}

#[test]
fn files_that_may_not_grow_are_said_in_a_line_and_nothing_is_left() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    lab.fine(&["run", "small.toml", "--out", "first"]);
    let ended = ran(&lab, "ulimit -f 1;", &["run", "small.toml", "--out", "runs/second"]);
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.code().is_some_and(|code| (1..=3).contains(&code)), "{:?}: {said}", ended.status);
    assert!(said.contains("File too large"), "{said}");
    assert_eq!(left(&lab), [""; 0]);
    let runs = std::fs::read_dir(lab.path("runs")).map_or(0, Iterator::count);
    assert_eq!(runs, 0, "{said}");
}

#[test]
fn a_small_stack_is_said_in_a_line() {
    let lab = Lab::new();
    let ended = ran(&lab, "ulimit -s 64;", &["--version"]);
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{:?}: {said}", ended.status.signal());
    assert!(said.contains("a stack of 64 KB is too small") && said.lines().count() == 1, "{said}");
    // What may be raised is raised.
    assert_eq!(ran(&lab, "ulimit -S -s 64;", &["--version"]).status.code(), Some(0));
}

#[test]
fn without_a_home_nothing_is_left_by_what_only_looks() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    for args in [
        &["run", "--dry-run", "small.toml"][..],
        &["check"],
        &["runs"],
        &["lab", "corpus", "list"],
        &["run", "small.toml", "--out", "out"],
    ] {
        let mut command = shell(&lab, "", args);
        command.env_remove("WEIGH_CACHE").env_remove("XDG_CACHE_HOME").env("HOME", "/proc/none");
        let ended = command.output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
        assert_eq!(left(&lab), [""; 0], "{args:?}");
        assert!(!lab.path("weigh-runs").exists(), "{args:?}");
    }
}

#[test]
fn a_run_in_the_background_goes_on_after_its_terminal() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    let mut run = shell(&lab, "trap '' HUP;", &["run", "small.toml", "--out", "out"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("it measures", || {
        std::fs::read(lab.path("out/records.ndjson")).is_ok_and(|records| !records.is_empty())
    });
    let id = Pid::from_raw(i32::try_from(run.id()).unwrap()).unwrap();
    // It may be over by now.
    let _ = kill_process(id, Signal::HUP);
    assert_eq!(run.wait().unwrap().code(), Some(0));
}

#[test]
fn a_load_for_which_memory_is_short_says_what_was_short_and_how_far_it_was() {
    let (lab, server) = (Lab::new(), Server::new(|_, _| response("", &vec![b'x'; 100 << 20])));
    let load = ["load", &server.url("/"), "-c", "1", "-n", "3", "--out", "run"];
    let ended = ran(&lab, "ulimit -v 131072;", &load);
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    let [limit, short] = said.lines().collect::<Vec<_>>()[..] else { panic!("{said}") };
    assert!(limit.starts_with("Memory is limited to 128 MB"), "{limit}");
    assert!(short.contains("its last words: memory allocation of "), "{short}");
    assert!(short.contains("; until then: asking what the server sends; its stderr is in run/"), "{short}");
}
