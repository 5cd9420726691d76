//! Files that never end, or are none: every verb says so in a line, at once and in little memory.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::lab::{Lab, Ran, SMALL, WEIGH};

/// How long a verb may take before it counts as one that hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// The address space that a verb may take, in KiB: a file of this program's debug form takes most of it.
const MEMORY: &str = "3000000";
/// The length of the sparse file.
const SPARSE: u64 = 20 << 30;

/// What stands in the place of a file.
const KINDS: [&str; 7] = ["named pipe", "device", "sparse", "folder", "dangling", "empty", "unreadable"];

fn put(kind: &str, path: &Path) {
    match kind {
        "named pipe" => {
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        }
        "device" => symlink("/dev/zero", path).unwrap(),
        "sparse" => File::create(path).unwrap().set_len(SPARSE).unwrap(),
        "folder" => fs::create_dir(path).unwrap(),
        "dangling" => symlink("nowhere", path).unwrap(),
        "unreadable" => {
            fs::write(path, "x").unwrap();
            fs::set_permissions(path, PermissionsExt::from_mode(0o0)).unwrap();
        }
        _ => drop(File::create(path).unwrap()),
    }
}

fn remove(path: &Path) {
    if path.symlink_metadata().is_ok_and(|about| about.is_dir()) {
        fs::remove_dir_all(path).unwrap();
    } else if path.symlink_metadata().is_ok() {
        fs::remove_file(path).unwrap();
    }
}

/// Runs a verb within bounds of memory and time; none: it hangs.
fn bounded(lab: &Lab, args: &[&str]) -> Option<Ran> {
    bounded_with(lab, args, &[])
}

/// The same with variables of the environment.
pub fn bounded_with(lab: &Lab, args: &[&str], variables: &[(&str, &str)]) -> Option<Ran> {
    let limited = format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"");
    let (out, err) = (lab.tmp().with_file_name("out"), lab.tmp().with_file_name("err"));
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &limited, WEIGH]).args(args).current_dir(lab.work());
    command
        .envs(variables.iter().copied())
        .env("WEIGH_CACHE", lab.cache())
        .env("TMPDIR", lab.tmp())
        .stdin(Stdio::null());
    let mut child =
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap()).spawn().unwrap();
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() > deadline => {
                child.kill().unwrap();
                child.wait().unwrap();
                return None;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    Some(Ran { code: status.code().unwrap_or(-1), stdout: text(&out), stderr: text(&err) })
}

/// Tries each kind in place of a file; those of `fine` may be taken for what was given.
fn tried(lab: &Lab, file: &str, args: &[&str], fine: &[&str]) -> Vec<String> {
    let path = lab.path(file);
    let kept = path.with_file_name("kept-for-later");
    let is_there = path.exists();
    if is_there {
        fs::rename(&path, &kept).unwrap();
    }
    let mut wrong = Vec::new();
    for kind in KINDS {
        put(kind, &path);
        let what = format!("{} with {file} {kind}", args.join(" "));
        match bounded(lab, args) {
            None => wrong.push(format!("{what}: hangs")),
            Some(ran) if !(0..=5).contains(&ran.code) || ran.stderr.contains("panicked") => {
                wrong.push(format!("{what}: exit {}: {}", ran.code, ran.stderr));
            }
            Some(ran) if fine.contains(&kind) => drop(ran),
            // Root reads it, and finds a letter.
            Some(ran) if kind == "unreadable" && rustix::process::geteuid().is_root() => drop(ran),
            // Once it is over, in a line.
            Some(ran) if ran.code == 0 || ran.stderr.trim().is_empty() => {
                wrong.push(format!("{what}: exit {} without a word: {}", ran.code, ran.stdout));
            }
            Some(_) => {}
        }
        remove(&path);
    }
    if is_there {
        fs::rename(&kept, &path).unwrap();
    }
    wrong
}

