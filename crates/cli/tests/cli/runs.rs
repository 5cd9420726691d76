//! `weigh runs`: the list, the summaries behind it, metrics over time, old runs removed, everything exported.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::fs::{FlockOperation, flock};
use serde_json::Value;
use weigh_model::record::Record;
use weigh_run::log::{self, LogWriter};

use crate::lab::{Lab, SMALL};

/// Days are of this month.
const MONTH: &str = "2026-03";

/// A history of this many runs, a day each, named `run-01` and so on. From the tenth on everything is a tenth larger, and
/// measured by another version on another kernel.
fn history(lab: &Lab, count: usize) {
    lab.write("small.toml", SMALL);
    lab.fine(&["run", "small.toml", "--out", "weigh-runs/run-01"]);
    let first = lab.path("weigh-runs/run-01");
    let records = log::read(&first.join("records.ndjson")).unwrap().records;
    for day in (1..=count).rev() {
        let run = lab.path(&format!("weigh-runs/run-{day:02}"));
        fs::create_dir_all(&run).unwrap();
        for name in ["plan.json", "lock"] {
            fs::write(run.join(name), fs::read(first.join(name)).unwrap()).unwrap();
        }
        facts(&first, &run, day);
        write(&run, &changed(&records, day));
    }
}

fn facts(first: &Path, run: &Path, day: usize) {
    let mut facts: Value = serde_json::from_slice(&fs::read(first.join("run.json")).unwrap()).unwrap();
    facts["started"] = format!("{MONTH}-{day:02}T12:00:00Z").into();
    let [version, kernel] = if day < 10 { ["0.0.8", "Linux 6.1"] } else { ["0.0.9", "Linux 6.12"] };
    facts["version"] = version.into();
    facts["machine"]["kernel"] = kernel.into();
    fs::write(run.join("run.json"), facts.to_string()).unwrap();
}

/// The records of a day: bytes go up and down a little.
fn changed(records: &[Record], day: usize) -> Vec<Record> {
    let mut records = records.to_vec();
    for record in &mut records {
        if let Record::Visit(visit) = record {
            let bytes = 100_000 + [30, 110, 80, 20, 130, 70, 10][day % 7];
            let bytes = if day < 10 { bytes } else { bytes * 11 / 10 };
            visit.encoded_bytes = bytes * u64::from(visit.instances.max(1));
        }
    }
    records
}

fn write(run: &Path, records: &[Record]) {
    let path = run.join("records.ndjson");
    let _ = fs::remove_file(&path);
    let mut log = LogWriter::open(&path, 0).unwrap();
    records.iter().for_each(|record| log.append(record).unwrap());
}

