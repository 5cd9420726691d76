//! What is particular about clients in every format; what all reports share is tested for all of them.

use super::fixture::{hostile, levels, versions};
use weigh_answer::format::{live, named};
use weigh_answer::output::{Detail, Options, Rendered};
use weigh_answer::report::Report;

fn render(name: &str, report: &Report) -> Vec<Rendered> {
    named(name).unwrap().render(report, &Options::default()).unwrap()
}

fn terminal(report: &Report, width: usize, detail: Detail) -> String {
    let options = Options { width, detail, ..Options::default() };
    let files = named("terminal").unwrap().render(report, &options).unwrap();
    String::from_utf8(files[0].bytes.clone()).unwrap().replace('\u{a0}', " ")
}

#[test]
fn the_terminal_report_at_two_widths() {
    for (name, report) in [("versions", versions().report()), ("levels", levels().report())] {
        for width in [80, 120] {
            insta::assert_snapshot!(format!("{name}-{width}"), terminal(&report, width, Detail::Summary));
        }
    }
    insta::assert_snapshot!("versions-200-full", terminal(&versions().report(), 200, Detail::Full));
}

#[test]
fn nothing_hostile_reaches_the_terminal_the_page_or_a_field() {
    let report = hostile().report();
    for detail in [Detail::Summary, Detail::Full] {
        let text = terminal(&report, 100, detail);
        assert!(!text.contains(|c: char| c != '\n' && c.is_control()) && !text.contains('\u{202e}'));
    }
    let page = String::from_utf8(render("markdown", &report).remove(0).bytes).unwrap();
    assert!(!page.contains("<script") && !page.contains("<b>") && !page.contains('\x1b'));
    for file in render("csv", &report) {
        let mut reader = csv::Reader::from_reader(file.bytes.as_slice());
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert!(rows.iter().flatten().all(|field| !field.contains(char::is_control)), "{}", file.file_name);
    }
}

#[test]
fn comparisons_and_computed_calls_have_tables_of_their_own() {
    let report = levels().report();
    let files = render("csv", &report);
    let table = |name: &str| {
        let file = files.iter().find(|file| file.file_name == name).unwrap();
        let rows: Vec<_> =
            csv::Reader::from_reader(file.bytes.as_slice()).into_records().map(Result::unwrap).collect();
        rows
    };
    let comparisons = &report.exhibits.comparisons.as_ref().unwrap().0;
    let rows = table("comparisons.csv");
    assert_eq!(rows.len(), comparisons.len());
    let first = comparisons[0].ratio("combined-rate").unwrap();
    assert_eq!(rows[0][4].parse::<f64>().unwrap(), first.value);
    let predictions = &report.exhibits.computed_calls.as_ref().unwrap().predictions;
    let rows = table("predictions.csv");
    assert_eq!(rows.len(), predictions.len());
    assert_eq!(rows[3][7].parse::<f64>().unwrap(), predictions[3].measured.value);
}

#[test]
fn the_live_table_names_each_work() {
    let table = live::table(&versions().report(), &Options::default(), 60);
    assert!(table.contains("integer · 9:1/one*4, 1,000 transactions per worker"), "{table}");
    assert!(table.contains("record:40 · writes/new*4, 1,000 transactions per worker"), "{table}");
}
