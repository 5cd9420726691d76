//! The sentences.

use std::collections::HashSet;

use weigh_answer::report::Report;

use crate::codec::fixture::{Figures, Lab, study};

fn texts<'a>(report: &'a Report, topic: &str) -> Vec<&'a str> {
    report.findings.iter().filter(|f| f.topic == topic).map(|f| f.text.as_str()).collect()
}

fn answer(report: &Report) -> String {
    let advice = report.advice.as_ref().expect("a recommendation");
    advice.sentences.iter().map(|sentence| sentence.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The whole answer of an invented study, as it is read.
#[test]
fn the_answer_of_an_invented_study() {
    let report = study().report();
    let findings = report.findings.iter().map(|f| format!("{} [{}] {}\n", f.rank, f.topic, f.text));
    insta::assert_snapshot!(format!("{}\n\n{}", answer(&report), findings.collect::<String>()));
}

#[test]
fn every_sentence_names_cells_that_were_measured() {
    let report = study().report();
    let known: HashSet<&str> = report.rows.iter().map(|c| c.cell.id.as_str()).collect();
    assert!(report.findings.len() > 5);
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
    let answer = answer(&report);
    // Of two without a significant difference, it is the one that PHP has.
    assert!(answer.starts_with("Use serialize with gzdeflate 6 for cached values."), "{answer}");
    assert!(answer.contains("No significant difference: serialize with zstd 1."), "{answer}");
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
    assert_eq!(
        sentence,
        "tree: zstd 1 with serialize needs 80.0% less encode time (79.8–80.1%) and 5% fewer bytes than gzdeflate 6."
    );
    assert!(report.advice.is_none(), "no links were asked for");
}

/// What is best on neither content but near enough on both is recommended for both.
#[test]
fn the_recommendation_is_never_far_behind() {
    let cell = |payload, setting| (payload, "php8.2", Some("serialize"), setting);
    let figures = |encode: f64, bytes| Figures { encode: encode * 1e6, decode: 1e6, bytes };
    let mut lab = Lab::new().links(&[100.0, 1000.0, 10_000.0], &[]);
    for (payload, lz4, zstd1, zstd3) in [("small", 1.0, 1.008, 1.5), ("large", 1.5, 1.008, 1.0)] {
        lab = lab
            .payload(payload, 1_000_000, 1)
            .cell(cell(payload, "lz4"), figures(lz4, 205_000))
            .cell(cell(payload, "zstd:1"), figures(zstd1, 205_000))
            .cell(cell(payload, "zstd:3"), figures(zstd3, 205_000));
    }
    let report = lab.report();
    let advice = report.advice.as_ref().unwrap();
    assert_eq!(advice.recommended.len(), 1);
    assert_eq!(advice.recommended[0].name, "serialize with zstd 1");
    assert_eq!(advice.recommended[0].cells.len(), 2);
    let answer = answer(&report);
    assert!(
        answer.starts_with("Use serialize with zstd 1 for cached values. It needs ext-zstd or FFI."),
        "{answer}"
    );
    assert!(answer.contains("Within 1% of the fastest on 2 contents, 1 MB (95% confidence"), "{answer}");
}

/// Where a slow link wants fewer bytes and a fast one less time, both are named with the speeds that the study has.
#[test]
fn what_is_better_on_other_links_is_named() {
    let cell = |setting| ("tree", "php8.2", Some("igbinary"), setting);
    let lab = Lab::new()
        .links(&[10.0, 1000.0, 25_000.0], &[10.0])
        .payload("tree", 1_000_000, 1)
        .cell(cell("identity"), Figures { encode: 1e5, decode: 1e5, bytes: 1_000_000 })
        .cell(cell("zstd:1"), Figures { encode: 1e6, decode: 5e5, bytes: 250_000 })
        .cell(cell("brotli:9"), Figures { encode: 5e7, decode: 2e6, bytes: 180_000 });
    let answer = answer(&lab.report());
    assert!(answer.starts_with("Use igbinary with zstd 1 for cached values."), "{answer}");
    let change = "Better on other links: igbinary with brotli 9 on links up to 10 Mbit/s; igbinary alone from 25 Gbit/s.";
    assert!(answer.contains(change), "{answer}");
}

/// Files are encoded once and sent many times: the smallest of each content coding, and what to use on the fly.
#[test]
fn text_assets_are_precompressed_for_each_content_coding() {
    let cell = |setting| ("app.js", "native", None, setting);
    let mut lab = Lab::new()
        .links(&[30.0], &[1.0, 10_000.0])
        .payload("app.js", 1_000_000, 1)
        .cell(cell("zlib:6"), Figures { encode: 4e7, decode: 4e6, bytes: 320_000 })
        .cell(cell("libdeflate:12"), Figures { encode: 3e8, decode: 3e6, bytes: 300_000 })
        .cell(cell("brotli:4"), Figures { encode: 2e7, decode: 3e6, bytes: 300_000 })
        .cell(cell("brotli:11"), Figures { encode: 2e9, decode: 3e6, bytes: 250_000 });
    lab.plan.payloads[0].value = None;
    lab.plan.study.links.as_mut().unwrap().usual_reads = Some(10_000.0);
    let answer = answer(&lab.report());
    assert!(
        answer.starts_with("For files, encoded once: brotli 11 (br) and libdeflate 12 (gzip)."),
        "{answer}"
    );
    assert!(
        answer.contains(
            "Compared with zlib 6 (app.js): 21.9% fewer bytes with br, 6.2% fewer bytes with gzip."
        ),
        "{answer}"
    );
    assert!(answer.contains("For pages, encoded for each response: brotli 4 and zlib 6."), "{answer}");
}

/// Where neighbours slow three visits in five down, each setting's in other rounds, the truth may be further off than the figures, and
/// that is what is said; of three rounds nothing can be said with confidence.
#[test]
fn how_sure_the_recommendation_is_is_what_holds_in_truth() {
    let said = |rounds: u32, slow: f64| {
        let mut lab = Lab { rounds, ..Lab::new() }.links(&[10_000.0], &[]).payload("tree", 1_000_000, 1);
        for (at, level) in [1, 2, 3, 4, 5, 6, 7, 8].into_iter().enumerate() {
            let setting = format!("zstd:{level}");
            let ms = 1.0 + 0.004 * f64::from(level);
            let figures = Figures { encode: ms * 1e6, decode: 1e6, bytes: 100_000 - 10 * level as u64 };
            lab = lab.cell_with(("tree", "php8.2", Some("serialize"), &setting), figures, move |round| {
                if (round as usize * (1 + at % 4) + at) % 5 < 3 { slow } else { 1.0 }
            });
        }
        answer(&lab.report())
    };
    let percent = |text: &str| -> f64 {
        let (_, rest) = text.split_once(" Within ").unwrap();
        rest.split_once('%').unwrap().0.parse().unwrap()
    };
    let [calm, noisy, few] = [said(7, 1.0), said(7, 1.4), said(3, 1.4)];
    for text in [&calm, &noisy] {
        assert!(text.contains("fastest on tree (95% confidence; modelled"), "{text}");
    }
    assert!(percent(&calm) <= 5.0, "{calm}");
    assert!(percent(&noisy) > 10.0, "{noisy}");
    assert!(few.starts_with("So far serialize with zstd 1. Not settled (3 of 5 rounds): "), "{few}");
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
    assert_eq!(starts("beats"), ["index.html (synthetic) (native)", "index.html (synthetic) (php8.2)",]);
}

/// From nothing but one setting there is nothing to say.
#[test]
fn a_single_cell_makes_no_sentence() {
    let lab = Lab::new().payload("tree", 1000, 1).links(&[100.0], &[1.0]).cell(
        ("tree", "php8.2", Some("serialize"), "gzdeflate:6"),
        Figures { encode: 1e6, decode: 1e5, bytes: 100 },
    );
    let report = lab.report();
    assert!(report.findings.is_empty() && report.advice.is_none(), "{:?}", report.findings);
}
