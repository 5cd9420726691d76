//! Runs that are cut off, taken up again, fought over or damaged.

use std::collections::BTreeMap;
use std::fs;

use crate::lab::{Lab, SMALL, Started, lines, wait_until};

/// A study that takes a few seconds, so that there is time to disturb it.
fn long() -> String {
    let long = SMALL.replace("max_rounds = 3", "max_rounds = 20");
    // Just above what is measured as a family, whose passes would take 24 times as long.
    long.replace("rows-4k", "rows-300k").replace("\"zlib:1|6\"", "\"zlib:1..9\"")
}

/// A run that has got somewhere and goes on.
fn under_way(lab: &Lab) -> Started {
    lab.write("long.toml", long());
    let started = lab.start(&["run", "long.toml", "--exhaustive", "--out", "run"]);
    wait_until("some visits are recorded", || lines(&lab.path("run/records.ndjson")) > 15);
    started
}

#[test]
fn a_killed_run_loses_at_most_the_visit_in_flight_and_no_worker_stays() {
    let lab = Lab::new();
    let mut started = under_way(&lab);
    started.kill();
    wait_until("every worker is gone", || lab.processes().is_empty());
    let before = lines(&lab.path("run/records.ndjson"));
    assert!(!lab.records("run").iter().any(|r| r["type"] == "end"), "it was killed before its end");
    // What is there can be reported as it stands.
    let shown = lab.fine(&["runs", "show", "run"]);
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(words.join(" ").contains("NOT COMPLETE"), "{shown}");

    let ran = lab.done(&["run", "--resume", "run"]);
    let records = lab.records("run");
    assert!(records.len() > before);
    assert_eq!(records.iter().filter(|r| r["type"] == "resumed").count(), 1);
    let mut visits: BTreeMap<(String, u64), u32> = BTreeMap::new();
    for visit in records.iter().filter(|r| r["type"] == "visit") {
        let key = (visit["cell"].as_str().unwrap().to_owned(), visit["round"].as_u64().unwrap());
        *visits.entry(key).or_default() += 1;
    }
    assert!(visits.values().all(|n| *n == 1), "nothing is measured twice");
    assert_eq!(visits.len(), 20 * 11, "and nothing is lost");
    let found = lab.json("run/report/report.json");
    assert!(found["caveats"].as_array().unwrap().iter().any(|c| c["code"] == "resumed"), "{}", ran.stdout);
    assert_eq!(lab.processes(), Vec::<String>::new());
}

#[test]
fn a_complete_run_is_shown_again_and_not_measured_again() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    lab.fine(&["run", "small.toml", "--out", "run"]);
    let records = lab.read("run/records.ndjson");
    assert!(lab.fine(&["run", "--resume", "run"]).contains("Which of two?"));
    assert_eq!(lab.read("run/records.ndjson"), records);
}

#[test]
fn a_signal_ends_a_run_in_order() {
    let lab = Lab::new();
    lab.write("other.toml", SMALL.replace("\"small\"", "\"other\""));
    lab.write("long.toml", long());
    let mut started = lab.start(&["run", "long.toml", "other.toml", "--exhaustive"]);
    let records = || {
        let runs = fs::read_dir(lab.path("weigh-runs")).into_iter().flatten().flatten();
        runs.map(|run| lines(&run.path().join("records.ndjson"))).sum::<usize>()
    };
    wait_until("some visits are recorded", || records() > 15);
    started.signal("INT");
    assert_eq!(started.0.wait().unwrap().code(), Some(1));
    assert_eq!(lab.processes(), Vec::<String>::new());
    let runs = fs::read_dir(lab.path("weigh-runs")).unwrap().count();
    assert_eq!(runs, 1, "the study after it is not begun");
    assert_eq!(lab.left_over(), 0);
}

#[test]
fn two_runs_on_one_directory_are_one_too_many() {
    let lab = Lab::new();
    let mut started = under_way(&lab);
    let line = lab.refused(&["run", "--resume", "run"]);
    assert!(line.contains("another weigh (process ") && line.contains("is measuring there"), "{line}");
    assert!(line.contains(&started.0.id().to_string()), "{line}");
    let line = lab.refused(&["run", "long.toml", "--out", "run"]);
    assert!(line.contains("there is a run already"), "{line}");
    // Who only reads is welcome.
    lab.fine(&["runs", "show", "run", "--format", "csv"]);
    started.kill();
}

/// The directory of a complete run with the last line of its records taken away, so that it is to be gone on with.
fn unfinished() -> Lab {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    lab.fine(&["run", "small.toml", "--out", "run"]);
    lab
}

#[test]
fn damage_in_the_middle_is_reported_with_its_line() {
    let lab = unfinished();
    let records = lab.path("run/records.ndjson");
    let whole = fs::read(&records).unwrap();
    let second = whole.iter().position(|b| *b == b'\n').unwrap() + 1;
    let mut damaged = whole.clone();
    damaged[second + 30] ^= 1;
    fs::write(&records, &damaged).unwrap();
    for args in [&["runs", "show", "run"][..], &["run", "--resume", "run"]] {
        let line = lab.refused(args);
        assert!(line.contains("records.ndjson: line 2 is damaged"), "{line}");
        assert!(line.contains("delete that line"), "{line}");
    }
    // What the line says to do helps.
    let kept: Vec<&str> = std::str::from_utf8(&whole)
        .unwrap()
        .lines()
        .enumerate()
        .filter(|(i, _)| *i != 1)
        .map(|(_, l)| l)
        .collect();
    fs::write(&records, kept.join("\n") + "\n").unwrap();
    lab.fine(&["runs", "show", "run"]);
}

#[test]
fn a_torn_last_line_is_what_an_interruption_leaves() {
    let lab = unfinished();
    let records = lab.path("run/records.ndjson");
    let whole = fs::read(&records).unwrap();
    fs::write(&records, &whole[..whole.len() - 9]).unwrap();
    lab.fine(&["runs", "show", "run"]);
}

#[test]
fn other_damage_is_named_with_its_file() {
    let lab = unfinished();
    let (run, plan) = (lab.read("run/run.json"), lab.read("run/plan.json"));
    let says = |said: &str| {
        let line = lab.refused(&["runs", "show", "run"]);
        assert!(line.contains(said), "{line}");
    };
    lab.write("run/plan.json", plan.replacen("small", "smell", 1));
    says("plan.json: not the plan that this run was started with");
    lab.write("run/plan.json", &plan);
    lab.write("run/run.json", run.replace("\"schema\": 1", "\"schema\": 99"));
    says("run.json: was written in schema 99");
    lab.write("run/run.json", "{");
    says("run.json: damaged: not JSON");
    fs::remove_file(lab.path("run/run.json")).unwrap();
    says("not a run (it has no run.json)");
}

#[test]
fn a_place_that_cannot_be_written_is_one_line() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    lab.write("a-file", "x");
    lab.write("full/thesis.tex", "x");
    for (place, said) in [
        ("a-file", "not a folder; give another one for the run"),
        ("a-file/run", "cannot be a run directory"),
        ("/proc/run", "the run directory cannot be created"),
        ("full", "there are files in it already"),
        ("/", "/: there are files in it already"),
    ] {
        let line = lab.refused(&["run", "small.toml", "--out", place]);
        assert!(line.contains(said), "{place}: {line}");
    }
    assert_eq!(lab.read("full/thesis.tex"), "x");
}
