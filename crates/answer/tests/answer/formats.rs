//! Every format on invented reports: ordinary, crowded, tiny and hostile ones, of every subject.

use crate::codec::published;
use weigh_answer::format::Medium;
use weigh_answer::format::{FORMATS, available, live, named};
use weigh_answer::output::{Detail, Options, Rendered};
use weigh_answer::report::Report;
use weigh_answer::text::columns;
use weigh_model::payload::Origin;
use weigh_model::plan::Exclusion;
use weigh_model::protocol::FaultKind;

use crate::codec::fixture::{Figures, Lab, study};

fn render(name: &str, report: &Report, options: &Options) -> Vec<Rendered> {
    named(name).unwrap().render(report, options).unwrap()
}

fn text(name: &str, report: &Report, options: &Options) -> String {
    String::from_utf8(render(name, report, options).remove(0).bytes).unwrap()
}

fn sized(width: usize, detail: Detail) -> Options {
    Options { width, detail, ..Options::default() }
}

/// A study with everything that a report can hold.
pub fn ordinary() -> Report {
    let mut lab = study().planned("rows-1k", "php8.2", None, "snappy");
    lab.fault(2, FaultKind::Crash);
    lab = lab.planned("tree-2.4m", "php8.2", Some("serialize"), "zstd:22");
    lab.plan.exclusions.push(Exclusion {
        cell: "rows-1k/php8.2/msgpack".into(),
        reason: "ext-msgpack is not loaded".into(),
        remedy: Some("install php-msgpack".into()),
    });
    lab.plan.payloads[0].origin = Origin::Synthetic { imitates: "rows of a table".into() };
    let levels = [1, 2, 3, 6, 9].map(|level| (level, 100.0 / f64::from(level), 8.0));
    lab.plan.study.published_table = Some(published::table("tree-2.4m", &levels));
    lab.plan.study.title = "An invented study".into();
    lab.plan.study.question = "Which codec?".into();
    lab.plan.study.reading = "Read it so.\n\nAnd so.".into();
    lab.report()
}

fn native(payload: &str, settings: &[(&str, f64, u64)]) -> Lab {
    let mut lab = Lab::new().payload(payload, 1_000_000, 1).links(&[10.0, 1000.0], &[10.0]);
    for (setting, encode, bytes) in settings {
        let figures = Figures { encode: *encode, decode: encode / 5.0, bytes: *bytes };
        lab = lab.cell((payload, "native", None, setting), figures);
    }
    lab
}

const TWO: &[(&str, f64, u64)] = &[("zlib:6", 5e7, 324_000), ("zstd:3", 6e6, 312_000)];

fn crowd() -> Report {
    let names: Vec<String> = (1..60).map(|level| format!("zstd:{level}")).collect();
    let bytes = |at: usize| 400_000 - 1_000 * at as u64;
    let settings =
        names.iter().enumerate().map(|(at, name)| (name.as_str(), 1e6 * 1.1_f64.powi(at as i32), bytes(at)));
    native("crowd.html", &settings.collect::<Vec<_>>()).report()
}

fn many() -> Report {
    let mut lab = Lab::new().links(&[10.0, 1000.0], &[10.0]);
    for number in 0..8 {
        let name = format!("page-{number}.html");
        lab = lab.payload(&name, 1_000_000, 1);
        for (setting, encode, bytes) in TWO {
            let figures = Figures { encode: *encode, decode: encode / 5.0, bytes: *bytes };
            lab = lab.cell((&name, "native", None, setting), figures);
        }
    }
    lab.report()
}

const HOSTILE: &str = "evil\u{1b}[31m|<script>`\u{202e}gpj.exe\r\n=cmd()";

fn hostile() -> Report {
    let mut lab = native(HOSTILE, TWO);
    lab.plan.runtimes[0].libraries.insert("zlib".into(), HOSTILE.into());
    lab.plan.runtimes[0].version = HOSTILE.into();
    lab.plan.study.title = format!("<b>{HOSTILE}");
    lab.plan.exclusions.push(Exclusion {
        cell: HOSTILE.into(),
        reason: HOSTILE.into(),
        remedy: Some(HOSTILE.into()),
    });
    lab = lab.planned(HOSTILE, "native", None, "lz4");
    lab.fault(1, FaultKind::Codec);
    lab.report()
}

pub fn every() -> Vec<(&'static str, Report)> {
    let long = "assets/".repeat(30) + "a-very-long-name-of-a-file.min.js";
    let mut all = vec![
        ("ordinary", ordinary()),
        ("crowd", crowd()),
        ("many", many()),
        ("two", native("two.html", TWO).report()),
        ("one", native("one.html", &TWO[..1]).report()),
        ("long", native(&long, TWO).report()),
        ("hostile", hostile()),
        ("nothing", Lab::new().report()),
    ];
    all.extend(crate::others());
    all
}

