//! The sentences.

use std::collections::HashSet;

use weigh_answer::report::Report;

use crate::codec::fixture::{Figures, Lab, study};

fn texts<'a>(report: &'a Report, topic: &str) -> Vec<&'a str> {
    report.findings.iter().filter(|f| f.topic == topic).map(|f| f.text.as_str()).collect()
}

/// The whole answer of an invented study, as it is read.
#[test]
fn the_answer_of_an_invented_study() {
    let report = study().report();
    let text: String =
        report.findings.iter().map(|f| format!("{} [{}] {}\n", f.rank, f.topic, f.text)).collect();
    insta::assert_snapshot!(text);
}

#[test]
fn every_sentence_names_cells_that_were_measured() {
    let report = study().report();
    let known: HashSet<&str> = report.rows.iter().map(|c| c.cell.id.as_str()).collect();
    assert!(report.findings.len() > 10);
    for (rank, finding) in report.findings.iter().enumerate() {
        assert_eq!(finding.rank as usize, rank);
        assert!(!finding.cells.is_empty(), "{}", finding.text);
        assert!(finding.cells.iter().all(|c| known.contains(c.as_str())), "{}", finding.text);
        assert!(finding.text.ends_with('.') && !finding.text.contains("NaN") && !finding.text.contains("  "));
    }
}

/// zstd 1 is smaller than gzdeflate 6 and 2% faster, and in five rounds of nine neighbours cost either more than that: nothing may be claimed.
#[test]
fn no_winner_within_noise() {
    let noise = |calm: [u32; 2]| {
        move |round: u32| if calm.contains(&round) { 1.0 } else { 1.0 + f64::from(round) / 30.0 }
    };
    let cell = |setting| ("tree", "php8.2", Some("serialize"), setting);
    let lab = Lab::new()
        .payload("tree", 1_000_000, 1)
        .links(&[100_000.0], &[10.0])
        .cell_with(cell("gzdeflate:6"), Figures { encode: 1e7, decode: 1e6, bytes: 100_000 }, noise([2, 7]))
        .cell_with(cell("zstd:1"), Figures { encode: 0.98e7, decode: 0.98e6, bytes: 99_990 }, noise([3, 8]));
    let report = lab.report();
    assert!(texts(&report, "beats").is_empty(), "{:?}", texts(&report, "beats"));
    assert!(texts(&report, "dominated").is_empty());
    let total = texts(&report, "total");
    assert!(total[0].contains("cannot be told apart from serialize + "), "{total:?}");
}

#[test]
fn a_clear_winner_is_named() {
    let cell = |setting| ("tree", "php8.2", Some("serialize"), setting);
    let lab = Lab::new()
        .payload("tree", 1_000_000, 1)
        .cell(cell("gzdeflate:6"), Figures { encode: 1e7, decode: 1e6, bytes: 100_000 })
        .cell(cell("zstd:1"), Figures { encode: 0.2e7, decode: 0.98e6, bytes: 95_000 });
    let report = lab.report();
    assert_eq!(texts(&report, "beats").len(), 1);
    let sentence = texts(&report, "beats")[0];
    assert!(
        sentence
            .starts_with("zstd 1 beats gzdeflate 6 in both time and bytes on tree with serialize: 0.200×"),
        "{sentence}"
    );
    assert!(sentence.ends_with("of its encode CPU time and 5% fewer bytes."), "{sentence}");
    let dominated = texts(&report, "dominated");
    assert!(
        dominated[0].starts_with("gzdeflate 6 is dominated by zstd 1 on tree with serialize"),
        "{dominated:?}"
    );
    assert!(
        texts(&report, "link").is_empty() && texts(&report, "total").is_empty(),
        "no links were asked for"
    );
}

/// What is best at no speed but near enough at all of them makes a shorter rule than what is best at each.
#[test]
fn the_answer_is_the_shortest_rule_within_the_tolerance() {
    let cell = |payload, setting| (payload, "php8.2", Some("serialize"), setting);
    let mut lab = Lab::new().links(&[100.0, 1000.0, 10_000.0], &[]);
    for payload in ["small", "large"] {
        let size = if payload == "small" { 1 } else { 10 };
        let figures = |ms: f64, bytes: u64| Figures {
            encode: ms * 1e6 * size as f64,
            decode: 1e6,
            bytes: bytes * size,
        };
        lab = lab
            .payload(payload, 1_000_000 * size, 1)
            .cell(cell(payload, "lz4"), figures(1.00, 205_000))
            .cell(cell(payload, "zstd:1"), figures(1.02, 200_500))
            .cell(cell(payload, "zstd:3"), figures(9.0, 200_000));
    }
    let report = lab.report();
    assert_eq!(
        texts(&report, "link"),
        [
            "For values of 1 MB to 10 MB (small and large), a write: serialize + zstd 1 on every link from 100 Mbit/s to \
             10 Gbit/s. Within 3% of the best of the 3 settings measured at every speed for every one of them (95% confidence); \
             computed from measured parts for a round trip of 500 µs and one worker on a warm connection; driver and store are left out."
        ]
    );
}

