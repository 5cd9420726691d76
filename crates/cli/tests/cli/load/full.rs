//! A disk that is full at the end of a load: what was measured is shown, and every file that has room is written.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::Duration;

use super::schema::document;
use super::server::{Server, response};
use crate::lab::{Lab, Ran, WEIGH, has};

/// The request at which the disk fills, beyond those of the preflight.
const FILLS: usize = 30;
/// Requests of the load.
const REQUESTS: &str = "100";

/// `full` is a small disk of the command's own. It fills when the server says `go`, which goes on when that is done.
const SMALL_DISK: &str = "mkdir -p full && mount -t tmpfs -o size=512k small full || exit 99
(while ! [ -e go ]; do sleep 0.01; done; cat /dev/zero >full/rest; : >filled) 2>/dev/null &
\"$@\"";

/// What lets a command have mounts of its own here; none where nothing does.
fn own_mounts(lab: &Lab) -> Option<&'static str> {
    if !has("unshare", "apt install util-linux") {
        return None;
    }
    let line = "mkdir -p full && mount -t tmpfs -o size=512k small full";
    let can = |flag: &&str| {
        Ran::of(lab.command("unshare").args([flag, "sh", "-c", line]).output().unwrap()).code == 0
    };
    let found = ["-m", "-rm"].into_iter().find(can);
    if found.is_none() {
        println!("skipped: no mounts of one's own here: neither root nor user namespaces");
    }
    found
}

/// Loads a server while the small disk fills.
fn loaded(mounts: &str, lab: &Lab, more: &[&str]) -> Ran {
    let (go, filled) = (lab.path("go"), lab.path("filled"));
    for mark in [&go, &filled] {
        let _ = std::fs::remove_file(mark);
    }
    let server = Server::new(move |_, number| {
        if number == FILLS {
            fill(&go, &filled);
        }
        response("", b"a body")
    });
    let mut command = lab.command("unshare");
    command.args([mounts, "sh", "-c", SMALL_DISK, "sh", WEIGH, "load", &server.url("/")]);
    command.args(["-n", REQUESTS, "-c", "1", "--json"]).args(more);
    let ran = Ran::of(command.output().unwrap());
    assert!(lab.path("filled").exists(), "the disk did not fill: {}", ran.stderr);
    ran
}

fn fill(go: &Path, filled: &Path) {
    File::create(go).unwrap();
    let mut left = 3000;
    while !filled.exists() && left > 0 {
        std::thread::sleep(Duration::from_millis(10));
        left -= 1;
    }
}

/// The figures are there, and one line says what has no room.
fn shows_all_but(ran: &Ran, file: &str) {
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert_eq!(document(&ran.stdout)["figures"]["total"]["counts"]["completed"], 100);
    let said = ran.stderr.lines().last().unwrap();
    let expected = format!("{file}: cannot be written: No space left on device");
    assert!(said.contains("the figures above are not kept in full") && said.contains(&expected), "{said}");
}

#[test]
fn figures_are_shown_though_no_file_of_the_run_has_room() {
    let lab = Lab::new();
    let Some(mounts) = own_mounts(&lab) else { return };
    let more = ["--out", "full/run", "--csv", "s.csv", "--hlog", "t.hlog"];
    let ran = loaded(mounts, &lab, &more);
    for file in ["full/run", "full/run/result.json", "full/run/slices.csv", "full/run/times.hlog"] {
        shows_all_but(&ran, file);
    }
    assert!(lab.read("s.csv").lines().count() > 1, "what has room is written");
    assert!(lab.read("t.hlog").contains("Tag=all/response"));
}

#[test]
fn figures_are_shown_and_kept_though_a_file_beside_has_no_room() {
    let lab = Lab::new();
    let Some(mounts) = own_mounts(&lab) else { return };
    for (flag, run) in [("--csv", "one"), ("--hlog", "two")] {
        let ran = loaded(mounts, &lab, &["--out", run, flag, "full/file"]);
        shows_all_but(&ran, "full/file");
        assert_eq!(document(&ran.stdout), lab.json(&format!("{run}/result.json")), "{flag}");
        assert!(lab.path(run).join("slices.csv").exists() && lab.path(run).join("times.hlog").exists());
    }
}

#[test]
fn figures_are_kept_though_nobody_can_be_shown_them() {
    if !Path::new("/dev/full").exists() {
        println!("skipped: there is no /dev/full here");
        return;
    }
    let (lab, server) = (Lab::new(), Server::of("a body"));
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(WEIGH);
    command.args(["load", &server.url("/"), "-n", REQUESTS, "-c", "1", "--out", "run", "--csv", "s.csv"]);
    let ran = Ran::of(command.current_dir(lab.work()).stdout(full).output().unwrap());
    let line = ran.stderr.lines().last().unwrap();
    assert_eq!(ran.code, 1);
    assert!(line.contains("is in run: the results cannot be written to stdout"), "{line}");
    assert_eq!(document(&lab.read("run/result.json"))["figures"]["total"]["counts"]["completed"], 100);
    assert_eq!(lab.read("s.csv"), lab.read("run/slices.csv"));
}

#[test]
fn a_pipe_or_a_link_is_written_into_and_stays_what_it_is() {
    let (lab, server) = (Lab::new(), Server::of("a body"));
    assert!(lab.command("mkfifo").arg("pipe").output().unwrap().status.success());
    lab.write("kept/old.csv", "old");
    std::os::unix::fs::symlink("kept/old.csv", lab.path("link")).unwrap();
    let pipe = lab.path("pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap());
    let url = server.url("/");
    lab.fine(&["load", &url, "-n", "20", "-c", "1", "--out", "run", "--csv", "pipe", "--hlog", "link"]);
    assert_eq!(reader.join().unwrap(), lab.read("run/slices.csv"));
    assert_eq!(lab.read("kept/old.csv"), lab.read("run/times.hlog"));
    assert!(lab.path("link").is_symlink());
}
