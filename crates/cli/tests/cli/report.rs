//! `weigh runs show`: a run again, in any format.

use std::fs;

use crate::codec::text;
use crate::lab::{Lab, SMALL};

/// A run of three codecs on a file, so that there is something to draw.
fn measured() -> Lab {
    let lab = Lab::new();
    lab.write("page.html", text(30_000));
    let codecs = ["codec", "page.html", "--codecs", "lz4,zlib:1|9,zstd:1", "--budget", "20"];
    lab.fine(&[&codecs[..], &["--out", "run"]].concat());
    lab
}

#[test]
fn every_format_shows_the_same_run() {
    let lab = measured();
    let json = lab.told(&["runs", "show", "run", "--format", "json"]);
    let cells = json["rows"].as_array().unwrap();
    assert_eq!((&json["schema"], cells.len()), (&2.into(), 4));

    let (terminal, markdown) =
        (lab.fine(&["runs", "show", "run", "--full"]), lab.fine(&["runs", "show", "run", "-f", "markdown"]));
    for cell in cells {
        let setting = &cell["cell"]["setting"];
        let name = setting["codec"].as_str().unwrap();
        assert!(terminal.contains(name) && markdown.contains(name), "{name}");
        let bytes = crate::codec::value(cell, "encoded-bytes").to_string();
        let csv = lab.fine(&["runs", "show", "run", "--format", "csv"]);
        assert!(csv.lines().any(|l| l.contains(name) && l.contains(&bytes)), "{bytes}: {csv}");
    }
    assert!(markdown.starts_with("# ") && markdown.contains("| ---"), "{markdown}");
    assert!(lab.fine(&["runs", "show", "run"]).len() < terminal.len());
    assert_eq!(lab.told(&["runs", "show", "run", "--json"]), json);
}

#[test]
fn columns_are_few_named_or_all() {
    let lab = measured();
    let few = lab.fine(&["runs", "show", "run", "--full"]);
    assert!(few.contains("more columns: ") && few.contains("(--columns"), "{few}");
    let named = lab.fine(&["runs", "show", "run", "--columns", "ratio,encode-mad"]);
    assert!(
        named.contains("encode-mad") && named.contains("ratio") && !named.contains("saving  "),
        "{named}"
    );
    assert!(!lab.fine(&["runs", "show", "run", "--columns", "all"]).contains("more columns: "));
    let line = lab.refused(&["runs", "show", "run", "--columns", "encdoe"]);
    assert!(line.contains("no column `encdoe`; did you mean `encode`?"), "{line}");
    let line = lab.refused(&["runs", "show", "run", "--columns", "ratio,,"]);
    assert!(line.contains("name columns, with commas between them"), "{line}");
}

#[test]
fn pictures_are_written_where_asked_and_never_into_the_run() {
    let lab = measured();
    let before = files(&lab);
    for (format, magic) in [("svg", &b"<svg"[..]), ("png", b"\x89PNG")] {
        let line = lab.refused(&["runs", "show", "run", "--format", format]);
        let how =
            format!("{format} is a picture and needs a folder: weigh runs show run -f {format} --out DIR");
        assert_eq!(line, how);
        let there = lab.fine(&["runs", "show", "run", "--format", format, "--out", "pictures"]);
        assert!(there.lines().count() > 0 && there.lines().all(|p| p.starts_with("pictures/")), "{there}");
        for path in there.lines() {
            assert!(fs::read(lab.path(path)).unwrap().starts_with(magic), "{path}");
        }
    }
    assert_eq!(files(&lab), before, "the run's own folder");
}

/// The names and times of what is in the run's folder of reports.
fn files(lab: &Lab) -> Vec<(std::ffi::OsString, std::time::SystemTime)> {
    let entries = fs::read_dir(lab.path("run/report")).unwrap().map(Result::unwrap);
    let mut files: Vec<_> =
        entries.map(|e| (e.file_name(), e.metadata().unwrap().modified().unwrap())).collect();
    files.sort();
    files
}

