//! What the program writes is its user's alone, whatever the umask; and what goes wrong with the system is told in a line.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use weigh_os::group::Group;
use weigh_os::user::OwnUser;

use crate::lab::{Lab, Ran, deliveries, study};

/// Runs the program by way of a shell that does something first: sets the umask, or a limit.
fn after(lab: &Lab, first: &str, args: &[&str]) -> Ran {
    let mut shell = lab.command("sh");
    shell.args(["-c", &format!("{first}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_weigh")]).args(args);
    Ran::of(shell.output().unwrap())
}

/// Every folder and file below that others could enter, read or write.
fn open_to_others(root: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        // What a run that is under way removes is open to nobody.
        let Ok(about) = entry.metadata() else { continue };
        // The group of a user of the lab's own has nobody else in it.
        let others = if OwnUser::is_one(about.gid()) { 0o007 } else { 0o077 };
        if about.mode() & others != 0 && !about.is_symlink() {
            found.push(format!("{:o} {}", about.mode() & 0o777, entry.path().display()));
        }
        if about.is_dir() {
            open_to_others(&entry.path(), found);
        }
    }
}

#[test]
fn whatever_is_written_is_its_users_alone() {
    let lab = Lab::new();
    lab.write("page.html", "<p>a page that is nobody else's</p>\n".repeat(100));
    let blocks = deliveries("asset", "corpus:page-zlib", "-", "ways = [\"plain\", \"gzip_static\"]");
    lab.write("study.toml", study("sent", [30, 1, 1], &blocks));
    let served = crate::lab::has("nginx", "apt install nginx");
    let mut verbs = vec![
        vec!["codec", "page.html", "--codecs", "zlib:1", "--budget", "2", "--out", "codec"],
        vec!["runs", "show", "codec", "--out", "shown", "--format", "csv"],
        vec!["run", "--dry-run", "cache-levels", "--quick"],
        vec!["check"],
    ];
    let server = crate::load::server::Server::of("page");
    let url = server.url("/");
    verbs.push(vec!["load", &url, "-n", "10", "--out", "loaded"]);
    verbs.push(vec![
        "load",
        &url,
        "--blocks",
        "5",
        "--vs",
        &url,
        "--block-time",
        "100ms",
        "--out",
        "compared",
    ]);
    verbs.push(vec![
        "runs", "show", "codec", "--out", "drawn", "--format", "svg", "--format", "markdown", "--format",
        "json",
    ]);
    verbs.push(vec!["lab", "link"]);
    verbs.push(vec!["lab", "link", "measure", "100mbit/1ms"]);
    if crate::lab::has_php() {
        lab.write("script.php", "<?php usleep(1000);");
        verbs.push(vec!["profile", "--pairs", "0", "--out", "profiled", "--", "script.php"]);
        verbs.push(vec![
            "codec",
            "page.html",
            "--php",
            "php",
            "--codecs",
            "gzencode:1",
            "--budget",
            "2",
            "--out",
            "inside",
        ]);
    }
    if served {
        verbs.push(vec!["run", "study.toml", "--out", "sent"]);
    }
    if crate::lab::has("redis-server", "apt install redis-server") && crate::lab::has_php() {
        let client = "[[clients]]\nstores = [\"redis\"]\ndrivers = [\"first\"]\nruntimes = [\"php\"]\nvalues = [\"integer\"]\nmixes = [\"9:1\"]\nworkers = [1]\ntransactions = 200\n";
        lab.write("clients.toml", study("asked", [10, 1, 1], client));
        verbs.push(vec!["run", "clients.toml", "--out", "asked"]);
    }
    let before: Vec<_> = std::fs::read_dir(lab.work()).unwrap().flatten().map(|entry| entry.path()).collect();
    for verb in &verbs {
        let ran = after(&lab, "umask 0", verb);
        // A busy machine makes a link slower than it was asked for, which is 3.
        let is_link = verb[0] == "link" && ran.code == 3;
        assert!(ran.code == 0 || is_link, "{verb:?}: {}{}", ran.stdout, ran.stderr);
    }
    let mut found = Vec::new();
    for entry in
        std::fs::read_dir(lab.work()).unwrap().flatten().filter(|entry| !before.contains(&entry.path()))
    {
        assert_eq!(entry.metadata().unwrap().mode() & 0o077, 0, "{}", entry.path().display());
        open_to_others(&entry.path(), &mut found);
    }
    open_to_others(&lab.cache(), &mut found);
    open_to_others(&lab.tmp(), &mut found);
    assert!(found.is_empty(), "{found:#?}");
    assert!(lab.path("codec").is_dir() && (!served || lab.path("sent").is_dir()));
}

