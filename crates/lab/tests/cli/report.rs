//! `weigh report`: a run again, in any format.

use std::fs;

use crate::codec::text;
use crate::lab::Lab;

/// A run of three codecs on a file, so that there is something to draw.
fn measured() -> Lab {
    let lab = Lab::new();
    lab.write("page.html", text(30_000));
    let codecs = ["codec", "page.html", "--codecs", "lz4", "zlib:1|9", "zstd:1", "--budget", "20"];
    lab.fine(&[&codecs[..], &["--out", "run"]].concat());
    lab
}

#[test]
fn every_format_shows_the_same_run() {
    let lab = measured();
    let json = lab.told(&["report", "run", "--format", "json"]);
    let cells = json["rows"].as_array().unwrap();
    assert_eq!((&json["schema"], cells.len()), (&2.into(), 4));

    let (terminal, markdown) = (lab.fine(&["report", "run"]), lab.fine(&["report", "run", "-f", "markdown"]));
    for cell in cells {
        let setting = &cell["cell"]["setting"];
        let name = setting["codec"].as_str().unwrap();
        assert!(terminal.contains(name) && markdown.contains(name), "{name}");
        let bytes = crate::codec::value(cell, "encoded-bytes").to_string();
        let csv = lab.fine(&["report", "run", "--format", "csv"]);
        assert!(csv.lines().any(|l| l.contains(name) && l.contains(&bytes)), "{bytes}: {csv}");
    }
    assert!(markdown.starts_with("# ") && markdown.contains("| ---"), "{markdown}");
    assert!(lab.fine(&["report", "run", "--summary"]).len() < terminal.len());
}

#[test]
fn columns_are_few_named_or_all() {
    let lab = measured();
    let few = lab.fine(&["report", "run"]);
    assert!(few.contains("more columns: ") && few.contains("(--columns all)"), "{few}");
    let named = lab.fine(&["report", "run", "--columns", "ratio,encode-mad"]);
    assert!(
        named.contains("encode-mad") && named.contains("ratio") && !named.contains("saving  "),
        "{named}"
    );
    assert!(!lab.fine(&["report", "run", "--columns", "all"]).contains("more columns: "));
    let line = lab.refused(&["report", "run", "--columns", "encdoe"]);
    assert!(line.contains("no column `encdoe`; did you mean `encode`?"), "{line}");
    let line = lab.refused(&["report", "run", "--columns", "ratio,,"]);
    assert!(line.contains("name columns, with commas between them"), "{line}");
}

#[test]
fn pictures_are_written_beside_the_run_or_where_asked() {
    let lab = measured();
    for (format, magic) in [("svg", &b"<svg"[..]), ("png", b"\x89PNG")] {
        for path in lab.fine(&["report", "run", "--format", format]).lines() {
            assert!(path.starts_with("run/report/"), "{path}");
            assert!(fs::read(lab.path(path)).unwrap().starts_with(magic), "{path}");
        }
        let there = lab.fine(&["report", "run", "--format", format, "--out", "pictures"]);
        assert!(there.lines().count() > 0 && there.lines().all(|p| p.starts_with("pictures/")), "{there}");
    }
}

#[test]
fn several_formats_go_into_one_folder() {
    let lab = measured();
    let written =
        lab.fine(&["report", "run", "-f", "markdown", "-f", "csv", "-f", "json", "--out", "report"]);
    let mut files: Vec<&str> = written.lines().collect();
    files.sort_unstable();
    assert_eq!(files, ["report/cells.csv", "report/report.json", "report/report.md", "report/values.csv"]);
    assert!(!lab.read("report/report.md").contains('\u{1b}'));
    lab.write("a-file", "x");
    let line = lab.refused(&["report", "run", "-f", "csv", "--out", "a-file"]);
    assert!(line.contains("a-file: the report cannot be written"), "{line}");
}

#[test]
fn what_is_no_run_is_refused() {
    let lab = Lab::new();
    lab.write("folder/x", "x");
    for place in ["nowhere", "folder", "folder/x"] {
        let line = lab.refused(&["report", place]);
        assert!(line.contains(&format!("{place}: not a run directory")), "{line}");
    }
    let line = lab.refused(&["report", "a\u{1b}[31m\nb"]);
    assert!(line.contains("not a run directory") && !line.contains(['\u{1b}', '\n']), "{line}");
}

#[test]
fn a_report_needs_nothing_but_the_directory() {
    let lab = measured();
    fs::rename(lab.path("run"), lab.path("moved")).unwrap();
    fs::remove_file(lab.path("page.html")).unwrap();
    let mut command = lab.weigh(&["report", "moved"]);
    command.env_remove("HOME").env_remove("WEIGH_CACHE").env("PATH", "").assert().success();
}