#[test]
fn the_terminal_report_at_three_widths() {
    for width in [80, 120, 200] {
        let report = text("terminal", &ordinary(), &sized(width, Detail::Full)).replace('\u{a0}', " ");
        insta::assert_snapshot!(format!("terminal-{width}"), report);
    }
    let summary = text("terminal", &ordinary(), &sized(100, Detail::Summary)).replace('\u{a0}', " ");
    insta::assert_snapshot!("terminal-summary", summary);
    let many = text("terminal", &many(), &sized(100, Detail::Summary)).replace('\u{a0}', " ");
    insta::assert_snapshot!("terminal-summary-many", many);
}

#[test]
fn the_markdown_report() {
    insta::assert_snapshot!(text("markdown", &ordinary(), &Options::default()));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (name, report) in every() {
        for width in [60, 80, 100, 160, 240] {
            for detail in [Detail::Summary, Detail::Full] {
                for line in text("terminal", &report, &sized(width, detail)).lines() {
                    // What is to be copied is not broken.
                    let is_literal = line.starts_with("  writes ") || line.contains("transactions executed");
                    assert!(columns(line) <= width || is_literal, "{name} at {width}: {line}");
                }
            }
        }
    }
}

#[test]
fn colours_change_nothing_but_the_look() {
    let plain = text("terminal", &ordinary(), &sized(120, Detail::Full));
    let colored = text("terminal", &ordinary(), &Options { color: true, ..sized(120, Detail::Full) });
    assert!(!plain.contains('\x1b') && colored.contains('\x1b'));
    let stripped: Vec<_> =
        colored.lines().map(|line| console::strip_ansi_codes(line).trim_end().to_owned()).collect();
    assert_eq!(stripped, plain.lines().collect::<Vec<_>>());
}

#[test]
fn nothing_hostile_reaches_the_terminal_or_the_page() {
    for detail in [Detail::Summary, Detail::Full] {
        let report = text("terminal", &hostile(), &sized(100, detail));
        assert!(!report.contains(|c: char| c != '\n' && c.is_control()) && !report.contains('\u{202e}'));
    }
    let page = text("markdown", &hostile(), &Options::default());
    assert!(!page.contains("<script") && !page.contains("<b>") && !page.contains('\x1b'));
    let rows = page.lines().filter(|line| line.contains("zlib:6") && line.starts_with("| "));
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    let head = page.lines().find(|line| line.contains("| setting |")).unwrap();
    assert!(rows.map(bars).all(|count| count == bars(head)));
}

#[test]
fn synthetic_content_is_labelled_in_every_table() {
    let mut lab = native("made-up", TWO);
    lab.plan.payloads[0].origin = Origin::Synthetic { imitates: "a page".into() };
    let made_up = lab.report();
    for detail in [Detail::Summary, Detail::Full] {
        let report = text("terminal", &made_up, &sized(100, detail));
        for (index, line) in report.lines().enumerate().filter(|(_, line)| line.starts_with('─')) {
            let around: Vec<_> = report.lines().skip(index.saturating_sub(9)).take(14).collect();
            let versions = around.iter().any(|line| line.starts_with("runtime"));
            assert!(versions || around.iter().any(|line| line.contains("SYNTHETIC")), "{line}: {around:#?}");
        }
    }
}