/// The ports on which a process listens, of those that a network has: `self`, or the one that a process is in; see proc(5), `/proc/PID/net/tcp`.
fn listens(process: u32, network: &str) -> Vec<u16> {
    let open = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let open: Vec<_> = open.filter_map(|entry| std::fs::read_link(entry.path()).ok()).collect();
    let table = std::fs::read_to_string(format!("/proc/{network}/net/tcp")).unwrap_or_default();
    let of_line = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (port, state, inode) = (fields.get(1)?.rsplit(':').next()?, fields.get(3)?, fields.get(9)?);
        let is_its = *state == "0A" && open.contains(&format!("socket:[{inode}]").into());
        is_its.then(|| u16::from_str_radix(port, 16).ok())?
    };
    table.lines().filter_map(of_line).collect()
}

/// A listener of this machine's own network would take the connection of whoever is on it.
#[test]
fn what_private_servers_send_no_other_user_can_fetch() {
    needs!(crate::lab::has("nginx", "apt install nginx"));
    if let Err(why) = weigh_os::network::Network::private() {
        println!("skipped: no private network here: {why:#}");
        return;
    }
    let lab = Lab::new();
    let blocks = deliveries(
        "asset",
        "corpus:page-zlib",
        "-",
        "ways = [\"plain\", \"gzip:1\", \"gzip:6\"]\nlinks = [\"-\", \"loopback\"]\nkeep = true",
    );
    lab.write("study.toml", study("sent", [120, 300, 20], &blocks));
    let mut started = lab.start(&["run", "study.toml", "--out", "sent"]);
    let mut seen = 0;
    crate::lab::wait_until("responses came, and listeners were seen", || {
        for process in Group::below(started.0.id()).processes() {
            seen += listens(process, &process.to_string()).len();
            assert_eq!(listens(process, "self"), Vec::<u16>::new(), "open to all");
        }
        let mut found = Vec::new();
        open_to_others(&lab.tmp(), &mut found);
        assert!(found.is_empty(), "{found:#?}");
        let log = std::fs::read_to_string(lab.path("sent/records.ndjson")).unwrap_or_default();
        let over_loopback = log.lines().any(|line| line.contains("\"visit\"") && line.contains("@loopback"));
        seen >= 10 && over_loopback
    });
    started.kill();
    assert!(!lab.visits("sent").is_empty(), "the servers were up: responses came");
}

/// Whether servers of a lab have a user of their own here; else says so.
fn has_own_user() -> bool {
    let has = OwnUser::of_lab(crate::lab::WEIGH.as_ref()).is_some();
    if !has {
        println!(
            "skipped: no other user is available here: this is no root, or one that cannot change users"
        );
    }
    has
}

/// A script that only its owner can reach, below a folder `closed`.
fn closed(lab: &Lab, name: &str, program: &str) {
    let script = lab.write(&format!("closed/{name}"), format!("#!/bin/sh\nexec {program} \"$@\"\n"));
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&script, 0o755);
    mode(script.parent().unwrap(), 0o700);
}

/// The lines of a run's remarks that say what servers or stores can do now.
fn remarks(ran: &Ran) -> Vec<&str> {
    ran.stderr.lines().filter(|line| line.contains("start weigh as an ordinary user")).collect()
}