fn names(lab: &Lab, args: &[&str]) -> Vec<String> {
    let listing = lab.told(&[&["runs", "--json"], args].concat());
    let runs = listing["runs"].as_array().unwrap();
    runs.iter().map(|run| run["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn runs_are_listed_by_study_time_and_number_and_report_lists_the_same() {
    let lab = Lab::new();
    assert_eq!(lab.fine(&["runs"]), "no runs in weigh-runs; measure one: weigh run --quick\n");
    assert!(!lab.path("weigh-runs").exists());
    history(&lab, 4);
    assert_eq!(names(&lab, &[]), ["run-04", "run-03", "run-02", "run-01"]);
    assert_eq!(names(&lab, &["--limit", "2"]), ["run-04", "run-03"]);
    assert_eq!(names(&lab, &["--since", "2026-03-03"]), ["run-04", "run-03"]);
    assert_eq!(names(&lab, &["--study", "small", "--since", "2026-03-04"]), ["run-04"]);
    assert_eq!(names(&lab, &["--study", "other"]), [""; 0]);
    assert!(lab.fine(&["runs", "--study", "other"]).contains("no such runs in weigh-runs"));
    assert_eq!(lab.fine(&["runs", "list"]), lab.fine(&["runs"]));
    let table = lab.fine(&["runs"]);
    assert!(table.contains("run-04  small  2026-03-04 12:00:00  complete               4"), "{table}");
    let listing = lab.told(&["runs", "--json"]);
    let bytes: u64 = fs::read_dir(lab.path("weigh-runs/run-04"))
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert_eq!(
        (&listing["runs"][0]["bytes"], &listing["runs"][0]["state"]),
        (&bytes.into(), &"complete".into())
    );
    crate::schema::keeps("runs", &listing);
}

#[test]
fn the_list_follows_what_changes_is_cut_short_or_goes() {
    let lab = Lab::new();
    history(&lab, 4);
    names(&lab, &[]);
    let state = |name: &str| {
        let listing = lab.told(&["runs", "--json"]);
        let runs = listing["runs"].as_array().unwrap();
        runs.iter().find(|run| run["name"] == name).map(|run| run["state"].as_str().unwrap().to_owned())
    };
    let run = lab.path("weigh-runs/run-02");
    let records = log::read(&run.join("records.ndjson")).unwrap().records;
    write(&run, &records[..records.len() - 1]);
    assert_eq!(state("run-02").as_deref(), Some("interrupted"));
    let held = fs::File::open(run.join("lock")).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    assert_eq!(state("run-02").as_deref(), Some("running"), "who writes it is asked each time");
    drop(held);
    fs::write(run.join("plan.json"), "{}").unwrap();
    fs::write(run.join("records.ndjson"), "").unwrap();
    assert_eq!(state("run-02").as_deref(), Some("damaged"));
    assert!(lab.fine(&["runs"]).contains("plan.json: not the plan that this run was started with"));
    fs::remove_dir_all(&run).unwrap();
    assert_eq!(state("run-02"), None);
    fs::rename(lab.path("weigh-runs/run-03"), &run).unwrap();
    assert_eq!((state("run-02").as_deref(), state("run-03")), (Some("complete"), None));
}

/// Nothing but the records is believed of what stands in a run's folder.
#[test]
fn a_summary_that_is_none_is_made_again() {
    let lab = Lab::new();
    history(&lab, 3);
    let (list, trend) = (lab.fine(&["runs", "--json"]), ["runs", "trend", "encoded-bytes", "--json"]);
    let values = lab.fine(&trend);
    let path = lab.path("weigh-runs/run-02/summary.json");
    let good = fs::read_to_string(&path).unwrap();
    let later =
        good.replacen("\"schema\":2", "\"schema\":3", 1).replace("\"complete\":true", "\"complete\":false");
    let without_values = format!("{}}}", &good[..good.find(",\"values\"").unwrap()]);
    let wrong = ["this is no summary", &good[..good.len() / 2], &later, &without_values, ""];
    for text in wrong {
        fs::write(&path, text).unwrap();
        let ran = lab.done(&trend);
        assert_eq!((ran.stderr.as_str(), &ran.stdout), ("", &values), "{text}");
        assert_eq!(lab.fine(&["runs", "--json"]), list, "{text}");
    }
    // That of another run is none.
    fs::copy(lab.path("weigh-runs/run-03/summary.json"), &path).unwrap();
    assert_eq!(lab.fine(&trend), values);
    // Through a link nothing is written, and what a killed process left is gone.
    let draft = lab.write("weigh-runs/run-02/.tmp-summary-0", "half of");
    fs::remove_file(&path).unwrap();
    lab.write("mine", "dear reader");
    std::os::unix::fs::symlink(lab.path("mine"), &path).unwrap();
    assert_eq!(lab.fine(&trend), values);
    assert_eq!(lab.read("mine"), "dear reader");
    assert!(!draft.exists());
    assert!(fs::symlink_metadata(&path).unwrap().is_file());
}

#[test]
fn where_no_summary_can_be_kept_the_runs_are_read_all_the_same() {
    let lab = Lab::new();
    history(&lab, 2);
    fs::create_dir(lab.path("weigh-runs/run-01/summary.json")).unwrap();
    for _ in 0..2 {
        let ran = lab.done(&["runs"]);
        assert!(ran.stderr.starts_with("weigh-runs: summaries of runs cannot be kept ("), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert!(
            ran.stdout.contains("run-01  small") && ran.stdout.contains("run-02  small"),
            "{}",
            ran.stdout
        );
    }
    let trend = lab.told(&["runs", "trend", "encoded-bytes", "--json"]);
    assert_eq!(trend["series"][0]["points"].as_array().map(Vec::len), Some(2), "{trend}");
}

#[test]
fn several_processes_at_once_keep_the_same_summaries() {
    let lab = Lab::new();
    history(&lab, 28);
    let expected = lab.told(&["runs", "--json"]);
    // A folder is larger while another process writes there.
    let without_sizes = |mut told: Value| {
        let runs = told["runs"].as_array_mut().unwrap();
        runs.iter_mut().for_each(|run| drop(run.as_object_mut().unwrap().remove("bytes")));
        told
    };
    for day in 1..=28 {
        fs::remove_file(lab.path(&format!("weigh-runs/run-{day:02}/summary.json"))).unwrap();
    }
    let spawn = |_| {
        let mut command = Command::new(crate::lab::WEIGH);
        command.args(["runs", "--json"]).current_dir(lab.work()).stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..4).map(spawn).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let told = serde_json::from_slice::<Value>(&output.stdout).unwrap();
        assert_eq!(without_sizes(told), without_sizes(expected.clone()), "{said}");
    }
    assert_eq!(lab.told(&["runs", "--json"]), expected);
}

#[test]
fn a_trend_finds_the_run_where_a_metric_changed_and_what_changed_with_it() {
    let lab = Lab::new();
    history(&lab, 20);
    let trend = lab.told(&["runs", "trend", "encoded-bytes", "--json"]);
    crate::schema::keeps("trend", &trend);
    let series = trend["series"].as_array().unwrap();
    assert_eq!((series.len(), trend["runs"].as_array().unwrap().len()), (4, 20));
    for series in series {
        let changes = series["changes"].as_array().unwrap();
        assert_eq!(changes.len(), 1, "{series}");
        assert_eq!(
            (&changes[0]["last"], &changes[0]["first"], &changes[0]["is_worse"]),
            (&8.into(), &9.into(), &true.into())
        );
        assert!((changes[0]["ratio"].as_f64().unwrap() - 1.1).abs() < 0.01, "{series}");
        let with: BTreeMap<&str, &str> = changes[0]["with"]
            .as_array()
            .unwrap()
            .iter()
            .map(|what| (what["name"].as_str().unwrap(), what["after"].as_str().unwrap()))
            .collect();
        assert_eq!(with, BTreeMap::from([("kernel", "Linux 6.12"), ("weigh", "0.0.9")]));
    }
    let text = lab.fine(&["runs", "trend", "encoded-bytes"]);
    assert!(text.contains("(worse) from run-10 on, 2026-03-10"), "{text}");
    assert!(
        text.contains("changed since run-09: kernel Linux 6.1 → Linux 6.12, weigh 0.0.8 → 0.0.9"),
        "{text}"
    );
    // Nothing changes with the days in what was measured once.
    let text = lab.fine(&["runs", "trend", "encode", "--only", "zstd", "--study", "small"]);
    assert!(text.contains("No change points"), "{text}");
    assert_eq!(text.matches("/zstd").count(), 1, "{text}");
    let text = lab.fine(&["runs", "trend", "encode", "--limit", "5"]);
    assert!(text.contains("Too few runs for change points: 4 configurations need 10 runs"), "{text}");
    assert!(lab.fine(&["runs", "trend"]).contains("encoded-bytes"));
}

#[test]
fn old_runs_are_removed_after_asking_and_nothing_else_is() {
    let lab = Lab::new();
    history(&lab, 6);
    fs::create_dir_all(lab.path("weigh-runs/baselines/main")).unwrap();
    for name in ["run.json", "plan.json", "records.ndjson", "lock"] {
        let from = lab.path("weigh-runs/run-01").join(name);
        fs::write(lab.path("weigh-runs/baselines/main").join(name), fs::read(from).unwrap()).unwrap();
    }
    lab.write("weigh-runs/notes/mine.txt", "no run");
    std::os::unix::fs::symlink(lab.path("weigh-runs/run-06"), lab.path("weigh-runs/link")).unwrap();
    let all = names(&lab, &[]);
    assert_eq!(all.len(), 7, "{all:?}");

    let shown = lab.fine(&["runs", "prune", "--older-than", "1d", "--keep", "3", "--dry-run"]);
    assert!(shown.contains("would remove 4 runs, ") && shown.contains("nothing was removed"), "{shown}");
    let ran = lab.run(&["runs", "prune", "--older-than", "1d"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("nobody to ask whether to remove 6 runs, "), "{}", ran.stderr);
    assert_eq!(names(&lab, &[]), all);
    let young = lab.fine(&["runs", "prune", "--older-than", "5000w", "--yes"]);
    assert_eq!(young, "no runs to remove\n");

    let run = lab.path("weigh-runs/run-02");
    let records = log::read(&run.join("records.ndjson")).unwrap().records;
    write(&run, &records[..2]);
    let held = fs::File::open(run.join("lock")).unwrap();
    flock(&held, FlockOperation::LockExclusive).unwrap();
    let said = lab.fine(&["runs", "prune", "--older-than", "1d", "--keep", "3", "--yes"]);
    assert!(said.contains("removed 3 runs"), "{said}");
    assert_eq!(names(&lab, &[]), ["run-06", "link", "run-05", "run-02"]);
    drop(held);
    let said = lab.fine(&["runs", "prune", "--older-than", "1d", "--yes"]);
    assert!(said.contains("removed 3 runs"), "{said}");
    assert!(lab.path("weigh-runs/baselines/main/run.json").is_file());
    assert!(lab.path("weigh-runs/notes/mine.txt").is_file());
    let left: Vec<_> =
        fs::read_dir(lab.path("weigh-runs")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "baselines, notes and the link: {left:?}");
}

#[test]
fn everything_is_exported_as_lines() {
    let lab = Lab::new();
    history(&lab, 3);
    let said = lab.fine(&["runs", "export", "runs.ndjson"]);
    let lines: Vec<Value> =
        lab.read("runs.ndjson").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said, format!("runs.ndjson: {} values\n", lines.len()));
    let is_meant = |line: &&Value| {
        line["metric"] == "encoded-bytes" && line["configuration"].as_str().unwrap().ends_with("zstd:3")
    };
    let of =
        |name: &str| -> Vec<Value> { lines.iter().filter(is_meant).map(|line| line[name].clone()).collect() };
    assert_eq!(of("run"), ["run-01", "run-02", "run-03"]);
    assert_eq!(of("value"), [100_110.0, 100_080.0, 100_020.0]);
    assert_eq!((&of("kernel")[0], &of("unit")[0]), (&"Linux 6.1".into(), &"bytes".into()));
    assert_eq!(of("started")[0], "2026-03-01T12:00:00Z");
    assert!(lines.iter().any(|line| line["low"].is_null()), "a value without an interval has none");
    // The same as a table.
    lab.fine(&["runs", "export", "runs.csv"]);
    let csv = lab.read("runs.csv");
    let head: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    assert_eq!((head.len(), csv.lines().count()), (17, lines.len() + 1));
    assert!(lines[0].as_object().unwrap().keys().all(|name| head.contains(&name.as_str())), "{head:?}");
    let ran = lab.run(&["runs", "export", "runs.parquet"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("runs.parquet: its ending says the form: .csv, .ndjson or .jsonl"),
        "{}",
        ran.stderr
    );
    assert!(!lab.path("runs.parquet").exists());
}
