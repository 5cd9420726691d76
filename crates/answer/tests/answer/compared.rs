//! Two runs compared: from records to rows, gates and their forms.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weigh_answer::compare::gate::{self, GateOutcome};
use weigh_answer::compare::{Comparison, Names, Verdict, document, junit};
use weigh_answer::format::terminal;
use weigh_answer::report::Report;
use weigh_answer::text::columns;
use weigh_model::gate::Gate;

use crate::codec::fixture::{Figures, Lab};
use weigh_answer::output::{Detail, Options};

const ROUNDS: u32 = 20;

/// A run of this many codecs, with 1% of noise; `factor` multiplies the time of a codec, by its number.
fn run(count: usize, seed: u64, factor: impl Fn(usize) -> f64) -> Lab {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut lab = Lab { rounds: 0, ..Lab::new() }.payload("page", 100_000, 1);
    for codec in 0..count {
        lab = lab.planned("page", "php8.2", None, &format!("codec{codec}:1"));
        let cost = 1e6 * (1.0 + codec as f64 / 10.0) * factor(codec);
        for round in 1..=ROUNDS {
            let noise = 1.0 + 0.02 * (random.random::<f64>() - 0.5);
            lab.visit(round, Figures { encode: cost * noise, decode: cost * noise / 2.0, bytes: 20_000 });
        }
    }
    lab
}

fn names() -> Names {
    Names { a: "before".into(), b: "now".into() }
}

fn compare(a: &Report, b: &Report, gates: &[&str]) -> Comparison {
    let gates: Vec<Gate> = gates.iter().map(|gate| Gate::parse(gate).unwrap()).collect();
    Comparison::of(a, b, names(), &gates)
}

fn found(comparison: &Comparison) -> Vec<(&str, &str)> {
    comparison.findings().map(|row| (row.configuration.as_str(), row.metric.as_str())).collect()
}

#[test]
fn one_slower_configuration_of_many_is_found_on_a_machine_that_is_slower_as_a_whole() {
    let a = run(60, 1, |_| 1.0).report();
    let b = run(60, 2, |codec| if codec == 17 { 1.1 * 1.07 } else { 1.07 }).report();
    let comparison = compare(&a, &b, &[]);
    let id = "page/php8.2/-/codec17:1";
    assert_eq!(found(&comparison), [(id, "encode"), (id, "decode")]);
    assert!(comparison.is_worse() && comparison.rows[0].verdict == Verdict::Worse);
    let shift = comparison.shift("encode");
    assert!((shift / 1.07 - 1.0).abs() < 0.01, "{shift}");
    let ratio = comparison.rows[0].ratio.unwrap();
    assert!(ratio.low <= 1.1 && 1.1 <= ratio.high && ratio.low > 1.0, "{ratio:?}");
    assert_eq!((comparison.comparisons, comparison.rows.len()), (120, 180));
}

#[test]
fn the_same_twice_has_no_finding() {
    let a = run(60, 1, |_| 1.0).report();
    let comparison = compare(&a, &run(60, 3, |_| 1.0).report(), &["encode<10%"]);
    assert_eq!(found(&comparison), []);
    assert_eq!(gate::worst(&comparison.gates), Some(GateOutcome::Pass), "{:?}", comparison.gates[0]);
}

#[test]
fn bytes_that_differ_at_all_are_a_change() {
    let a = run(12, 1, |_| 1.0).report();
    let mut lab = run(12, 2, |_| 1.0);
    for record in &mut lab.records {
        if let weigh_model::record::Record::Visit(visit) = record
            && visit.cell.contains("codec3:")
        {
            visit.encoded_bytes += 1;
        }
    }
    let comparison = compare(&a, &lab.report(), &[]);
    assert_eq!(found(&comparison), [("page/php8.2/-/codec3:1", "stored-bytes")]);
    assert!(comparison.is_worse());
}

#[test]
fn configurations_match_by_factors_and_the_rest_is_listed() {
    let a = run(12, 1, |_| 1.0).report();
    let mut b = run(13, 2, |_| 1.0);
    // Another PHP in place of the one of A, and other ids.
    b.plan.runtimes[0].name = "php8.4".into();
    b.plan.runtimes[0].version = "8.4".into();
    for cell in &mut b.plan.cells {
        cell.runtime = "php8.4".into();
        let id = format!("{}/now", cell.id);
        b.records.iter_mut().for_each(|record| {
            if let weigh_model::record::Record::Visit(visit) = record
                && visit.cell == cell.id
            {
                visit.cell = id.clone();
            }
        });
        cell.id = id;
    }
    let comparison = compare(&a, &b.report(), &[]);
    assert_eq!(comparison.only_b, ["page/php8.2/-/codec12:1/now"]);
    assert!(comparison.only_a.is_empty());
    let version = comparison.changes.iter().find(|change| change.what == "php8.2 → php8.4").unwrap();
    assert_eq!((version.a.as_str(), version.b.as_str(), version.forbids), ("8.2", "8.4", false));
}

#[test]
fn other_content_and_another_processor_forbid_a_comparison() {
    let a = run(2, 1, |_| 1.0);
    let mut b = run(2, 2, |_| 1.0);
    b.plan.payloads[0].sha256 = "1".repeat(64);
    let mut reports = [a.report(), b.report()];
    for (report, processor) in reports.iter_mut().zip(["old", "new"]) {
        let facts = [("processor", processor), ("kernel", processor), ("cores", "2")];
        report.run.environment = facts.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    }
    let comparison = compare(&reports[0], &reports[1], &[]);
    let forbidden: Vec<&str> = comparison.forbidden().map(|change| change.what.as_str()).collect();
    assert_eq!(forbidden, ["processor", "content of page"]);
    assert!(comparison.changes.iter().any(|change| change.what == "kernel" && !change.forbids));
    let same: BTreeMap<String, String> = reports[0].run.environment.clone();
    reports[1].run.environment = same;
    assert_eq!(compare(&reports[0], &reports[1], &[]).forbidden().count(), 1);
}

