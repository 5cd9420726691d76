//! Every format on invented analyses: ordinary, crowded, tiny and hostile ones.

mod charts;

use super::text::columns;
use super::*;
use weigh_model::payload::Origin;

fn render(name: &str, analysis: &Analysis, options: &Options) -> Vec<Rendered> {
    format(name).unwrap().render(analysis, options).unwrap()
}

fn text(name: &str, analysis: &Analysis, options: &Options) -> String {
    String::from_utf8(render(name, analysis, options).remove(0).bytes).unwrap()
}

fn sized(width: usize, detail: Detail) -> Options {
    Options { width, detail, ..Options::default() }
}

fn every() -> Vec<(&'static str, Analysis)> {
    let two = [("zlib:6", 18.0, 323.0, 32.4), ("zstd:3", 158.0, 1012.0, 31.2)];
    let mut together = fixture::analysis();
    let name = together.payloads[0].name.clone();
    for cell in &mut together.cells {
        (cell.cell.payload, cell.cell.runtime) = (name.clone(), "native".into());
    }
    together.groups.truncate(1);
    let long = "assets/".repeat(30) + "a-very-long-name-of-a-file.min.js";
    vec![
        ("ordinary", fixture::analysis()),
        ("crowd", fixture::crowd()),
        ("many", fixture::many()),
        ("two", fixture::small("two.html", "html", fixture::corpus("two"), &two)),
        ("one", fixture::small("one.html", "html", fixture::corpus("one"), &two[..1])),
        ("together", together),
        ("long", fixture::small(&long, "js", fixture::corpus("long"), &two)),
        ("hostile", fixture::hostile()),
    ]
}

#[test]
fn the_terminal_report_at_three_widths() {
    for width in [80, 120, 200] {
        let report =
            text("terminal", &fixture::analysis(), &sized(width, Detail::Full)).replace('\u{a0}', " ");
        insta::assert_snapshot!(format!("terminal-{width}"), report);
    }
    let summary = text("terminal", &fixture::analysis(), &sized(100, Detail::Summary)).replace('\u{a0}', " ");
    insta::assert_snapshot!("terminal-summary", summary);
    let many = text("terminal", &fixture::many(), &sized(100, Detail::Summary)).replace('\u{a0}', " ");
    insta::assert_snapshot!("terminal-summary-many", many);
}

#[test]
fn the_markdown_report() {
    insta::assert_snapshot!(text("markdown", &fixture::analysis(), &Options::default()));
}

#[test]
fn the_table_of_cells() {
    insta::assert_snapshot!(text("csv", &fixture::analysis(), &Options::default()));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (name, analysis) in every() {
        for width in [60, 80, 100, 160, 240] {
            for detail in [Detail::Summary, Detail::Full] {
                for line in text("terminal", &analysis, &sized(width, detail)).lines() {
                    assert!(columns(line) <= width, "{name} at {width}: {line}");
                }
            }
        }
    }
}

#[test]
fn colours_change_nothing_but_the_look() {
    let plain = text("terminal", &fixture::analysis(), &sized(120, Detail::Full));
    let colored =
        text("terminal", &fixture::analysis(), &Options { color: true, ..sized(120, Detail::Full) });
    assert!(!plain.contains('\x1b') && colored.contains('\x1b'));
    let stripped: Vec<_> =
        colored.lines().map(|line| console::strip_ansi_codes(line).trim_end().to_owned()).collect();
    assert_eq!(stripped, plain.lines().collect::<Vec<_>>());
}

#[test]
fn nothing_hostile_reaches_the_terminal_or_the_page() {
    for detail in [Detail::Summary, Detail::Full] {
        let report = text("terminal", &fixture::hostile(), &sized(100, detail));
        assert!(!report.contains(|c: char| c != '\n' && c.is_control()) && !report.contains('\u{202e}'));
    }
    let page = text("markdown", &fixture::hostile(), &Options::default());
    assert!(!page.contains("<script") && !page.contains("<b>") && !page.contains('\x1b'));
    let rows = page.lines().filter(|line| line.contains("zlib-ng:6") && line.starts_with("| ●"));
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    let head = page.lines().find(|line| line.contains("| setting |")).unwrap();
    assert!(rows.map(bars).all(|count| count == bars(head)));
}

