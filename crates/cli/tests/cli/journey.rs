//! `scripts/journey` says at its end what could not be done, and ends with it.

use std::os::unix::fs::PermissionsExt;

use crate::lab::{Lab, Ran, has};

/// A program in place of weigh, whose `site` ends as it is told to.
fn journey(site: &str, prove: &str) -> Ran {
    let lab = Lab::new();
    let script = format!(
        "#!/bin/sh\ncase $1 in\n  lab) mkdir -p \"$4\" ;;\n  site) {site} ;;\n  advise) echo '1. Do it.' ;;\n  prove) echo held; {prove} ;;\nesac\n"
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

#[test]
fn weigh_alone_says_what_it_found_and_does_nothing_until_it_is_told_to() {
    let lab = Lab::new();
    assert!(lab.fine(&[]).starts_with("No site is in this folder"), "an empty folder");
    lab.write("public/index.html", "<link rel=stylesheet href=app.css>");
    lab.write("nginx.conf", "events {}");
    let said = lab.fine(&[]);
    for words in ["document root  public", "To go on: weigh --yes", "5 minutes", "It changes nothing"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let found: Vec<_> =
        std::fs::read_dir(lab.work()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(found.len(), 2, "nothing is written: {found:?}");
    assert!(
        lab.refused(&["--quick", "check"])
            .contains("--quick and --budget before a command are of weigh alone")
    );
}

#[test]
fn weigh_alone_goes_from_a_folder_to_one_screen_and_goes_on_where_it_was_ended() {
    needs!(has("nginx", "apt install nginx-light"));
    let lab = Lab::new();
    lab.write("public/index.html", "<link rel=stylesheet href=app.css>");
    lab.write("public/app.css", "a { color: red }\n".repeat(2000));
    let ran = lab.run(&["--yes", "--budget", "20s"]);
    assert!([0, 5].contains(&ran.code), "{}{}", ran.stdout, ran.stderr);
    let config = lab.read("nginx.conf");
    assert!(config.starts_with("# Assumed by weigh") && config.contains("gzip on;"), "{config}");
    assert!(!lab.read("site.toml").contains("today = []"), "what the assumed server does is today's");
    assert!(lab.path("site.toml").is_file() && lab.path("advice/policy.toml").is_file());
    let words = ["So far ", "Make ", "Change nothing"];
    assert!(!ran.stdout.contains("No advice"), "{}", ran.stdout);
    assert!(words.iter().any(|words| ran.stdout.contains(words)), "{}", ran.stdout);
    let again = lab.run(&["--yes", "--budget", "20s"]);
    assert!(again.stdout.starts_with("site.toml is here and is used"), "{}", again.stdout);
    assert!(
        again.stderr.contains("advice/policy.toml is of an earlier call and is used"),
        "{}",
        again.stderr
    );
}

#[test]
fn weigh_alone_writes_nothing_below_a_document_root() {
    needs!(has("nginx", "apt install nginx-light"));
    let lab = Lab::new();
    lab.write("index.html", "<link rel=stylesheet href=app.css>");
    lab.write("app.css", "a { color: red }\n".repeat(2000));
    let name = lab.work().file_name().unwrap().to_string_lossy().into_owned();
    let results = lab.work().with_file_name(format!("{name}-weigh"));
    assert!(lab.fine(&[]).contains(&format!("../{name}-weigh")) && !results.exists());
    let ran = lab.run(&["--yes", "--budget", "20s"]);
    assert!([0, 5].contains(&ran.code), "{}{}", ran.stdout, ran.stderr);
    let mut found: Vec<_> =
        std::fs::read_dir(lab.work()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    found.sort();
    assert_eq!(found, ["app.css", "index.html"]);
    for file in ["site.toml", "nginx.conf", "advice/policy.toml"] {
        assert!(results.join(file).is_file(), "{file}: {}{}", ran.stdout, ran.stderr);
    }
    assert_eq!(std::fs::metadata(&results).unwrap().permissions().mode() & 0o777, 0o700);
    // The next call goes on there.
    assert!(lab.run(&["--yes", "--budget", "20s"]).stderr.contains("is of an earlier call"));
}
