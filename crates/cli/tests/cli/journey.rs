//! `scripts/journey` says at its end what could not be done, and ends with it.

use std::os::unix::fs::PermissionsExt;

use crate::lab::{Lab, Ran};

/// A program in place of weigh, whose `site` ends as it is told to.
fn journey(site: &str, prove: &str) -> Ran {
    let lab = Lab::new();
    let script = format!(
        "#!/bin/sh\ncase $1 in\n  corpus) mkdir -p \"$3\" ;;\n  site) {site} ;;\n  advise) echo '1. Do it.' ;;\n  prove) echo held; {prove} ;;\nesac\n"
    );
    let weigh = lab.write("weigh", script);
    std::fs::set_permissions(&weigh, std::fs::Permissions::from_mode(0o755)).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/journey");
    Ran::of(lab.command("sh").arg(script).env("WEIGH", &weigh).output().unwrap())
}

#[test]
fn a_skipped_step_is_the_last_line_and_the_exit_code() {
    let fine = journey("exit 0", "exit 0");
    assert_eq!(fine.code, 0, "{}{}", fine.stdout, fine.stderr);
    assert!(!fine.stdout.contains("Skipped"), "{}", fine.stdout);

    let pages = journey("echo 'weigh: no page was looked at: closed' >&2; exit 3", "exit 0");
    assert_eq!(pages.code, 3, "{}{}", pages.stdout, pages.stderr);
    let tail: Vec<&str> = pages.stdout.lines().rev().take(2).collect();
    assert_eq!(
        tail,
        [
            "Skipped on apache: weigh: no page was looked at: closed",
            "Skipped on nginx: weigh: no page was looked at: closed"
        ]
    );

    let undecided = journey("exit 0", "exit 5");
    assert_eq!(undecided.code, 0, "a short budget decides little: {}{}", undecided.stdout, undecided.stderr);
    let missed = journey("exit 0", "exit 4");
    assert_eq!(missed.code, 4, "{}{}", missed.stdout, missed.stderr);
}
