//! The published table beside ours.

use weigh_model::study::{Published, PublishedRow};

use crate::codec::fixture::{Figures, Lab};

fn row(level: i32, compress_mb_s: f64, decompress_mb_s_published: f64, ratio: f64) -> PublishedRow {
    PublishedRow {
        level,
        compress_mb_s,
        decompress_mb_s_published,
        ratio,
        space_saving: (1.0 - 1.0 / ratio) * 100.0,
        ratio_per_time: 1.0,
        ms: None,
    }
}

fn lab() -> Lab {
    let mut lab = Lab::new().payload("tree", 2_400_000, 1);
    lab.plan.study.published = Some(Published {
        cite: String::new(),
        about: "invented".into(),
        payload: "tree".into(),
        serializer: Some("serialize".into()),
        codec: "gzdeflate".into(),
        rows: vec![row(6, 60.0, 58.0, 10.0), row(8, 40.0, 58.0, 10.1), row(9, 30.0, 56.0, 10.2)],
    });
    lab
}

#[test]
fn rows_stand_beside_their_cells() {
    let cell = |setting| ("tree", "php8.2", Some("serialize"), setting);
    let lab = lab()
        .cell(cell("gzdeflate:6"), Figures { encode: 40e6, decode: 5e6, bytes: 240_000 })
        .cell(cell("gzdeflate:9"), Figures { encode: 80e6, decode: 5e6, bytes: 235_000 });
    let report = lab.report();
    let rows = report.exhibits.published_levels.unwrap().rows;
    assert_eq!(
        rows.iter().map(|r| r.published.level).collect::<Vec<_>>(),
        [6, 9],
        "level 8 was not measured"
    );
    let six = &rows[0];
    assert!((six.compress_mb_s - 60.0).abs() < 0.5 && (six.ms - 40.0).abs() < 0.5, "{six:?}");
    assert!((six.decompress_mb_s - 480.0).abs() < 4.0);
    assert_eq!((six.decompress_mb_s_corrected, six.ratio, six.space_saving), (580.0, 10.0, 90.0));
    assert!((six.ratio_per_time - 10.0 / 0.04).abs() < 3.0);
    let texts: Vec<&str> =
        report.findings.iter().filter(|f| f.topic == "published").map(|f| f.text.as_str()).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts[0].contains("58.0 MB/s at level 6 are 580 MB/s uncompressed"), "{texts:?}");
    assert!(texts[1].ends_with("they agree within 0.1%."), "{texts:?}");
    assert!(texts[2].starts_with("Level 9 takes 2.00× the time of level 6 as published"), "{texts:?}");
    assert!(texts[2].ends_with("they agree."), "{texts:?}");
}

#[test]
fn which_php_was_measured_is_said() {
    let six = |runtime| ("tree", runtime, Some("serialize"), "gzdeflate:6");
    let figures = Figures { encode: 40e6, decode: 5e6, bytes: 240_000 };
    let mut lab = lab().cell(six("php5.5"), figures).cell(six("php8.2"), figures);
    lab.plan.runtimes[0].version = "5.5.11".into();
    let report = lab.report();
    let levels = report.exhibits.published_levels.as_ref().unwrap();
    assert_eq!((levels.runtime.as_str(), levels.version.as_str()), ("php5.5", "5.5.11"));
    let pages = weigh_answer::format::named("markdown").unwrap();
    let pages = pages.render(&report, &Default::default()).unwrap();
    let text = String::from_utf8_lossy(&pages[0].bytes);
    assert!(text.contains("Here: serialize + gzdeflate on tree, PHP 5.5.11 (php5.5)."), "{text}");
    let told = report.findings.iter().filter(|f| f.topic == "published" && f.text.contains("here (php5.5)"));
    assert_eq!(told.count(), 2);
}

#[test]
fn no_measured_row_no_table() {
    let lab = lab().cell(
        ("tree", "php8.2", Some("serialize"), "zstd:3"),
        Figures { encode: 1.0, decode: 1.0, bytes: 1 },
    );
    let report = lab.report();
    assert!(
        report.exhibits.published_levels.is_none() && report.findings.iter().all(|f| f.topic != "published")
    );
}