#[test]
fn synthetic_content_is_labelled_in_every_table_and_chart() {
    let synthetic = Origin::Synthetic { imitates: "a page".into() };
    let lines = [("zlib:6", 18.0, 323.0, 32.4), ("zstd:3", 158.0, 1012.0, 31.2)];
    let analysis = fixture::small("made-up", "html", synthetic, &lines);
    for detail in [Detail::Summary, Detail::Full] {
        let report = text("terminal", &analysis, &sized(100, detail));
        for (index, line) in report.lines().enumerate().filter(|(_, line)| line.starts_with('─')) {
            let around: Vec<_> = report.lines().skip(index.saturating_sub(9)).take(14).collect();
            let versions = around.iter().any(|line| line.starts_with("runtime"));
            assert!(versions || around.iter().any(|line| line.contains("SYNTHETIC")), "{line}: {around:#?}");
        }
    }
    let charts = render("svg", &analysis, &Options::default());
    assert!(charts.len() == 2);
    for chart in charts {
        assert!(String::from_utf8(chart.bytes).unwrap().contains("SYNTHETIC content"), "{}", chart.file_name);
    }
}

#[test]
fn files_have_plain_and_different_names() {
    for (name, analysis) in every() {
        let mut names: Vec<String> = FORMATS
            .iter()
            .flat_map(|format| format.render(&analysis, &Options::default()).unwrap())
            .map(|file| file.file_name)
            .collect();
        let plain = |name: &String| {
            name.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c)) && name.len() < 120
        };
        assert!(names.iter().all(plain), "{name}: {names:?}");
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count, "{name}");
    }
}

#[test]
fn the_page_links_to_every_chart() {
    let analysis = fixture::analysis();
    let page = text("markdown", &analysis, &Options::default());
    let charts = render("svg", &analysis, &Options::default());
    assert_eq!(charts.len(), 7);
    for chart in charts {
        assert!(page.contains(&format!("]({})", chart.file_name)), "{}", chart.file_name);
    }
}

#[test]
fn two_runtimes_of_one_content_are_told_apart_at_any_width() {
    let mut analysis = fixture::analysis();
    for part in [&mut analysis.groups[0].payload, &mut analysis.payloads[0].name] {
        *part = "tree-2.4m".into();
    }
    for cell in analysis.cells.iter_mut().filter(|cell| cell.cell.runtime == "native") {
        cell.cell.payload = "tree-2.4m".into();
    }
    let report = text("terminal", &analysis, &sized(70, Detail::Summary));
    assert!(
        report.contains("tree-2.4m") && report.lines().any(|line| line.contains("  native  ")),
        "{report}"
    );
}

#[test]
fn an_analysis_without_results_is_a_report_too() {
    let mut empty = fixture::analysis();
    empty.cells.clear();
    empty.groups.clear();
    empty.published = None;
    empty.findings.clear();
    for format in FORMATS {
        let files = format.render(&empty, &Options::default()).unwrap();
        assert!(files.iter().all(|file| !file.bytes.is_empty()), "{}", format.name());
    }
    assert!(text("terminal", &empty, &Options::default()).contains("There is no answer yet"));
}

#[test]
fn an_unknown_format_names_the_nearest() {
    let error = format("markdwon").err().unwrap().to_string();
    assert!(error.contains("did you mean markdown?") && error.contains("terminal, markdown, csv"), "{error}");
    for known in FORMATS {
        assert_eq!(format(known.name()).unwrap().extension(), known.extension());
    }
}

#[test]
fn the_live_table_keeps_to_its_lines_and_shows_the_front_first() {
    let analysis = fixture::analysis();
    for lines in [10, 20, 40, 200] {
        let table = live::table(&analysis, &sized(100, Detail::Summary), lines);
        assert!(table.lines().count() <= lines, "{lines}: {table}");
        assert!(table.lines().all(|line| columns(line) <= 100));
    }
    let table = live::table(&analysis, &sized(100, Detail::Summary), 60);
    assert!(table.contains("… and ") && table.contains("● "));
    let whole = live::table(&fixture::hostile(), &sized(100, Detail::Summary), 60);
    assert!(!whole.contains("more") && whole.contains("zlib-ng:6"), "{whole}");
    let mut nothing = analysis;
    nothing.cells.clear();
    assert_eq!(live::table(&nothing, &Options::default(), 40), "");
}
