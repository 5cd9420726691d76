//! What is written where: colours, width, pipes.

use std::process::Command;

use crate::lab::{Lab, Ran, SMALL, WEIGH, has};

fn measured() -> Lab {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    lab.fine(&["run", "small.toml", "--out", "run"]);
    lab
}

#[test]
fn a_pipe_gets_no_escape_sequence() {
    let lab = measured();
    for args in [
        &["check"][..],
        &["run", "--dry-run", "small.toml"],
        &["runs", "show", "run"],
        &["lab", "corpus", "list"],
        &["--help"],
        &["run", "small.toml", "--out", "again"],
        &["codec", "nonsense"],
    ] {
        let ran = lab.run(args);
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{args:?}");
    }
}

/// What a command writes to a terminal of its own.
pub fn on_terminal(lab: &Lab, line: &str, of: &[(&str, &str)]) -> String {
    let mut command = lab.command("script");
    command.args(["-qefc", line, "/dev/null"]).env("TERM", "xterm-256color").envs(of.iter().copied());
    let ran = Ran::of(command.output().unwrap());
    assert!(!ran.stdout.is_empty(), "{}", ran.stderr);
    ran.stdout
}

/// A sequence that sets a colour or a weight; those that take a progress line off the screen are none.
fn has_colours(text: &str) -> bool {
    let ends =
        |rest: &str| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m');
    text.split("\u{1b}[").skip(1).any(ends)
}

#[test]
fn a_terminal_gets_colours_unless_no_color_is_set_or_it_is_dumb() {
    needs!(has("script", "apt install bsdutils"));
    let lab = measured();
    for verb in ["check", "report run", "codec nonsense", "--help"] {
        let line = format!("{WEIGH} {verb}");
        assert!(has_colours(&on_terminal(&lab, &line, &[])), "{verb}");
        assert!(!has_colours(&on_terminal(&lab, &line, &[("NO_COLOR", "1")])), "{verb}");
        let dumb = on_terminal(&lab, &line, &[("TERM", "dumb")]);
        assert!(!dumb.contains('\u{1b}'), "{verb}: {dumb:?}");
    }
}

#[test]
fn tables_keep_to_a_terminal_and_cut_nothing() {
    let lab = measured();
    for columns in [60, 80, 100, 120, 200] {
        for args in [
            &["runs", "show", "run"][..],
            &["runs", "show", "run", "--columns", "all"],
            &["run", "--dry-run", "small.toml"],
            &["run", "--dry-run", "small.toml", "--cells"],
            &["run", "--dry-run"],
            &["lab", "corpus", "list"],
            &["check"],
            &["lab", "runtime", "list"],
            &["lab", "link", "list"],
        ] {
            let output = lab.weigh(args).env("COLUMNS", columns.to_string()).output().unwrap();
            let text = Ran::of(output).stdout;
            // What cannot be broken, such as a question or a path, is not a table's line.
            let table = text.lines().filter(|l| !l.starts_with("cache: ") && !l.starts_with("  /"));
            // Of a check, what is missing is told in sentences.
            let table = table.filter(|l| args[0] != "check" || (l.starts_with("  ") && !l.contains(": ")));
            for line in
                table.filter(|l| !l.starts_with("Show one: weigh run --dry-run STUDY") && !l.ends_with('?'))
            {
                assert!(console::measure_text_width(line) <= columns, "{args:?} at {columns}: {line}");
                assert!(!line.contains('…'), "{args:?} at {columns}: {line}");
            }
        }
    }
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let lab = measured();
    for verb in
        ["check", "lab corpus list --json", "runs show run", "run --dry-run small.toml --json", "--help"]
    {
        // The reader is gone before the first byte is written.
        let line = format!("(sleep 1; {WEIGH} {verb}; echo \"code $?\" >&2) | true");
        let ran = Ran::of(lab.command("sh").args(["-c", &line]).output().unwrap());
        assert!(
            ran.stderr.ends_with("code 0\n") && !ran.stderr.contains("weigh: "),
            "{verb}: {}",
            ran.stderr
        );
    }
    let line = format!("{WEIGH} check | head -n 1");
    let ran = Ran::of(lab.command("sh").args(["-c", &line]).output().unwrap());
    assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (1, ""));
}

#[test]
fn a_full_disk_behind_stdout_is_one_line() {
    if !std::path::Path::new("/dev/full").exists() {
        println!("skipped: there is no /dev/full here");
        return;
    }
    let lab = Lab::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(WEIGH)
        .args(["lab", "corpus", "list"])
        .env("WEIGH_CACHE", lab.cache())
        .stdout(full)
        .output();
    let line = Ran::of(output.unwrap()).failure();
    assert!(line.contains("cannot be written to stdout"), "{line}");
}
