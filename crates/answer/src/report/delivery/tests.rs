//! Every format on invented runs of delivery studies: nothing in them was measured.

use std::sync::LazyLock;

use super::super::text::columns;
use super::super::{Detail, FORMATS, Options, Rendered, checks, format};
use super::json::{Document, SCHEMA};
use crate::analysis::delivery::fixture::{downloads, hostile, page_output, static_assets};
use crate::analysis::delivery::model::DeliveryAnalysis;

/// Analysed once for all tests: drawing rounds takes its time.
static EVERY: LazyLock<Vec<(&str, DeliveryAnalysis)>> = LazyLock::new(|| {
    let labs = [
        ("pages", page_output()),
        ("assets", static_assets()),
        ("downloads", downloads()),
        ("hostile", hostile()),
    ];
    labs.map(|(name, lab)| (name, lab.analyse())).to_vec()
});

fn every() -> impl Iterator<Item = (&'static str, &'static DeliveryAnalysis)> {
    EVERY.iter().map(|(name, analysis)| (*name, analysis))
}

fn render(name: &str, analysis: &DeliveryAnalysis, options: &Options) -> Vec<Rendered> {
    format(name).unwrap().render_delivery(analysis, options).unwrap()
}

fn text(name: &str, analysis: &DeliveryAnalysis, options: &Options) -> String {
    String::from_utf8(render(name, analysis, options).remove(0).bytes).unwrap()
}

fn sized(width: usize, detail: Detail) -> Options {
    Options { width, detail, ..Options::default() }
}

#[test]
fn the_terminal_report_at_two_widths() {
    for (name, analysis) in every().take(3) {
        for width in [80, 120] {
            let report = text("terminal", analysis, &sized(width, Detail::Summary)).replace('\u{a0}', " ");
            insta::assert_snapshot!(format!("{name}-{width}"), report);
        }
    }
    let report = text("terminal", &downloads().analyse(), &sized(200, Detail::Full)).replace('\u{a0}', " ");
    insta::assert_snapshot!("downloads-200-full", report);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (name, analysis) in every() {
        for width in [60, 80, 120, 200] {
            for detail in [Detail::Summary, Detail::Full] {
                for line in text("terminal", analysis, &sized(width, detail)).lines() {
                    assert!(columns(line) <= width, "{name} at {width}: {line}");
                }
            }
        }
    }
}

#[test]
fn nothing_hostile_reaches_the_terminal_or_the_page() {
    let analysis = hostile().analyse();
    for detail in [Detail::Summary, Detail::Full] {
        let report = text("terminal", &analysis, &sized(100, detail));
        assert!(!report.contains(|c: char| c != '\n' && c.is_control()) && !report.contains('\u{202e}'));
    }
    let page = text("markdown", &analysis, &Options::default());
    assert!(!page.contains("<script") && !page.contains("<b>") && !page.contains('\x1b'));
    for file in render("csv", &analysis, &Options::default()) {
        let mut reader = csv::Reader::from_reader(file.bytes.as_slice());
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert!(rows.iter().flatten().all(|field| !field.contains(char::is_control)), "{}", file.file_name);
    }
}

#[test]
fn charts_are_well_formed_and_not_blank() {
    for (name, analysis) in every() {
        let drawn = render("svg", analysis, &Options::default());
        assert!(!drawn.is_empty(), "{name} has charts");
        drawn.iter().for_each(checks::is_well_formed);
        let pictures = render("png", analysis, &Options::default());
        assert_eq!(pictures.len(), drawn.len());
        pictures.iter().for_each(checks::is_inked);
    }
}

#[test]
fn texts_of_a_chart_stay_on_the_sheet_and_apart() {
    for (_, analysis) in every() {
        render("svg", analysis, &Options::default()).iter().for_each(checks::are_texts_apart);
    }
}

#[test]
fn the_page_links_to_every_chart() {
    for (name, analysis) in every() {
        let page = text("markdown", analysis, &Options::default());
        for chart in render("svg", analysis, &Options::default()) {
            assert!(page.contains(&format!("]({})", chart.file_name)), "{name}: {}", chart.file_name);
        }
    }
}

#[test]
fn files_have_plain_and_different_names() {
    for (_, analysis) in every() {
        let files =
            FORMATS.iter().flat_map(|format| format.render_delivery(analysis, &Options::default()).unwrap());
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
        wrong["cells"][0]["body_bytes"] = "many".into();
        assert!(!validator.is_valid(&wrong));
    }
}

#[test]
fn the_table_of_cells_has_its_figures_under_the_right_heads() {
    let analysis = page_output().analyse();
    let files = render("csv", &analysis, &Options::default());
    let mut reader = csv::Reader::from_reader(files[0].bytes.as_slice());
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), analysis.cells.len());
    let at = |name: &str| header.iter().position(|head| head == name).unwrap_or_else(|| panic!("{name}"));
    for (row, cell) in rows.iter().zip(&analysis.cells) {
        assert_eq!(row[at("cell")], cell.cell.id);
        assert_eq!(row[at("body (bytes)")], cell.body_bytes.to_string());
        let number = |name: &str| row[at(name)].parse::<f64>().unwrap();
        let cpu = cell.cpu.unwrap();
        assert!((number("CPU (ms a response)") - cpu.total.value / 1e6).abs() < 1e-9);
        assert!(
            (number("100 one after the other (s)") - cell.one_by_one.unwrap().value * 100.0).abs() < 1e-9
        );
        assert!((number("first byte p50 (ms)") - cell.ttfb.as_ref().unwrap().p50 * 1e3).abs() < 1e-9);
        assert_eq!(row[at("front")], cell.front.to_string());
    }
}

#[test]
fn an_analysis_without_results_is_a_report_too() {
    let mut lab = page_output();
    lab.records.clear();
    let empty = lab.analyse();
    for format in FORMATS {
        let files = format.render_delivery(&empty, &Options::default()).unwrap();
        assert!(files.iter().all(|file| !file.bytes.is_empty()), "{}", format.name());
    }
    assert!(text("terminal", &empty, &Options::default()).contains("There is no answer yet"));
}
