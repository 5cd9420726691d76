//! Bad input: one clear line, or one row, and nothing lost.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::codec::{ids, text};
use crate::lab::{Lab, Ran, SMALL, WEIGH, has};

#[test]
fn paths_that_cannot_be_measured_are_named() {
    let lab = Lab::new();
    lab.write("empty", "");
    fs::create_dir(lab.path("hollow")).unwrap();
    assert!(lab.command("mkfifo").arg("pipe").output().unwrap().status.success());
    std::os::unix::fs::symlink("loop", lab.path("loop")).unwrap();
    lab.write("a.css", text(100));
    for (path, said) in [
        ("nowhere", "no such file or folder"),
        ("empty", "is empty: there is nothing to measure"),
        ("hollow", "has no file to measure"),
        ("pipe", "is a named pipe: give a regular file or a folder"),
        ("/dev/null", "is a device: give a regular file or a folder"),
        ("a.css/b", "a.css/b: "),
        ("loop", "loop: "),
    ] {
        // Beside a good one: it is refused as a whole, before anything is measured.
        let line = lab.refused(&["codec", "a.css", path, "--codecs", "lz4"]);
        assert!(line.contains(path) && line.contains(said), "{path}: {line}");
    }
    assert!(!lab.path("weigh-runs").exists());
    assert_eq!(lab.left_over(), 0);
}

#[test]
fn an_unreadable_file_is_refused_and_in_a_folder_left_out() {
    let lab = Lab::new();
    lab.write("site/open.css", text(500));
    lab.write("site/closed.css", text(500));
    fs::set_permissions(lab.path("site/closed.css"), fs::Permissions::from_mode(0o0)).unwrap();
    let as_user = |args: &[&str]| {
        if !is_root(&lab) {
            return lab.run(args);
        }
        // Root reads everything, so somebody else has to try. The program may stand where they cannot go.
        let line =
            "exec 9<\"$0\"; exec setpriv --reuid 65534 --regid 65534 --clear-groups /proc/self/fd/9 \"$@\"";
        Ran::of(lab.command("sh").args(["-c", line, WEIGH]).args(args).output().unwrap())
    };
    if is_root(&lab) && !has("setpriv", "apt install util-linux") {
        return;
    }
    let home = lab.work().parent().unwrap().to_owned();
    for folder in [lab.work(), lab.cache(), home.join("tmp"), home] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let line = as_user(&["codec", "site/closed.css", "--codecs", "lz4"]).refusal();
    assert!(line.contains("site/closed.css: it may not be read by this user"), "{line}");
    let ran = as_user(&["codec", "site", "--codecs", "lz4", "--budget", "20", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("left out site/closed.css: it may not be read"), "{}", ran.stderr);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found["payloads"][0]["items"], serde_json::json!([500]));
    // A place that this user may not write to.
    fs::set_permissions(lab.work(), fs::Permissions::from_mode(0o555)).unwrap();
    let line = as_user(&["codec", "site/open.css", "--codecs", "lz4", "--out", "run"]).refusal();
    assert!(line.contains("the run directory cannot be created"), "{line}");
    fs::set_permissions(lab.work(), fs::Permissions::from_mode(0o755)).unwrap();
}

fn is_root(lab: &Lab) -> bool {
    Ran::of(lab.command("id").arg("-u").output().unwrap()).stdout.trim() == "0"
}

