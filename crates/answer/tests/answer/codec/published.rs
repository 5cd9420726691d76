//! The published table beside ours.

use weigh_model::study::{Published, PublishedColumn, PublishedRow};

use crate::codec::fixture::{Figures, Lab};

/// An invented table of levels: compression in MB/s, and the ratio.
pub fn table(payload: &str, levels: &[(i32, f64, f64)]) -> Published {
    let column =
        |name: &str, metric: &str, unit| PublishedColumn { name: name.into(), metric: metric.into(), unit };
    let row = |(level, rate, ratio): &(i32, f64, f64)| PublishedRow {
        label: format!("level {level}"),
        setting: format!("gzdeflate:{level}"),
        figures: [("MB/s".to_owned(), *rate), ("ratio".to_owned(), *ratio)].into(),
    };
    Published {
        cite: String::new(),
        about: "invented".into(),
        reading: Vec::new(),
        payload: payload.into(),
        cells: "{runtime}/serialize".into(),
        columns: vec![column("MB/s", "encode-rate", 1e6), column("ratio", "ratio", 1.0)],
        rows: levels.iter().map(row).collect(),
    }
}

fn lab() -> Lab {
    let mut lab = Lab::new().payload("tree", 2_400_000, 1);
    lab.plan.study.published_table =
        Some(table("tree", &[(6, 60.0, 10.0), (8, 40.0, 10.1), (9, 30.0, 10.2)]));
    lab
}

#[test]
fn rows_stand_beside_their_cells() {
    let cell = |setting| ("tree", "php8.2", Some("serialize"), setting);
    let lab = lab()
        .cell(cell("gzdeflate:6"), Figures { encode: 40e6, decode: 5e6, bytes: 240_000 })
        .cell(cell("gzdeflate:9"), Figures { encode: 80e6, decode: 5e6, bytes: 235_000 });
    let report = lab.report();
    let beside = report.exhibits.published.as_ref().unwrap();
    let labels: Vec<&str> = beside.rows.iter().map(|row| row.published.label.as_str()).collect();
    assert_eq!(labels, ["level 6", "level 9"], "level 8 was not measured");
    let [rate, ratio] = &beside.rows[0].here[..] else { panic!("{beside:?}") };
    assert!((rate.unwrap() - 60.0).abs() < 0.5, "MB/s, of bytes per second: {rate:?}");
    assert_eq!(*ratio, Some(10.0));
    let texts: Vec<&str> =
        report.findings.iter().filter(|f| f.topic == "published").map(|f| f.text.as_str()).collect();
    let same = "1 pair is here in the published order (rank correlation 1.00).";
    assert_eq!(texts, ["MB/s", "ratio"].map(|column| format!("The published table, {column}: 1 of {same}")));
}

#[test]
fn which_php_was_measured_is_said() {
    let six = |runtime| ("tree", runtime, Some("serialize"), "gzdeflate:6");
    let figures = Figures { encode: 40e6, decode: 5e6, bytes: 240_000 };
    let report = lab().cell(six("php5.5"), figures).cell(six("php8.2"), figures).report();
    assert_eq!(report.exhibits.published.as_ref().unwrap().runtime, "php5.5");
    let pages = weigh_answer::format::named("markdown").unwrap();
    let pages = pages.render(&report, &Default::default()).unwrap();
    let text = String::from_utf8_lossy(&pages[0].bytes);
    assert!(text.contains("Here: tree (php5.5)."), "{text}");
}

#[test]
fn no_measured_row_no_table() {
    let lab = lab().cell(
        ("tree", "php8.2", Some("serialize"), "zstd:3"),
        Figures { encode: 1.0, decode: 1.0, bytes: 1 },
    );
    let report = lab.report();
    assert!(report.exhibits.published.is_none() && report.findings.iter().all(|f| f.topic != "published"));
}
