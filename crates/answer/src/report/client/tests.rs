//! Every format on invented runs of studies of clients: nothing in them was measured.

use std::sync::LazyLock;

use super::super::text::columns;
use super::super::{Detail, FORMATS, Options, Rendered, checks, format};
use super::json::{Document, SCHEMA};
use crate::analysis::Results;
use crate::analysis::client::fixture::{hostile, levels, many, versions};
use crate::analysis::client::model::ClientAnalysis;

/// Analysed once for all tests: drawing rounds takes its time.
static EVERY: LazyLock<Vec<(&str, ClientAnalysis)>> = LazyLock::new(|| {
    let labs = [("versions", versions()), ("levels", levels()), ("many", many()), ("hostile", hostile())];
    labs.map(|(name, lab)| (name, lab.analyse())).to_vec()
});

fn every() -> impl Iterator<Item = (&'static str, &'static ClientAnalysis)> {
    EVERY.iter().map(|(name, analysis)| (*name, analysis))
}

fn analysed(name: &str) -> &'static ClientAnalysis {
    every().find(|(known, _)| *known == name).unwrap().1
}

fn render(name: &str, analysis: &ClientAnalysis, options: &Options) -> Vec<Rendered> {
    let results = Results::Client(Box::new(analysis.clone()));
    format(name).unwrap().render_results(&results, options).unwrap()
}

fn text(name: &str, analysis: &ClientAnalysis, options: &Options) -> String {
    String::from_utf8(render(name, analysis, options).remove(0).bytes).unwrap()
}

fn sized(width: usize, detail: Detail) -> Options {
    Options { width, detail, ..Options::default() }
}

#[test]
fn the_terminal_report_at_two_widths() {
    for (name, analysis) in every().take(2) {
        for width in [80, 120] {
            let report = text("terminal", analysis, &sized(width, Detail::Summary)).replace('\u{a0}', " ");
            insta::assert_snapshot!(format!("{name}-{width}"), report);
        }
    }
    let report = text("terminal", analysed("versions"), &sized(200, Detail::Full)).replace('\u{a0}', " ");
    insta::assert_snapshot!("versions-200-full", report);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (name, analysis) in every() {
        for width in [60, 80, 120, 200] {
            for detail in [Detail::Summary, Detail::Full] {
                for line in text("terminal", analysis, &sized(width, detail)).lines() {
                    // What is to be copied is not broken.
                    let is_literal = line.starts_with("  writes ") || line.contains("transactions executed");
                    assert!(columns(line) <= width || is_literal, "{name} at {width}: {line}");
                }
            }
        }
    }
}

#[test]
fn nothing_hostile_reaches_the_terminal_or_the_page() {
    let analysis = analysed("hostile");
    for detail in [Detail::Summary, Detail::Full] {
        let report = text("terminal", analysis, &sized(100, detail));
        assert!(!report.contains(|c: char| c != '\n' && c.is_control()) && !report.contains('\u{202e}'));
    }
    let page = text("markdown", analysis, &Options::default());
    assert!(!page.contains("<script") && !page.contains("<b>") && !page.contains('\x1b'));
    for file in render("csv", analysis, &Options::default()) {
        let mut reader = csv::Reader::from_reader(file.bytes.as_slice());
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert!(rows.iter().flatten().all(|field| !field.contains(char::is_control)), "{}", file.file_name);
    }
}

#[test]
fn charts_are_well_formed_and_their_texts_apart() {
    for (name, analysis) in every() {
        let drawn = render("svg", analysis, &Options::default());
        assert!(!drawn.is_empty(), "{name} has charts");
        drawn.iter().for_each(checks::is_well_formed);
        drawn.iter().for_each(checks::are_texts_apart);
        let pictures = render("png", analysis, &Options::default());
        assert_eq!(pictures.len(), drawn.len());
        pictures.iter().for_each(checks::is_inked);
    }
}

#[test]
fn the_page_links_to_every_chart_and_files_have_plain_names() {
    for (name, analysis) in every() {
        let page = text("markdown", analysis, &Options::default());
        for chart in render("svg", analysis, &Options::default()) {
            assert!(page.contains(&format!("]({})", chart.file_name)), "{name}: {}", chart.file_name);
        }
        let files = FORMATS.iter().flat_map(|f| render(f.name(), analysis, &Options::default()));
        checks::have_plain_names(&files.collect::<Vec<_>>());
    }
}

#[test]
fn json_keeps_its_schema_and_can_be_read_again() {
    let validator = jsonschema::validator_for(schemars::schema_for!(Document).as_value()).unwrap();
    for (name, analysis) in every() {
        let written = text("json", analysis, &Options::default());
        let value: serde_json::Value = serde_json::from_str(&written).unwrap();
        let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        let back: Document = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(back.schema, SCHEMA);
        assert_eq!(text("json", &back.analysis, &Options::default()), written, "{name}");
        let mut wrong = value;
        wrong["cells"][0]["summary"]["transactions"] = "many".into();
        assert!(!validator.is_valid(&wrong));
    }
}

#[test]
fn tables_have_their_figures_under_the_right_heads() {
    let analysis = analysed("versions");
    let files = render("csv", analysis, &Options::default());
    let mut reader = csv::Reader::from_reader(files[0].bytes.as_slice());
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), analysis.cells.len());
    let at = |name: &str| header.iter().position(|head| head == name).unwrap_or_else(|| panic!("{name}"));
    for (row, cell) in rows.iter().zip(&analysis.cells) {
        let number = |name: &str| row[at(name)].parse::<f64>().unwrap();
        let near =
            |name: &str, value: f64| assert!((number(name) - value).abs() <= 1e-9 * value.abs(), "{name}");
        assert_eq!(row[at("cell")], cell.cell.id);
        assert_eq!(row[at("reads")], cell.summary.reads.count.to_string());
        let cpu = cell.cpu.unwrap();
        near("combined (transactions a second)", cell.combined().unwrap());
        near("CPU (µs a transaction)", cpu.total.value / 1e3);
        near("workers kernel CPU (µs a transaction) 95% high", cpu.client_system.high / 1e3);
        near("peak memory of a worker (bytes)", cell.memory.unwrap().peak as f64);
        near("PUT p99.9 (µs)", cell.put.unwrap().p999 * 1e6);
    }
    let mut reader = csv::Reader::from_reader(files[1].bytes.as_slice());
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), analysis.comparisons.len());
    assert_eq!(rows[0][4].parse::<f64>().unwrap(), analysis.comparisons[0].combined.unwrap().ratio);
}

#[test]
fn the_summary_is_the_published_one() {
    let report = text("terminal", analysed("versions"), &sized(120, Detail::Summary));
    assert!(report.contains("  writes 2,800 (failed 0, 100%) · reads 25,200 (failed 0, 100%; 0 not found)"));
    let line = report.lines().find(|line| line.contains("transactions executed at average")).unwrap();
    assert!(
        line.starts_with("  28,000 transactions executed at average ")
            && line.contains("per-process, combined to")
    );
}

#[test]
fn an_analysis_without_results_is_a_report_too() {
    let mut lab = versions();
    lab.records.clear();
    let empty = lab.analyse();
    for format in FORMATS {
        let files = render(format.name(), &empty, &Options::default());
        assert!(files.iter().all(|file| !file.bytes.is_empty()), "{}", format.name());
    }
    assert!(text("terminal", &empty, &Options::default()).contains("There is no answer yet"));
}
