//! `weigh runs`: the list, the index behind it, metrics over time, old runs removed, everything exported.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use rustix::fs::{FlockOperation, flock};
use serde_json::Value;
use weigh::log::{self, LogWriter};
use weigh_model::record::Record;

use crate::lab::{Lab, SMALL, has};

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
    assert_eq!(lab.fine(&["report"]), lab.fine(&["runs"]));
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
fn the_index_follows_what_changes_is_cut_short_or_goes() {
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

#[test]
fn an_index_that_is_none_is_built_again_and_says_so() {
    let lab = Lab::new();
    history(&lab, 3);
    let (list, trend) = (lab.fine(&["runs", "--json"]), ["runs", "trend", "encoded-bytes", "--json"]);
    let values = lab.fine(&trend);
    let path = lab.path("weigh-runs/history.sqlite");
    let sql = |text: &str| Connection::open(&path).unwrap().execute_batch(text).unwrap();
    let foreign = || {
        fs::remove_file(&path).unwrap();
        sql("CREATE TABLE other (x)");
    };
    let cut = || fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(5000).unwrap();
    let wrong: [(&str, &dyn Fn()); 5] = [
        ("damaged", &|| {
            fs::write(&path, "this is no database, and longer than a header is ".repeat(99)).unwrap()
        }),
        ("damaged", &cut),
        ("not an index of runs", &foreign),
        ("of an earlier version", &|| sql("PRAGMA user_version = 0")),
        ("of a later version", &|| sql("PRAGMA user_version = 99")),
    ];
    for (why, spoil) in wrong {
        spoil();
        let ran = lab.done(&["runs", "--json"]);
        let said = format!("weigh-runs/history.sqlite: {why}; it is built again from the runs\n");
        assert_eq!((ran.stderr, ran.stdout), (said, list.clone()), "{why}");
        let ran = lab.done(&trend);
        assert_eq!((ran.stderr.as_str(), &ran.stdout), ("", &values), "{why}");
    }
    // Damage within, which shows only where the values are read.
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let pages = file.metadata().unwrap().len() / 4096;
    (1..pages).for_each(|page| file.write_at(&[0xff; 4096], page * 4096).map(drop).unwrap());
    let ran = lab.done(&trend);
    assert_eq!(ran.stdout, values);
    assert!(ran.stderr.contains("damaged; it is built again"), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert_eq!(lab.fine(&["runs", "index"]), "weigh-runs/history.sqlite: 3 runs\n");
    assert_eq!(lab.fine(&["runs", "--json"]), list);
}

#[test]
fn where_no_index_can_be_kept_the_runs_are_read_all_the_same() {
    let lab = Lab::new();
    history(&lab, 2);
    fs::create_dir(lab.path("weigh-runs/history.sqlite")).unwrap();
    let ran = lab.done(&["runs"]);
    assert!(ran.stderr.contains("history.sqlite: cannot be kept"), "{}", ran.stderr);
    assert!(ran.stdout.contains("run-02  small"), "{}", ran.stdout);
}

#[test]
fn several_processes_at_once_build_and_read_one_index() {
    let lab = Lab::new();
    history(&lab, 28);
    let expected = {
        let listing = lab.told(&["runs", "--json"]);
        fs::remove_file(lab.path("weigh-runs/history.sqlite")).unwrap();
        listing
    };
    for round in 0..3 {
        if round == 1 {
            fs::write(lab.path("weigh-runs/history.sqlite"), "no database ".repeat(1000)).unwrap();
        }
        let children: Vec<_> = (0..4)
            .map(|at| {
                let args: &[&str] = if at == 3 { &["runs", "index"] } else { &["runs", "--json"] };
                let mut command = Command::new(crate::lab::WEIGH);
                command.args(args).current_dir(lab.work()).stdout(std::process::Stdio::piped());
                (at, command.stderr(std::process::Stdio::piped()).spawn().unwrap())
            })
            .collect();
        for (at, child) in children {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "round {round}, process {at}: {said}");
            if at < 3 {
                let listing: Value = serde_json::from_slice(&output.stdout).unwrap();
                assert_eq!(listing, expected, "round {round}, process {at}: {said}");
            }
        }
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
    assert_eq!(left.len(), 4, "baselines, notes, the link and the index: {left:?}");
}

/// Reads a Parquet file with Apache Arrow's reader, and prints facts of it.
const READER: &str = "
import sys, json
import pyarrow.parquet as parquet
table = parquet.read_table(sys.argv[1])
rows = [row for row in table.to_pylist() if row['metric'] == 'encoded-bytes' and row['configuration'].endswith('zstd:3')]
print(json.dumps({'rows': table.num_rows, 'columns': table.column_names,
                  'values': [row['value'] for row in rows], 'runs': [row['run'] for row in rows],
                  'started': str(rows[0]['started']), 'kernel': rows[0]['kernel'], 'unit': rows[0]['unit'],
                  'without_low': sum(value is None for value in table.column('low').to_pylist())}))
";

#[test]
fn everything_is_exported_as_parquet_that_others_read() {
    let lab = Lab::new();
    history(&lab, 3);
    let said = lab.fine(&["runs", "export", "runs.parquet"]);
    let count: u64 = said.strip_prefix("runs.parquet: ").unwrap().split(' ').next().unwrap().parse().unwrap();
    let bytes = fs::read(lab.path("runs.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    needs!(has("python3", "apt install python3"));
    let read = lab.command("python3").args(["-c", READER, "runs.parquet"]).output().unwrap();
    let why = String::from_utf8_lossy(&read.stderr);
    if why.contains("No module named") {
        println!("skipped: no reader of Parquet here: pip install pyarrow");
        return;
    }
    let read: Value = serde_json::from_slice(&read.stdout).unwrap_or_else(|_| panic!("{why}"));
    assert_eq!((&read["rows"], read["columns"].as_array().unwrap().len()), (&count.into(), 17));
    assert_eq!(read["runs"], serde_json::json!(["run-01", "run-02", "run-03"]));
    assert_eq!(read["values"], serde_json::json!([100_110.0, 100_080.0, 100_020.0]));
    assert_eq!((&read["kernel"], &read["unit"]), (&"Linux 6.1".into(), &"bytes".into()));
    assert!(read["started"].as_str().unwrap().starts_with("2026-03-01 12:00:00"), "{read}");
    assert!(read["without_low"].as_u64().unwrap() > 0, "a value without an interval has none: {read}");
}
