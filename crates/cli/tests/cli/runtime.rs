//! `weigh lab runtime`. What is fetched needs the network and minutes; the steps up to it do not.

use std::fs;

use crate::lab::Lab;

/// Set to a suite such as `debian:trixie`: it is really fetched.
const LIVE: &str = "WEIGH_LIVE_RUNTIME";

#[test]
fn names_that_cannot_be_added_or_removed_are_told_in_one_line() {
    let lab = Lab::new();
    let refused = |args: &[&str]| lab.refused(&[&["lab", "runtime"], args].concat());
    let line = refused(&["add", "debain:trixie"]);
    assert!(
        line.contains("no source of runtimes `debain`; write SOURCE:SUITE with one of: debian"),
        "{line}"
    );
    let line = refused(&["add", "debian"]);
    assert!(line.contains("`debian` names no suite; give one such as debian:trixie"), "{line}");
    let line = refused(&["add", "debian:../../etc"]);
    assert!(line.contains("names no suite"), "{line}");
    let line = refused(&["remove", "php8.4"]);
    assert!(line.contains("no fetched runtime is called `php8.4`; there is none"), "{line}");
    let line = refused(&["remove", "../.."]);
    assert!(line.contains("there is none"), "{line}");
}

#[test]
fn a_source_of_the_users_own_is_laid_over() {
    let lab = Lab::new();
    lab.write("defs/runtimes/mine.toml", "schema = 1\n");
    let line = lab.refused(&["--defs", "defs", "lab", "runtime", "add", "mine:suite"]);
    assert!(line.contains("runtimes/mine.toml is not valid"), "{line}");
}

#[test]
fn a_fetched_runtime_is_fetched_listed_measured_and_removed() {
    let Ok(name) = std::env::var(LIVE) else {
        eprintln!(
            "skipped: fetching a runtime downloads tens of megabytes; set {LIVE}=debian:trixie to do it"
        );
        return;
    };
    let lab = Lab::new();
    let said = lab.fine(&["lab", "runtime", "add", &name]);
    assert!(said.contains("with PHP-FPM"), "{said}");
    let listing = lab.told(&["lab", "runtime", "list", "--json"]);
    let rows = listing["runtimes"].as_array().unwrap();
    let row = rows.iter().find(|r| r["origin"] == name.as_str()).expect("it is listed");
    let (runtime, place) = (row["name"].as_str().unwrap(), row["place"].as_str().unwrap());
    assert!(fs::metadata(place).unwrap().is_dir());
    let found = lab.told(&["check", "--json", "--php", runtime]);
    let version = &found["runtimes"][1]["version"];
    assert_eq!(version, &row["version"], "the worker runs on the fetched PHP");
    lab.fine(&["lab", "runtime", "remove", runtime]);
    assert!(fs::metadata(place).is_err());
}