#[test]
fn files_have_plain_and_different_names() {
    for (name, report) in every() {
        let mut names: Vec<String> = available()
            .flat_map(|format| format.render(&report, &Options::default()).unwrap())
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
fn two_runtimes_of_one_content_are_told_apart_at_any_width() {
    let mut lab = native("tree", TWO)
        .cell(("tree", "php8.2", None, "zstd:3"), Figures { encode: 7e6, decode: 1e6, bytes: 312_000 });
    let first = lab.plan.payloads[0].clone();
    let named = |n: usize| weigh_model::payload::Payload { name: format!("other-{n}"), ..first.clone() };
    lab.plan.payloads.extend((0..4).map(named));
    for number in 0..4 {
        lab = lab.cell(
            (&format!("other-{number}"), "native", None, "zstd:3"),
            Figures { encode: 7e6, decode: 1e6, bytes: 312_000 },
        );
    }
    let report = text("terminal", &lab.report(), &sized(70, Detail::Full));
    assert!(report.contains("php8.2") && report.lines().any(|line| line.contains("  native  ")), "{report}");
}

#[test]
fn an_analysis_without_results_is_a_report_too() {
    let empty = Lab::new().report();
    for format in available().filter(|format| format.medium() != Medium::Picture) {
        let files = format.render(&empty, &Options::default()).unwrap();
        assert!(files.iter().all(|file| !file.bytes.is_empty()), "{}", format.name());
    }
    assert!(text("terminal", &empty, &Options::default()).contains("No recommendation: "));
}

#[test]
fn an_unknown_format_names_the_nearest() {
    let error = named("markdwon").err().unwrap().to_string();
    assert!(error.contains("did you mean `markdown`?"), "{error}");
    for known in FORMATS {
        assert_eq!(named(known.name()).unwrap().extension(), known.extension());
    }
}

#[test]
fn the_live_table_keeps_to_its_lines_and_shows_the_front_first() {
    for lines in [10, 20, 40, 200] {
        let table = live::table(&ordinary(), &sized(100, Detail::Summary), lines);
        assert!(table.lines().count() <= lines, "{lines}: {table}");
        assert!(table.lines().all(|line| columns(line) <= 100));
    }
    let table = live::table(&ordinary(), &sized(100, Detail::Summary), 60);
    assert!(table.contains("… and ") && table.contains("● "));
    let whole = live::table(&hostile(), &sized(100, Detail::Summary), 60);
    assert!(!whole.contains("… and ") && whole.contains("zlib 6"), "{whole}");
    assert_eq!(live::table(&Lab::new().report(), &Options::default(), 40), "");
}

#[test]
fn json_keeps_its_schema() {
    use weigh_answer::format::json::{Document, SCHEMA};
    let validator = jsonschema::validator_for(schemars::schema_for!(Document).as_value()).unwrap();
    for (name, report) in every() {
        let value: serde_json::Value =
            serde_json::from_str(&text("json", &report, &Options::default())).unwrap();
        let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        assert_eq!(value["schema"], SCHEMA, "{name}");
    }
    let mut value: serde_json::Value =
        serde_json::from_str(&text("json", &ordinary(), &Options::default())).unwrap();
    value["rows"][0]["values"]["encode"]["value"] = "many".into();
    assert!(!validator.is_valid(&value));
}

fn table(file: &Rendered) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::Reader::from_reader(&file.bytes[..]);
    let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect());
    (header, rows.collect())
}

#[test]
fn the_wide_and_the_long_table_agree() {
    for (name, report) in every() {
        let files = render("csv", &report, &Options::default());
        let ((wide_head, wide), (long_head, long)) = (table(&files[1]), table(&files[0]));
        assert_eq!(wide.len(), report.rows.len(), "{name}");
        let at = |head: &[String], name: &str| head.iter().position(|h| h == name).unwrap();
        let (metric, unit, value) =
            (at(&long_head, "metric"), at(&long_head, "unit"), at(&long_head, "value"));
        for line in &long {
            let own = wide.iter().find(|row| row[0] == line[0]).unwrap();
            let column = at(&wide_head, &format!("{} ({})", line[metric], line[unit]));
            assert_eq!(own[column], line[value], "{name}: {line:?}");
        }
    }
}

#[test]
fn figures_stand_under_the_right_heads() {
    let report = native("war-and-peace.html", TWO).report();
    let (header, rows) = table(&render("csv", &report, &Options::default())[1]);
    let row = rows.iter().find(|row| row[0] == "war-and-peace.html/native/-/zlib:6").unwrap();
    let of = |name: &str| row[header.iter().position(|head| head == name).unwrap()].as_str();
    assert_eq!((of("decoded-bytes (bytes)"), of("encoded-bytes (bytes)")), ("1000000", "324000"));
    assert_eq!(
        (of("encode-samples (count)"), of("level"), of("front"), of("synthetic")),
        ("27", "6", "false", "false")
    );
    assert!(
        !header.iter().any(|head| head.starts_with("compress")),
        "bytes have no phase of their own for the codec"
    );
}

#[test]
fn there_is_one_best_for_each_speed() {
    let report = ordinary();
    let files = render("csv", &report, &Options::default());
    let (header, rows) = table(files.iter().find(|file| file.file_name == "links.csv").unwrap());
    let best = header.iter().position(|head| head == "best").unwrap();
    let totals = report.exhibits.links.as_ref().unwrap();
    let bests: usize = totals.groups.iter().flat_map(|group| &group.mixes).map(|mix| mix.best.len()).sum();
    assert_eq!(rows.iter().filter(|row| row[best] == "true").count(), bests);
}

#[test]
fn hostile_names_stay_in_their_field() {
    for file in render("csv", &hostile(), &Options::default()) {
        let (header, rows) = table(&file);
        assert!(rows.iter().all(|row| row.len() == header.len()));
        let fields = || rows.iter().flatten();
        assert!(fields().all(|field| !field.contains(char::is_control) && !field.starts_with('=')));
    }
}
