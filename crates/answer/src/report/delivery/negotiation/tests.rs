//! Every format on an invented run: nothing in it was measured.

use crate::analysis::delivery::fixture::negotiation::negotiated;
use crate::analysis::delivery::model::DeliveryAnalysis;
use crate::report::{Detail, Options, format};
use crate::text::columns;
use weigh_model::record::Record;

fn text(name: &str, analysis: &DeliveryAnalysis, options: &Options) -> Vec<(String, String)> {
    let files = format(name).unwrap().render_delivery(analysis, options).unwrap();
    files.into_iter().map(|file| (file.file_name, String::from_utf8(file.bytes).unwrap())).collect()
}

/// What follows the section's heading, up to the next one of its rank.
fn section(report: &str) -> String {
    let from = report.find("Which variant is sent to whom\n").unwrap();
    let from = report[from + 1..].find("Which variant is sent to whom\n").map_or(from, |at| from + 1 + at);
    let to = report[from..].find("library-54k from").map_or(report.len(), |at| from + at);
    report[from..to].replace('\u{a0}', " ")
}

#[test]
fn the_section_at_two_widths_and_in_full() {
    let analysis = negotiated().analyse();
    for (width, detail) in [(80, Detail::Summary), (120, Detail::Full)] {
        let options = Options { width, detail, ..Options::default() };
        let report = text("terminal", &analysis, &options).remove(0).1;
        assert!(report.lines().all(|line| columns(line) <= width));
        insta::assert_snapshot!(format!("negotiation-{width}"), section(&report));
    }
}

#[test]
fn the_findings_say_it_in_plain_words() {
    let analysis = negotiated().analyse();
    let said: Vec<&str> =
        analysis.findings.iter().filter(|f| f.topic == "negotiation").map(|f| f.text.as_str()).collect();
    insta::assert_snapshot!("negotiation-findings", said.join("\n"));
}

#[test]
fn the_page_the_table_and_the_caveats_have_it_too() {
    let analysis = negotiated().analyse();
    let page = text("markdown", &analysis, &Options::default()).remove(0).1;
    assert!(page.contains("the ETag lacks its closing quote"), "{page}");
    let (name, csv) = text("csv", &analysis, &Options::default()).pop().unwrap();
    assert_eq!(name, "negotiation.csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let asked: usize = analysis.negotiations.iter().map(|one| one.exchanges.len()).sum();
    assert_eq!(rows.len(), asked);
    assert!(rows.iter().any(|row| &row[21] == "excluded" && &row[6] == "gzip;q=0" && &row[22] == "true"));
    let noted = analysis.cells.iter().filter(|cell| {
        cell.caveats.iter().any(|caveat| matches!(caveat, weigh_model::caveat::Caveat::Negotiation { .. }))
    });
    assert_eq!(noted.count(), 2, "the ways that break rules");
}

#[test]
fn hostile_answers_reach_no_format_unclean() {
    let mut lab = negotiated();
    let evil = "\x1b[2J\u{202e}|`<script>alert(1)</script>\r\n=cmd()";
    for record in &mut lab.records {
        let Record::Visit(visit) = record else { continue };
        for told in visit.delivery.iter_mut().filter_map(|d| d.negotiation.as_deref_mut()) {
            told.ended = Some(evil.into());
            for exchange in &mut told.exchanges {
                exchange.ask.accept = Some(evil.into());
                exchange.answer.content_encoding = Some(evil.into());
                exchange.answer.etag = Some(evil.into());
                exchange.answer.vary = Some(evil.into());
            }
        }
    }
    let analysis = lab.analyse();
    let full = Options { detail: Detail::Full, ..Options::default() };
    for (_, report) in text("terminal", &analysis, &full) {
        assert!(!report.contains(|c: char| c != '\n' && c.is_control()) && !report.contains('\u{202e}'));
    }
    for (_, page) in text("markdown", &analysis, &full) {
        assert!(!page.contains("<script") && !page.contains('\x1b'));
    }
    for (_, table) in text("csv", &analysis, &full) {
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        assert!(reader.records().map(Result::unwrap).all(|row| !row.iter().any(|f| f.starts_with('='))));
    }
}