#[test]
fn a_run_whose_programs_have_no_user_of_their_own_says_so_once() {
    needs!(has_own_user(), crate::lab::serves_php());
    let lab = Lab::new();
    closed(&lab, "php", "php");
    closed(&lab, "php-fpm8.2", "php-fpm8.2");
    let blocks = |runtime, ways| deliveries("page", "synthetic:rows-4k", runtime, ways);
    let two = blocks("php", "ways = [\"none\"]") + &blocks("php", "ways = [\"gzencode:1\"]");
    lab.write("pages.toml", study("pages", [10, 2, 1], &two));
    let ran = lab.done(&["run", "pages.toml", "--php", "closed/php", "--out", "pages"]);
    let [line] = remarks(&ran)[..] else { panic!("{}", ran.stderr) };
    let folder = lab.path("closed");
    assert!(line.starts_with("servers and PHP-FPM ") && line.contains("in this run: "), "{line}");
    assert!(line.contains(&format!(": {} is closed to them", folder.display())), "{line}");
    assert!(line.contains("move it to a folder that is open to all"), "{line}");
    let fine = lab.done(&["run", "pages.toml", "--php", "php", "--out", "fine"]);
    assert_eq!(remarks(&fine), Vec::<&str>::new());
}

#[test]
fn stores_without_a_user_of_their_own_are_told_of() {
    needs!(
        has_own_user(),
        crate::lab::has("redis-server", "apt install redis-server"),
        crate::lab::has_php()
    );
    let lab = Lab::new();
    std::fs::create_dir(lab.path("closed")).unwrap();
    std::fs::set_permissions(lab.path("closed"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let client = "[[clients]]\nstores = [\"redis\"]\ndrivers = [\"first\"]\nruntimes = [\"php\"]\nvalues = [\"integer\"]\nmixes = [\"9:1\"]\nworkers = [1]\ntransactions = 200\n";
    lab.write("clients.toml", study("asked", [10, 1, 1], client));
    let mut weigh = lab.weigh(&["run", "clients.toml", "--out", "asked"]);
    let ran = Ran::of(weigh.env("TMPDIR", lab.path("closed")).output().unwrap());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let [line] = remarks(&ran)[..] else { panic!("{}", ran.stderr) };
    let folder = lab.path("closed");
    assert!(line.starts_with("stores ") && line.contains("set TMPDIR to a folder"), "{line}");
    assert!(
        line.contains(&format!(
            "{} is closed to other users (the folder for temporary files)",
            folder.display()
        )),
        "{line}"
    );
}

#[test]
fn a_command_of_the_users_own_has_the_users_umask() {
    needs!(crate::lab::has_php());
    let lab = Lab::new();
    lab.write("made.php", "<?php file_put_contents(__DIR__ . '/made', 'x');");
    let ran = after(&lab, "umask 022", &["profile", "--pairs", "0", "--", "made.php"]);
    let made = std::fs::metadata(lab.path("made")).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
    assert_eq!(made.permissions().mode() & 0o777, 0o644);
}

#[test]
fn a_killed_codec_run_leaves_nothing_that_the_next_start_does_not_remove() {
    let lab = Lab::new();
    lab.write("large.bin", vec![7; 8 << 20]);
    let mut started = lab.start(&["codec", "large.bin", "--out", "killed"]);
    crate::lab::wait_until("the content is staged", || std::fs::read_dir(lab.tmp()).unwrap().count() > 0);
    started.kill();
    lab.fine(&["run", "--dry-run"]);
    let left: Vec<_> = std::fs::read_dir(lab.tmp()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_system_without_room_is_told_in_a_line() {
    let lab = Lab::new();
    let server = crate::load::server::Server::of("page");
    let ran = after(&lab, "ulimit -v 120000", &["load", &server.url("/"), "-n", "10"]);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    let few = after(&lab, "ulimit -n 64", &["load", &server.url("/"), "-c", "10", "-n", "10"]);
    assert!(few.stderr.contains("raise the hard limit") && !few.stderr.contains("-c 0"), "{}", few.stderr);
}

#[test]
fn without_a_home_the_program_still_works() {
    let lab = Lab::new();
    let mut command = lab.command(env!("CARGO_BIN_EXE_weigh"));
    command.env_remove("HOME").env_remove("WEIGH_CACHE").env_remove("XDG_CACHE_HOME").args([
        "run",
        "--dry-run",
        "text-assets",
    ]);
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_body_without_end_is_refused() {
    let lab = Lab::new();
    let fifo = lab.path("pipe");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for file in ["/dev/zero", "pipe"] {
        let said = lab.refused(&["load", "http://127.0.0.1:9/", "--body-file", file, "-n", "1"]);
        assert!(said.contains("not a regular file"), "{said}");
    }
}