#[test]
fn gates_pass_fail_and_stay_undecided() {
    let a = run(30, 1, |_| 1.0).report();
    let b = run(30, 2, |codec| if codec == 4 { 1.2 } else { 1.0 }).report();
    let outcomes = |gate: &str, only: Option<&str>| {
        let gate = Gate { only: only.map(str::to_owned), ..Gate::parse(gate).unwrap() };
        let comparison = Comparison::of(&a, &b, names(), &[gate]);
        gate::worst(&comparison.gates).unwrap()
    };
    assert_eq!(outcomes("encode<5%", Some("*codec4:1")), GateOutcome::Fail);
    assert_eq!(outcomes("encode<20%", Some("*codec4:1")), GateOutcome::Undecided);
    assert_eq!(outcomes("encode<40%", None), GateOutcome::Pass);
    assert_eq!(outcomes("encode<5ms", None), GateOutcome::Pass);
    assert_eq!(outcomes("encode<1us", None), GateOutcome::Fail);
    assert_eq!(outcomes("stored-bytes<0%", None), GateOutcome::Pass);
    assert_eq!(outcomes("encode<5%", Some("nothing")), GateOutcome::Undecided);
    let held = Comparison::of(
        &a,
        &b,
        names(),
        &[Gate { only: Some("*codec4:1".into()), ..Gate::parse("encode<20%").unwrap() }],
    );
    assert!(held.gates[0].remedy.is_some(), "{:?}", held.gates);
}

/// All configurations slower together: the machine or the program. That is no pass.
#[test]
fn a_shift_of_all_configurations_leaves_gates_undecided() {
    let a = run(30, 1, |_| 1.0).report();
    let comparison = compare(&a, &run(30, 2, |_| 1.3).report(), &["encode<10%"]);
    assert_eq!(found(&comparison), []);
    assert!(comparison.gates.iter().all(|judged| judged.outcome == GateOutcome::Undecided));
    let remedy = comparison.gates[0].remedy.as_deref().unwrap();
    assert!(remedy.contains("--paired") && remedy.contains("1.3"), "{remedy}");
}

#[test]
fn two_sides_of_one_run_are_compared_within_rounds() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let drift: Vec<f64> = (0..ROUNDS).map(|_| 1.0 + 0.2 * random.random::<f64>()).collect();
    let [a, b] = [("php8.2", 1.0), ("php8.4", 1.02)].map(|(runtime, slower)| {
        let mut lab = run(0, 1, |_| 1.0);
        for codec in 0..4 {
            lab = lab.planned("page", runtime, None, &format!("codec{codec}:1"));
            for (round, drift) in (1..).zip(&drift) {
                let cost = 1e6 * slower * drift * (1.0 + 0.01 * (random.random::<f64>() - 0.5));
                lab.visit(round, Figures { encode: cost, decode: cost, bytes: 20_000 });
            }
        }
        lab.report()
    });
    let comparison = Comparison::paired(&a, &b, names(), &[Gate::parse("encode<1%").unwrap()]);
    assert_eq!(found(&comparison).len(), 8, "{:?}", comparison.rows);
    assert!(comparison.rows.iter().filter_map(|row| row.ratio).all(|r| (r.value - 1.02).abs() < 0.01));
    assert_eq!(gate::worst(&comparison.gates), Some(GateOutcome::Fail));
}

#[test]
fn junit_is_read_by_another_parser() {
    let a = run(30, 1, |_| 1.0).report();
    let b = run(30, 2, |codec| if codec == 4 { 1.2 } else { 1.0 }).report();
    let comparison = compare(&a, &b, &["encode<20%", "encode<5%", "encode<40%"]);
    let xml = junit::xml("a <suite> & \"more\"", &comparison.gates).unwrap();
    let read = junit_parser::from_reader(xml.as_bytes()).unwrap();
    let count = |outcome| comparison.gates.iter().filter(|judged| judged.outcome == outcome).count() as u64;
    let suite = &read.suites[0];
    assert_eq!(
        (suite.tests, suite.failures, suite.errors),
        (90, count(GateOutcome::Fail), count(GateOutcome::Undecided))
    );
    assert!(suite.failures > 0 && suite.errors > 0 && suite.failures + suite.errors < 90);
    assert_eq!(suite.name, "a <suite> & \"more\"");
}

#[test]
fn every_form_fits_and_nothing_hostile_gets_through() {
    let a = run(12, 1, |_| 1.0).report();
    let mut b = run(12, 2, |codec| if codec == 1 { 1.5 } else { 1.0 }).report();
    b.run.environment.insert("kernel".into(), "<script>\u{1b}[2J|".into());
    let mut comparison = compare(&a, &b, &["encode<5%"]);
    comparison.b.name = "x</details>\u{202e}|`<img>".into();
    for width in [60, 80, 100, 140, 200] {
        for detail in [Detail::Summary, Detail::Full] {
            let options = Options { width, detail, ..Options::default() };
            let text = terminal::text(&document::blocks(&comparison, &options), &options);
            assert!(text.lines().all(|line| columns(line) <= width), "{width}: {text}");
            assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'));
        }
    }
    let markdown = document::for_pull_request(&comparison, &Options::default());
    assert!(!markdown.contains("<script>") && !markdown.contains("<img>"), "{markdown}");
    assert_eq!(markdown.matches("</details>").count(), 1);
    assert!(markdown.contains("worse") && markdown.contains("codec1:1"));
}
