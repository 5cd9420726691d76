//! Reports of small stored runs, one per subject: every number, sentence and table of an exhibit is still what the run gave when each subject
//! had an analysis of its own. `values.csv` has each number by its metric's id, with its interval; `÷ reference` is a ratio to a marked cell.
//! A number that changes needs a reason, and `docs/METHODOLOGY.md` then says something else too.

use std::fs;
use std::path::PathBuf;

use weigh_answer::format::{Options, named};
use weigh_answer::report::{Report, RunFacts};

const RUNS: [&str; 3] = ["clients", "codecs", "deliveries"];

fn folder(run: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(run)
}

fn read(run: &str, file: &str) -> String {
    fs::read_to_string(folder(run).join(file)).unwrap_or_else(|e| panic!("{run}/{file}: {e}"))
}

fn report(run: &str) -> Report {
    let plan = serde_json::from_str(&read(run, "plan.json")).unwrap();
    // A line ends in its checksum, which is no part of the record.
    let record = |line: &str| {
        let (record, _) = line.rsplit_once(",\"crc\":").unwrap();
        serde_json::from_str(&format!("{record}}}")).unwrap()
    };
    let records: Vec<_> = read(run, "records.ndjson").lines().map(record).collect();
    Report::of(&RunFacts::default(), &plan, &records)
}

#[test]
fn every_number_is_the_one_before() {
    for run in RUNS {
        let report = report(run);
        let values = read(run, "values.csv");
        let mut known: Vec<String> = Vec::new();
        for line in csv::Reader::from_reader(values.as_bytes()).records().map(Result::unwrap) {
            let (cell, metric) = (&line[0], &line[1]);
            let row = report.row(cell).unwrap_or_else(|| panic!("{run}: {cell} has no row"));
            let now = match metric.strip_prefix("÷ ") {
                Some(mark) => row.beside.get(mark).map(|r| [r.value, r.low, r.high]),
                None => row.get(metric).map(|e| [e.value, e.low, e.high]),
            };
            let now = now.unwrap_or_else(|| panic!("{run}: no {metric} of {cell}"));
            // What had no interval has empty ends.
            for (now, before) in now.iter().zip(line.iter().skip(2)).filter(|(_, before)| !before.is_empty())
            {
                assert_eq!(*now, before.parse::<f64>().unwrap(), "{run}: {metric} of {cell}");
            }
            if known.last().is_none_or(|last| last != cell) {
                known.push(cell.to_owned());
            }
        }
        assert_eq!(report.rows.iter().map(|row| row.id()).collect::<Vec<_>>(), known, "{run}");
    }
}

#[test]
fn every_sentence_is_the_one_before() {
    for run in RUNS {
        let said: String =
            report(run).findings.iter().map(|f| format!("{}\t{}\n", f.topic, f.text)).collect();
        assert_eq!(said, read(run, "findings.txt"), "{run}");
    }
}

#[test]
fn every_table_of_an_exhibit_is_the_one_before() {
    for run in RUNS {
        let now = named("csv").unwrap().render(&report(run), &Options::default()).unwrap();
        let names = fs::read_dir(folder(run)).unwrap().map(|entry| entry.unwrap().file_name());
        let exhibits: Vec<String> = names
            .filter_map(|name| name.into_string().ok())
            .filter(|name| name.ends_with(".csv") && name != "values.csv")
            .collect();
        assert!(!exhibits.is_empty(), "{run}");
        for name in exhibits {
            let file = now.iter().find(|file| file.file_name == name);
            let file = file.unwrap_or_else(|| panic!("{run}: no {name}"));
            let (now, before) = (String::from_utf8_lossy(&file.bytes), read(run, &name));
            now.lines()
                .zip(before.lines())
                .for_each(|(now, before)| assert_eq!(now, before, "{run}: {name}"));
            assert_eq!(now.lines().count(), before.lines().count(), "{run}: {name}");
        }
    }
}