#[test]
fn run_and_report_show_the_same_and_say_how_to_go_on() {
    let lab = Lab::new();
    lab.write("small.toml", SMALL);
    let (ran, again) = (lab.done(&["run", "small.toml"]), lab.done(&["runs", "show", "latest"]));
    assert_eq!((&ran.stdout, &ran.stderr.lines().last()), (&again.stdout, &again.stderr.lines().last()));
    for (word, said) in [("Pictures: weigh-runs/small-", ".png"), ("Report: weigh-runs/small-", "report.md")]
    {
        assert!(ran.stderr.lines().any(|l| l.starts_with(word) && l.contains(said)), "{}", ran.stderr);
    }
    assert_eq!(ran.stderr.lines().last(), Some("Evidence: weigh runs show latest --full"));
    assert!(lab.fine(&["runs", "show", "latest", "--full"]).len() > again.stdout.len());
    // Elsewhere the newest is not the one.
    let ran = lab.done(&["run", "small.toml", "--out", "elsewhere"]);
    assert_eq!(ran.stderr.lines().last(), Some("Evidence: weigh runs show elsewhere --full"));
}

#[test]
fn runs_are_listed_and_found_by_name() {
    let lab = Lab::new();
    assert!(lab.fine(&["runs"]).contains("no runs in weigh-runs; measure one: weigh run --quick"));
    assert_eq!(lab.told(&["runs", "--json"])["runs"], serde_json::json!([]));
    lab.write("small.toml", SMALL);
    lab.fine(&["run", "small.toml"]);
    let listed = lab.told(&["runs", "--json"]);
    crate::schema::keeps("runs", &listed);
    let run = &listed["runs"][0];
    assert_eq!(
        (&run["study"], &run["complete"], &run["configurations"]),
        (&"small".into(), &true.into(), &4.into())
    );
    let name = run["name"].as_str().unwrap();
    let table = lab.fine(&["runs"]);
    assert!(
        table.lines().any(|l| l.starts_with(name) && l.contains("  complete               4  ")),
        "{table}"
    );
    let ran = lab.done(&["runs", "show", "weigh-runs"]);
    assert_eq!((&ran.stdout, &*ran.stderr), (&table, "weigh-runs is a folder of runs; name one of them\n"));
    assert_eq!(lab.fine(&["runs", "show", name]), lab.fine(&["runs", "show", "latest"]));
    let line = lab.refused(&["runs", "show", &name[..name.len() - 1]]);
    assert!(line.ends_with(&format!("no such run; did you mean `{name}`?")), "{line}");
    // A damaged run is a row, too.
    fs::write(lab.path("weigh-runs").join(name).join("plan.json"), "{}").unwrap();
    let damaged = &lab.told(&["runs", "--json"])["runs"][0];
    assert!(damaged["damaged"].as_str().unwrap().contains("plan.json"), "{damaged}");
}

#[test]
fn several_formats_go_into_one_folder() {
    let lab = measured();
    let written =
        lab.fine(&["runs", "show", "run", "-f", "markdown", "-f", "csv", "-f", "json", "--out", "report"]);
    let mut files: Vec<&str> = written.lines().collect();
    files.sort_unstable();
    let all = ["cells.csv", "links.csv", "report.json", "report.md", "values.csv"];
    assert_eq!(files, all.map(|file| format!("report/{file}")));
    assert!(!lab.read("report/report.md").contains('\u{1b}'));
    lab.write("a-file", "x");
    let line = lab.refused(&["runs", "show", "run", "-f", "csv", "--out", "a-file"]);
    assert!(line.contains("a-file: not a folder"), "{line}");
}

#[test]
fn what_is_no_run_is_refused() {
    let lab = Lab::new();
    lab.write("folder/x", "x");
    for (place, said) in [("nowhere", "no such run"), ("folder", "not a run"), ("folder/x", "not a run")] {
        let line = lab.refused(&["runs", "show", place]);
        assert!(line.contains(&format!("{place}: {said}")), "{line}");
    }
    let line = lab.refused(&["runs", "show", "a\u{1b}[31m\nb"]);
    assert!(line.contains("no such run") && !line.contains(['\u{1b}', '\n']), "{line}");
}

#[test]
fn a_report_needs_nothing_but_the_directory() {
    let lab = measured();
    fs::rename(lab.path("run"), lab.path("moved")).unwrap();
    fs::remove_file(lab.path("page.html")).unwrap();
    let mut command = lab.weigh(&["runs", "show", "moved"]);
    command.env_remove("HOME").env_remove("WEIGH_CACHE").env("PATH", "").assert().success();
}
