//! Every format on invented runs of delivery studies: nothing in them was measured.

use std::sync::LazyLock;

use super::*;
use crate::format::json::{Document, SCHEMA};
use crate::format::{FORMATS, available};
use crate::output::{Detail, Options, Rendered};
use crate::text::columns;

/// Derived once for all tests: drawing rounds takes its time.
static EVERY: LazyLock<Vec<(&str, Report)>> = LazyLock::new(|| {
    let labs = [
        ("pages", page_output()),
        ("assets", static_assets()),
        ("downloads", downloads()),
        ("negotiated", negotiated()),
        ("hostile", hostile()),
    ];
    labs.map(|(name, lab)| (name, lab.report())).to_vec()
});

fn report_of(name: &str) -> &'static Report {
    EVERY.iter().find(|(known, _)| *known == name).map(|(_, report)| report).unwrap()
}

fn render(format: &str, report: &Report, options: &Options) -> Vec<Rendered> {
    FORMATS.iter().find(|known| known.name() == format).unwrap().render(report, options).unwrap()
}

fn text(format: &str, report: &Report, options: &Options) -> String {
    String::from_utf8(render(format, report, options).remove(0).bytes).unwrap()
}

fn terminal(report: &Report, width: usize, detail: Detail) -> String {
    text("terminal", report, &Options { width, detail, ..Options::default() }).replace('\u{a0}', " ")
}

/// A file as rows, the header first.
fn table(files: &[Rendered], name: &str) -> Vec<csv::StringRecord> {
    let file = files.iter().find(|file| file.file_name == name).unwrap_or_else(|| panic!("no {name}"));
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(file.bytes.as_slice());
    reader.records().map(Result::unwrap).collect()
}

#[test]
fn every_table_fits_whole_and_says_what_it_leaves_out() {
    for (name, report) in EVERY.iter() {
        for detail in [Detail::Summary, Detail::Full] {
            let options = Options { detail, ..Options::default() };
            let tables = crate::fits::tables(name, &crate::document::build(report, &options));
            assert!(detail == Detail::Summary || tables > 0, "{name}");
        }
    }
}

#[test]
fn pictures_can_be_read_and_none_is_half_empty() {
    for (name, report) in EVERY.iter() {
        let charts = render("svg", report, &Options::default());
        charts.iter().for_each(crate::pictured::is_well_formed);
        charts.iter().for_each(|chart| crate::pictured::is_readable(name, chart));
    }
    let slow = render("svg", report_of("downloads"), &Options::default());
    let slow = slow.iter().find(|chart| chart.file_name == "slow-clients.svg").unwrap();
    crate::pictured::are_waits_sequential(slow);
}

#[test]
fn the_terminal_report_at_some_widths() {
    for name in ["pages", "assets", "downloads"] {
        for width in [80, 120] {
            insta::assert_snapshot!(
                format!("{name}-{width}"),
                terminal(report_of(name), width, Detail::Summary)
            );
        }
    }
    insta::assert_snapshot!("downloads-200-full", terminal(report_of("downloads"), 200, Detail::Full));
}

#[test]
fn every_sentence_of_some_studies() {
    let toys = [("scripts", with_scripts(static_assets())), ("toy", toy_page())];
    let toys = toys.map(|(name, lab)| (name, lab.report()));
    let named = |(name, _): &&(&str, Report)| ["pages", "assets", "downloads"].contains(name);
    for (name, report) in EVERY.iter().filter(named).chain(&toys) {
        let said = report.findings.iter().map(|f| format!("[{}] {}", f.topic, f.text));
        insta::assert_snapshot!(format!("{name}-findings"), said.collect::<Vec<_>>().join("\n"));
    }
}

/// What follows the section's heading, up to the groups.
fn negotiation_section(report: &str) -> &str {
    let from = report.rfind("Which variant is sent to whom\n").unwrap();
    let to = report[from..].find("library-54k from").map_or(report.len(), |at| from + at);
    &report[from..to]
}

#[test]
fn negotiation_at_two_widths_and_in_sentences() {
    let report = report_of("negotiated");
    for (width, detail) in [(80, Detail::Summary), (120, Detail::Full)] {
        let shown = terminal(report, width, detail);
        insta::assert_snapshot!(format!("negotiation-{width}"), negotiation_section(&shown));
    }
    insta::assert_snapshot!("negotiation-findings", sentences(report, "negotiation").join("\n"));
}