#[test]
fn files_of_runs_are_regular_and_end() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    lab.fine(&["run", "small.toml", "--out", "weigh-runs/a"]);
    lab.fine(&["run", "small.toml", "--out", "weigh-runs/b"]);
    let mut wrong = Vec::new();
    for file in ["run.json", "plan.json", "records.ndjson"] {
        let path = format!("weigh-runs/b/{file}");
        // A log that is gone, or has nothing yet, is one of a run that has measured nothing.
        let fine: &[&str] = if file == "records.ndjson" { &["empty", "dangling"] } else { &[] };
        for args in [
            &["runs", "show", "weigh-runs/b"][..],
            &["compare", "weigh-runs/a", "weigh-runs/b"],
            &["compare", "--save", "main", "weigh-runs/b"],
            &["run", "--resume", "weigh-runs/b"],
        ] {
            wrong.extend(tried(&lab, &path, args, fine));
        }
        // A list has all others.
        wrong.extend(tried(&lab, &path, &["runs"], &KINDS));
    }
    wrong.extend(tried(&lab, "weigh-runs/b/lock", &["runs", "prune", "--older-than", "1w", "--yes"], &KINDS));
    wrong.extend(tried(&lab, "weigh-runs/b/summary.json", &["runs"], &KINDS));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_that_users_give_are_regular_and_end() {
    let lab = Lab::new();
    lab.write("www/a.js", "var a = 1;\n".repeat(200));
    lab.write("www/.htaccess", "Options -Indexes\n");
    lab.fine(&["site", "--docroot", "www"]);
    let load = ["load", "http://127.0.0.1:9/", "--connections", "1", "--duration", "1s"];
    let mut wrong = Vec::new();
    for (file, args, fine) in [
        ("study.toml", &["run", "--dry-run", "study.toml"][..], &[][..]),
        ("study.toml", &["run", "study.toml"], &[]),
        ("site.toml", &["advise", "site.toml"], &[]),
        ("policy.toml", &["prove", "policy.toml"], &[]),
        ("policy.toml", &["pack", "www", "--policy", "policy.toml"], &[]),
        ("gates.toml", &["compare", "x", "y", "--gates", "gates.toml"], &[]),
        ("a.css", &["codec", "a.css", "--codecs", "lz4"], &["sparse"]),
        ("list", &["codec", "--list", "list", "--codecs", "lz4"], &[]),
        ("body", &[&load[..], &["--body-file", "body"]].concat(), &[]),
        ("ca.pem", &[&load[..], &["--ca", "ca.pem"]].concat(), &[]),
        ("urls", &["load", "--requests-file", "urls"], &[]),
        ("profile.out", &["profile", "profile.out"], &[]),
        ("nginx.conf", &["site", "--force", "--server-config", "nginx.conf"], &[]),
        ("php.ini", &["site", "--force", "--docroot", "www", "--php-config", "php.ini"], &["empty"]),
        ("access.log", &["site", "--force", "--docroot", "www", "--log", "access.log"], &["sparse", "empty"]),
        ("www/b.css", &["pack", "www", "--codings", "zstd"], &KINDS),
        (".weigh-pack-www.ndjson", &["pack", "www", "--dry-run"], &KINDS),
        ("www/a.js.gz", &["pack", "www", "--dry-run"], &KINDS),
        ("dictionary", &["pack", "www", "--dictionary", "dictionary"], &[]),
        ("defs/studies/x.toml", &["run", "--dry-run", "x", "--defs", "defs"], &["folder"]),
    ] {
        fs::create_dir_all(lab.path(file).parent().unwrap()).unwrap();
        wrong.extend(tried(&lab, file, args, fine));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A sparse file of 10 GB that may well be packed by its name.
#[test]
fn a_file_that_is_too_large_to_be_packed_is_left_out_with_a_reason() {
    let lab = Lab::new();
    lab.write("www/a.js", "var a = 1;\n".repeat(200));
    File::create(lab.path("www/large.svg")).unwrap().set_len(10 << 30).unwrap();
    let ran = bounded(&lab, &["pack", "www", "--codings", "zstd", "--json"]).expect("it ends");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(lab.path("www/a.js.zst").exists() && !lab.path("www/large.svg.zst").exists());
    assert!(ran.stdout.contains("larger than 256 MB") && ran.stdout.contains("large.svg"), "{}", ran.stdout);
}