/// By their figures both rules stay within 5%. Where neighbours slow three visits in five down, each setting's in other rounds, the truth may be further off, and
/// that is what is said; of three rounds nothing can be said with confidence.
#[test]
fn what_is_said_of_a_rule_is_what_holds_in_truth() {
    let said = |rounds: u32, slow: f64| {
        let mut lab =
            Lab { rounds, ..Lab::new() }.links(&[100.0, 10_000.0], &[]).payload("tree", 1_000_000, 1);
        for (at, level) in [1, 2, 3, 4, 5, 6, 7, 8].into_iter().enumerate() {
            let setting = format!("zstd:{level}");
            let ms = 1.0 + 0.004 * f64::from(level);
            let figures = Figures { encode: ms * 1e6, decode: 1e6, bytes: 100_000 - 10 * level as u64 };
            lab = lab.cell_with(("tree", "php8.2", Some("serialize"), &setting), figures, move |round| {
                if (round as usize * (1 + at % 4) + at) % 5 < 3 { slow } else { 1.0 }
            });
        }
        texts(&lab.report(), "link")[0].to_owned()
    };
    let percent = |text: &str| -> f64 {
        let (_, rest) = text.split_once(" Within ").unwrap();
        rest.split_once('%').unwrap().0.parse().unwrap()
    };
    let [calm, noisy, few] = [said(7, 1.0), said(7, 1.4), said(3, 1.4)];
    for text in [&calm, &noisy] {
        assert!(text.contains("at every speed (95% confidence); computed"), "{text}");
    }
    assert!(percent(&calm) <= 5.0, "{calm}");
    assert!(percent(&noisy) > 10.0, "{noisy}");
    assert!(few.contains("at every speed, by figures of too few rounds to be sure; computed"), "{few}");
}

/// Bytes without a serializer, natively and in PHP: each sentence says which runtime it speaks of.
#[test]
fn runtimes_are_told_apart() {
    let mut lab = Lab::new().payload("index.html", 100_000, 1);
    lab.plan.payloads[0].value = None;
    for (runtime, reference) in [("native", "zlib:6"), ("php8.2", "gzencode:6")] {
        lab = lab
            .cell(
                ("index.html", runtime, None, reference),
                Figures { encode: 5e6, decode: 1e6, bytes: 30_000 },
            )
            .cell(
                ("index.html", runtime, None, "zstd:3"),
                Figures { encode: 1e6, decode: 5e5, bytes: 29_000 },
            );
    }
    lab.plan.payloads[0].origin = weigh_model::payload::Origin::Synthetic { imitates: "a page".into() };
    let report = lab.report();
    let starts = |topic: &str| -> Vec<String> {
        texts(&report, topic).iter().map(|t| t.split(':').next().unwrap().to_string()).collect()
    };
    assert_eq!(
        starts("beats"),
        [
            "zstd 3 beats zlib 6 in both time and bytes on index.html (synthetic) (native)",
            "zstd 3 beats gzencode 6 in both time and bytes on index.html (synthetic) (php8.2)",
        ]
    );
    assert_eq!(
        starts("front")[0],
        "On index.html (synthetic) (native) one of 2 settings is both the fastest and the smallest"
    );
}

/// From nothing but one setting there is nothing to say.
#[test]
fn a_single_cell_makes_no_sentence() {
    let lab = Lab::new().payload("tree", 1000, 1).links(&[100.0], &[1.0]).cell(
        ("tree", "php8.2", Some("serialize"), "gzdeflate:6"),
        Figures { encode: 1e6, decode: 1e5, bytes: 100 },
    );
    let report = lab.report();
    let topics: Vec<&str> = report.findings.iter().map(|f| f.topic.as_str()).collect();
    assert_eq!(topics, ["total"], "{:?}", report.findings);
}