#[test]
fn a_huge_file_is_measured_in_stated_blocks_within_bounded_memory() {
    let lab = Lab::new();
    File::create(lab.path("huge.bin")).unwrap().set_len(10_000_000_000).unwrap();
    // 3 GB of addresses for each process, far less than the file.
    let line =
        format!("ulimit -v 3000000; exec {WEIGH} codec huge.bin --codecs lz4 --budget 3 --out run --json");
    let ran = Ran::of(lab.command("sh").args(["-c", &line]).output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    let payload = &found["payloads"][0];
    assert!(payload["bytes"].as_u64().unwrap() <= 64 << 20, "{payload}");
    let blocks = payload["origin"]["sampled"].as_str().expect("which blocks");
    assert!(blocks.contains("evenly spaced over 10000000000 bytes"), "{blocks}");
    assert!(found["caveats"].as_array().unwrap().iter().any(|c| c["code"] == "sampled"));
    assert!(lab.fine(&["runs", "show", "run", "--full"]).contains("blocks"));
}

#[test]
fn a_name_with_escape_codes_moves_no_cursor() {
    let lab = Lab::new();
    let name = "e\u{1b}[31mvil\n\u{7}.css";
    lab.write(name, text(500));
    let ran = lab.done(&["codec", name, "--codecs", "lz4", "--budget", "20"]);
    let harmless = |c: char| !c.is_control() || c == '\n';
    assert!(ran.stdout.chars().all(harmless) && ran.stderr.chars().all(harmless), "{}", ran.stdout);
    assert!(ran.stdout.contains("e_31mvil_.css"), "{}", ran.stdout);
    fs::remove_file(lab.path(name)).unwrap();
    let line = lab.refused(&["codec", name]);
    assert!(line.contains("evil\u{fffd}\u{fffd}.css: no such file"), "{line}");
}

#[test]
fn a_name_that_is_no_text_is_measured_all_the_same() {
    let lab = Lab::new();
    let name = OsStr::from_bytes(b"caf\xe9.css");
    if let Err(error) = fs::write(lab.work().join(name), text(500)) {
        println!("skipped: this file system takes no such name: {error}");
        return;
    }
    let mut command = lab.weigh(&["codec", "--codecs", "lz4", "--budget", "20", "--out", "run", "--json"]);
    let ran = Ran::of(command.arg("--").arg(name).output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(ids(&found), ["caf_.css/native/-/lz4"]);
    lab.fine(&["runs", "show", "run"]);
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    let lab = Lab::new();
    lab.write("a.css", text(100));
    for (flags, said) in [
        (&["--codecs", "zstdd"][..], "no codec `zstdd`; did you mean `zstd`?"),
        (&["--codecs", "zstd:23"], "zstd has levels -7 to 22, not 23"),
        (&["--codecs", "zstd:3,windo=20"], "zstd has no option `windo`; did you mean `window`?"),
        (&["--codecs", "zstd:3,window=9"], "zstd: window=9 is not accepted; use "),
        (&["--codecs", "zlib:6,mode=streem"], "zlib: mode=streem is not accepted; use oneshot, stream"),
        (&["--codecs", "lz4:3"], "lz4 has no levels"),
        (&["--codecs", "zstd:3,window"], "no codec `window`"),
        (&["--codecs", ""], "does not name a codec"),
        (&["--sets", "wep"], "no set `wep`; did you mean `web`?"),
        (&["--sets", "xyz"], "no set `xyz`; known: all, archive, cache, fast, web"),
        (&["--levels", "many"], "`many` is not a level"),
    ] {
        let args: Vec<&str> = ["codec", "a.css"].iter().chain(flags).copied().collect();
        let line = lab.refused(&args);
        assert!(line.contains(said), "{flags:?}: {line}");
    }
}

#[test]
fn mistakes_in_a_study_are_named_with_their_place() {
    let lab = Lab::new();
    let study = |from: &str, to: &str| SMALL.replacen(from, to, 1);
    for (text, said) in [
        (study("runtimes", "runtime"), "mine.toml, line 13: unknown key `runtime`; did you mean `runtimes`?"),
        (study("max_rounds", "max_round"), "unknown key `max_round`; did you mean `max_rounds`?"),
        (study("schema = 1", "schema = 2"), "this program reads schema = 1"),
        (study("[\"native\"]", "[\"nativ\"]"), "no runtime `nativ`; did you mean `native`?"),
        (study("zstd:3", "zstd:33"), "zstd has levels -7 to 22, not 33"),
        (study("synthetic:rows-4k", "value:tree-24m"), "did you mean `value:tree-2.4m`?"),
        (study("synthetic:rows-4k", "set:wbe"), "there is no set `wbe`"),
        (study("synthetic:rows-4k", "rows"), "corpus:ID, value:ID"),
        (study("seconds = 200", "seconds = -1"), "budget.seconds = -1 must be above zero"),
        ("schema = ".into(), "mine.toml, line 1"),
        ("\u{0}\u{1b}".into(), "mine.toml, line 1"),
    ] {
        lab.write("mine.toml", text);
        let line = lab.refused(&["run", "mine.toml"]);
        assert!(line.contains(said), "{said}: {line}");
    }
    for (name, said) in [
        ("cache-level", "no study `cache-level`; did you mean `cache-levels`?"),
        ("nowhere.toml", "nowhere.toml: cannot be read: No such file"),
        ("/dev/zero", "/dev/zero: it is a device"),
        ("studies/", "no study `studies/`"),
    ] {
        let line = lab.refused(&["run", "--dry-run", name]);
        assert!(line.contains(said), "{name}: {line}");
    }
    lab.write("study.txt", SMALL);
    assert!(lab.refused(&["run", "study.txt"]).contains("a study's file ends in .toml"));
}

#[test]
fn content_is_never_executed() {
    let lab = Lab::new();
    lab.write("$(touch pwned).css", text(200));
    lab.write("; touch pwned", text(200));
    let args =
        ["codec", "$(touch pwned).css", "; touch pwned", "--codecs", "lz4", "--budget", "20", "--json"];
    assert_eq!(ids(&lab.told(&args)).len(), 2);
    assert!(!lab.path("pwned").exists());
}