#[test]
fn negotiation_is_in_the_page_the_tables_and_the_caveats_too() {
    let report = report_of("negotiated");
    assert!(text("markdown", report, &Options::default()).contains("the ETag lacks its closing quote"));
    let rows = table(&render("csv", report, &Options::default()), "negotiation.csv");
    let told = &report.exhibits.negotiations.as_ref().unwrap().0;
    assert_eq!(rows.len() - 1, told.iter().map(|one| one.exchanges.len()).sum::<usize>());
    assert!(rows.iter().any(|row| &row[21] == "excluded" && &row[6] == "gzip;q=0" && &row[22] == "true"));
    let is_told = |row: &&Row| row.caveats.iter().any(|c| matches!(c, Caveat::Negotiation { .. }));
    assert_eq!(report.rows.iter().filter(is_told).count(), 2, "the ways that break rules");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (name, report) in EVERY.iter() {
        for width in [60, 80, 120, 200] {
            for detail in [Detail::Summary, Detail::Full] {
                for line in terminal(report, width, detail).lines() {
                    assert!(columns(line) <= width, "{name} at {width}: {line}");
                }
            }
        }
    }
}

/// Names, answers and errors that would like to be commands.
fn with_hostile_answers() -> Lab {
    let mut lab = negotiated();
    let evil = || Some("\x1b[2J\u{202e}|`<script>alert(1)</script>\r\n=cmd()".to_owned());
    for record in &mut lab.records {
        let Record::Visit(visit) = record else { continue };
        for told in visit.delivery.iter_mut().filter_map(|d| d.negotiation.as_deref_mut()) {
            told.ended = evil();
            for exchange in &mut told.exchanges {
                exchange.ask.accept = evil();
                exchange.answer.content_encoding = evil();
                exchange.answer.etag = evil();
                exchange.answer.vary = evil();
            }
        }
    }
    lab
}

#[test]
fn nothing_hostile_reaches_a_format() {
    for lab in [hostile(), with_hostile_answers()] {
        let report = lab.report();
        for detail in [Detail::Summary, Detail::Full] {
            let shown = terminal(&report, 100, detail);
            assert!(!shown.contains(|c: char| c != '\n' && c.is_control()) && !shown.contains('\u{202e}'));
        }
        let page = text("markdown", &report, &Options::default());
        assert!(!page.contains("<script") && !page.contains("<b>") && !page.contains('\x1b'));
        let files = render("csv", &report, &Options::default());
        for file in &files {
            for row in table(&files, &file.file_name) {
                let is_clean = |field: &str| !field.contains(char::is_control) && !field.starts_with('=');
                assert!(row.iter().all(is_clean), "{}: {row:?}", file.file_name);
            }
        }
    }
}

#[test]
fn json_keeps_its_schema() {
    let validator = jsonschema::validator_for(schemars::schema_for!(Document).as_value()).unwrap();
    for (name, report) in EVERY.iter() {
        let written = text("json", report, &Options::default());
        let value: serde_json::Value = serde_json::from_str(&written).unwrap();
        let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        assert_eq!(value["schema"], SCHEMA, "{name}");
        let mut wrong = value;
        wrong["rows"][0]["values"]["body-bytes"] = "many".into();
        assert!(!validator.is_valid(&wrong));
    }
}

#[test]
fn the_table_of_cells_has_its_figures_under_the_right_heads() {
    let report = report_of("pages");
    let rows = table(&render("csv", report, &Options::default()), "cells.csv");
    let (header, rows) = rows.split_first().unwrap();
    assert_eq!(rows.len(), report.rows.len());
    let at = |name: &str| header.iter().position(|head| head == name).unwrap_or_else(|| panic!("{name}"));
    for (fields, row) in rows.iter().zip(&report.rows) {
        assert_eq!(fields[at("cell")], row.cell.id);
        for (head, metric) in [
            ("body-bytes (bytes)", BODY),
            ("cpu (ns)", CPU),
            ("one-by-one (s)", ONE_BY_ONE),
            ("first-byte-p50 (s)", "first-byte-p50"),
        ] {
            assert_eq!(fields[at(head)].parse::<f64>().ok(), row.value(metric), "{head}");
        }
        assert_eq!(fields[at("front")], row.front.to_string());
    }
}

#[test]
fn a_report_without_results_is_a_report_too() {
    let mut lab = page_output();
    lab.records.clear();
    let empty = lab.report();
    for format in available() {
        let files = format.render(&empty, &Options::default()).unwrap();
        assert!(files.iter().all(|file| !file.bytes.is_empty()), "{}", format.name());
    }
    assert!(terminal(&empty, 100, Detail::Summary).contains("No recommendation: "));
}
