//! Reports of small stored runs, one per subject: every number, sentence and table of an exhibit is still what the run gave before. `values.csv` has
//! each number by its metric's id, with its interval; `÷ reference` is a ratio to a marked cell. A number that changes needs a reason, and
//! `docs/dev/SIMULATIONS.md` then says something else too: `UPDATE_GOLDEN=1` writes what is given now.

use std::fs;

use crate::stored::{RUNS, folder, read, report};
use weigh_answer::format::named;
use weigh_answer::output::Options;

/// Line by line what it was before.
fn is_as_before(run: &str, file: &str, now: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(folder(run).join(file), now).unwrap();
    }
    let before = read(run, file);
    now.lines().zip(before.lines()).for_each(|(now, before)| assert_eq!(now, before, "{run}: {file}"));
    assert_eq!(now.lines().count(), before.lines().count(), "{run}: {file}");
}

#[test]
fn every_number_is_the_one_before() {
    for run in RUNS {
        let report = report(run);
        let mut now = String::from("cell,metric,value,low,high\n");
        for row in &report.rows {
            let mut write = |metric: &str, value: f64, [low, high]: [Option<f64>; 2]| {
                let end = |end: Option<f64>| end.map(|end| end.to_string()).unwrap_or_default();
                now.push_str(&format!("{},{metric},{value},{},{}\n", row.id(), end(low), end(high)));
            };
            row.values.iter().for_each(|(metric, e)| write(metric, e.value, [e.low, e.high]));
            row.beside.iter().for_each(|(mark, r)| {
                write(&format!("÷ {mark}"), r.value, [Some(r.low), Some(r.high)]);
            });
        }
        is_as_before(run, "values.csv", &now);
    }
}

#[test]
fn every_sentence_is_the_one_before() {
    for run in RUNS {
        let said: String =
            report(run).findings.iter().map(|f| format!("{}\t{}\n", f.topic, f.text)).collect();
        is_as_before(run, "findings.txt", &said);
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
            is_as_before(run, &name, &String::from_utf8_lossy(&file.bytes));
        }
    }
}
