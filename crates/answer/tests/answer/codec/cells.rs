//! Estimates, fronts, faults.

use weigh_answer::row::Row;
use weigh_model::protocol::FaultKind;
use weigh_model::record::{Record, StopReason};

use crate::codec::fixture::{Figures, Lab, row, visit};

const PHP: &str = "php8.2";

fn figures(encode: f64, bytes: u64) -> Figures {
    Figures { encode, decode: encode / 4.0, bytes }
}

#[test]
fn no_records_no_results() {
    let lab = Lab::new().payload("tree", 1000, 1).planned("tree", PHP, Some("serialize"), "zstd:3");
    let report = lab.interrupted();
    assert!(report.rows.is_empty() && report.groups.is_empty() && report.findings.is_empty());
    assert_eq!(report.unmeasured, ["tree/php8.2/serialize/zstd:3"]);
    assert!(!report.run.complete);
}

#[test]
fn one_visit_is_a_result_without_an_interval() {
    let mut lab = Lab::new().payload("tree", 1000, 1).planned("tree", PHP, Some("serialize"), "zstd:3");
    lab.visit(1, figures(100.0, 400));
    let report = lab.report();
    let cell = row(&report, "tree/php8.2/serialize/zstd:3");
    let encode = cell.get("encode").unwrap();
    assert_eq!((encode.value, encode.low, encode.high, encode.rounds), (100.0, None, None, 1));
    let values = [
        ("encode-samples", 3.0),
        ("encode-preempted", 1.0),
        ("encode-min", 99.0),
        ("encode-wall", 102.0),
        ("encode-rate", 1e10),
        ("ratio", 2.5),
        ("saving", 0.6),
    ];
    for (metric, value) in values {
        assert!((cell.value(metric).unwrap() - value).abs() <= value * 1e-12, "{metric}");
    }
    assert_eq!(
        (cell.fact("library"), cell.fact("independent decoder")),
        (Some("zstd 1.5.4"), Some("ruzstd"))
    );
    assert!(cell.front && cell.dominated_by.is_none() && cell.beside.is_empty() && cell.stop.is_none());
    assert_eq!(report.run.rounds, 1);
    assert_eq!(report.groups[0].reference(), Some("tree/php8.2/serialize/zstd:3"));
}

/// The value of a round is the median of its samples, the headline a low quantile over rounds; a round that was
/// measured again after an interruption counts once.
#[test]
fn rounds_are_summarised_by_a_low_quantile() {
    let mut lab = Lab::new().payload("tree", 1000, 1).planned("tree", PHP, None, "lz4");
    for (round, ns) in [(1, 100.0), (2, 900.0), (3, 110.0), (2, 104.0)] {
        lab.visit(round, figures(ns, 400));
    }
    let report = lab.report();
    let row = row(&report, "tree/php8.2/-/lz4");
    let encode = row.get("encode").unwrap();
    assert_eq!((encode.rounds, row.count("encode-samples")), (3, 9));
    // A fifth of the way from 100 to 104. Three rounds do not tell how low it may lie; with a probability of 0.97 the second is not below it.
    let of_rounds = (row.value("encode-min"), row.value("encode-median"), encode.low, encode.high);
    assert_eq!(of_rounds, (Some(99.0), Some(104.0), None, Some(104.0)));
    assert!((encode.value - 100.8).abs() < 1e-9, "{encode:?}");
}

#[test]
fn a_slow_machine_does_not_change_the_relative_cost() {
    let mut lab = Lab::new().payload("tree", 1000, 1);
    // Every third round everything takes four times as long.
    let slow = |round: u32| if round % 3 == 1 { 4.0 } else { 1.0 };
    lab = lab
        .cell_with(("tree", PHP, Some("serialize"), "gzdeflate:6"), figures(200.0, 300), slow)
        .cell_with(("tree", PHP, Some("serialize"), "zstd:3"), figures(50.0, 290), slow);
    let report = lab.report();
    let relative = row(&report, "tree/php8.2/serialize/zstd:3").beside["reference"];
    assert!((relative.value - 0.25).abs() < 0.005, "{relative:?}");
    assert!(relative.low > 0.24 && relative.high < 0.26, "{relative:?}");
    let own = row(&report, "tree/php8.2/serialize/gzdeflate:6").beside["reference"];
    assert_eq!((own.value, own.low, own.high), (1.0, 1.0, 1.0));
}

#[test]
fn front_and_strongest_dominator() {
    let lab = Lab::new()
        .payload("tree", 1000, 1)
        .cell(("tree", PHP, Some("serialize"), "identity"), figures(10.0, 1000))
        .cell(("tree", PHP, Some("serialize"), "gzdeflate:6"), figures(200.0, 300))
        .cell(("tree", PHP, Some("serialize"), "zstd:1"), figures(40.0, 299))
        .cell(("tree", PHP, Some("serialize"), "zstd:3"), figures(60.0, 250))
        .cell(("tree", "native", None, "zlib:6"), figures(9.0, 1));
    let report = lab.report();
    let [php, native] = &report.groups[..] else { panic!("two groups") };
    assert_eq!(
        php.front,
        ["identity", "zstd:1", "zstd:3"].map(|s| format!("tree/php8.2/serialize/{s}")),
        "fastest first"
    );
    assert_eq!(php.reference(), Some("tree/php8.2/serialize/gzdeflate:6"));
    assert_eq!(native.front, ["tree/native/-/zlib:6"]);
    let beaten = row(&report, "tree/php8.2/serialize/gzdeflate:6");
    assert!(!beaten.front);
    // zstd:1 is hardly smaller; zstd:3 is clearly better in both.
    assert_eq!(beaten.dominated_by.as_deref(), Some("tree/php8.2/serialize/zstd:3"));
}

#[test]
fn who_is_no_quicker_than_a_smaller_one_as_far_as_rounds_tell_is_off_the_front() {
    let zstd = |level: usize| ("tree", "native", None, ["zstd:1", "zstd:2", "zstd:3"][level - 1]);
    let report = |slow: fn(u32) -> f64| {
        let lab = Lab::new().payload("tree", 1000, 1).cell(zstd(1), figures(40.0, 300));
        lab.cell_with(zstd(2), figures(95.0, 260), slow).cell(zstd(3), figures(100.0, 250)).report()
    };
    let by = |report: &weigh_answer::report::Report| row(report, "tree/native/-/zstd:2").dominated_by.clone();
    assert_eq!(
        by(&report(|round| 1.0 + 0.08 * f64::from(round % 3))).as_deref(),
        Some("tree/native/-/zstd:3")
    );
    assert_eq!(by(&report(|_| 1.0)), None, "calm rounds tell");
}

#[test]
fn a_dictionary_counts_as_bytes_on_the_front() {
    let mut lab = Lab::new()
        .payload("tree", 1000, 1)
        .cell(("tree", "native", None, "zstd:3"), figures(50.0, 300))
        .cell(("tree", "native", None, "zstd:4"), figures(60.0, 250));
    for record in &mut lab.records {
        if let Record::Visit(visit) = record {
            visit.dictionary_bytes = if visit.cell.ends_with('4') { 100 } else { 0 };
        }
    }
    let report = lab.report();
    assert_eq!(row(&report, "tree/native/-/zstd:4").dominated_by.as_deref(), Some("tree/native/-/zstd:3"));
}

#[test]
fn the_serializer_alone_stands_beside_its_cells() {
    let lab = Lab::new()
        .payload("tree", 1000, 1)
        .cell(("tree", PHP, Some("igbinary"), "identity"), figures(20.0, 500))
        .cell(("tree", PHP, Some("igbinary"), "zstd:3"), figures(60.0, 250))
        .cell(("tree", PHP, Some("serialize"), "zstd:3"), figures(60.0, 250))
        .cell(("tree", "native", None, "zstd:3"), figures(60.0, 250));
    let report = lab.report();
    let identity = row(&report, "tree/php8.2/igbinary/identity");
    let packed = row(&report, "tree/php8.2/igbinary/zstd:3");
    let shown = |row: &Row, metric: &str| row.get(metric).map(|e| (e.value, e.low, e.high, e.rounds));
    for (part, whole) in [("serialize", "encode"), ("unserialize", "decode")] {
        assert!(shown(packed, part).is_some() && shown(packed, part) == shown(identity, whole));
    }
    assert!(row(&report, "tree/php8.2/serialize/zstd:3").get("serialize").is_none());
    assert!(row(&report, "tree/native/-/zstd:3").get("serialize").is_none());
}

#[test]
fn a_crash_after_good_visits_is_a_fault_beside_a_number() {
    let mut lab = Lab::new()
        .payload("tree", 1000, 1)
        .cell(("tree", PHP, Some("serialize"), "zstd:3"), figures(60.0, 250));
    lab.fault(10, FaultKind::Crash);
    let cell = lab.plan.cells[0].id.clone();
    lab.records.push(Record::Stop { cell, round: 10, reason: StopReason::Fault });
    let report = lab.report();
    assert_eq!(report.faults.len(), 1);
    assert_eq!(report.rows[0].stop, Some(StopReason::Fault));
    assert_eq!(report.rows[0].get("encode").unwrap().rounds, 9);
}

#[test]
fn a_wrong_answer_withdraws_the_number() {
    for kind in [FaultKind::RoundTrip, FaultKind::Independent] {
        let mut lab = Lab::new()
            .payload("tree", 1000, 1)
            .cell(("tree", PHP, Some("serialize"), "zstd:3"), figures(60.0, 250));
        lab.fault(10, kind);
        let report = lab.report();
        assert!(report.rows.is_empty() && report.groups.is_empty());
        assert_eq!((report.faults.len(), report.unmeasured.len()), (1, 0));
    }
}

#[test]
fn all_faults_and_strangers() {
    let mut lab = Lab::new().payload("tree", 1000, 1).planned("tree", PHP, Some("serialize"), "zstd:3");
    lab.fault(1, FaultKind::Missing);
    lab.records.push(Record::Visit(visit("not/in/the/plan", 1, 1, figures(1.0, 1))));
    let report = lab.interrupted();
    assert!(report.rows.is_empty() && report.findings.is_empty() && report.unmeasured.is_empty());
    assert_eq!((report.faults.len(), report.run.rounds), (1, 0));
}

#[test]
fn the_end_of_the_run_tells_its_length() {
    let mut lab = Lab::new().payload("tree", 1000, 1).cell(("tree", PHP, None, "lz4"), figures(60.0, 250));
    assert_eq!((lab.interrupted().run.complete, lab.interrupted().run.seconds), (false, 9.0));
    lab.records.push(Record::End { at: 0, rounds: 9, seconds: 12.5 });
    let run = lab.report().run;
    assert_eq!((run.complete, run.rounds, run.seconds, run.machine.as_str()), (true, 9, 12.5, "invented"));
}

#[test]
fn a_contents_size_is_that_of_its_own_php() {
    let mut lab = Lab::new().payload("tree", 1_000_000, 1);
    for (runtime, bytes) in [("php5.5", 1_250_000), ("php8.2", 1_000_000)] {
        lab = lab.planned("tree", runtime, Some("serialize"), "gzdeflate:6");
        let cell = lab.plan.cells.last().unwrap().id.clone();
        for round in 1..=3 {
            let figures = Figures { encode: 40e6, decode: 5e6, bytes: 240_000 };
            lab.records.push(Record::Visit(visit(&cell, round, bytes, figures)));
        }
    }
    let report = lab.report();
    let about = |at: usize| (report.shape().look.about)(&report, &report.groups[at]).join(" ");
    assert!(about(0).contains("1.25 MB"), "{}", about(0));
    assert!(about(1).contains("1.00 MB") || about(1).contains("1 MB"), "{}", about(1));
}

#[test]
fn a_family_is_reported_as_one_of_its_instances() {
    let lab = || {
        let mut lab = Lab::new().links(&[10.0, 1000.0], &[1.0, 10.0]);
        for (payload, bytes) in [("rows-4k", 4_000), ("rows-64k", 64_000)] {
            lab = lab.payload(payload, bytes, 1);
            for (setting, cost, left) in
                [("identity", 0.1, 1.0), ("gzdeflate:6", 9.0, 0.2), ("zstd:3", 2.0, 0.22)]
            {
                let cost = figures(cost * bytes as f64, (left * bytes as f64) as u64);
                lab = lab.cell((payload, PHP, Some("serialize"), setting), cost);
            }
        }
        lab
    };
    // A power of two, so that sums and shares are exact.
    let (one, family) = (lab().report(), lab().of_families(16).report());
    let values = |report: &weigh_answer::report::Report| serde_json::to_value(&report.rows).unwrap();
    assert_eq!(values(&one), values(&family));
    let said = |report: &weigh_answer::report::Report| {
        report.findings.iter().map(|finding| finding.text.clone()).collect::<Vec<_>>()
    };
    assert!(!said(&one).is_empty());
    assert_eq!(said(&one), said(&family));
    let exhibits = |report: &weigh_answer::report::Report| serde_json::to_value(&report.exhibits).unwrap();
    assert_eq!(exhibits(&one), exhibits(&family));
}

#[test]
fn the_same_value_again_is_a_second_figure() {
    let mut lab = Lab::new().payload("rows", 1000, 1).planned("rows", PHP, None, "zstd:3");
    lab.visit(1, figures(100.0, 400));
    let mut lab = lab.of_families(24);
    if let Some(Record::Visit(visit)) = lab.records.first_mut() {
        visit.again = visit.phases.clone();
        let samples = visit.again.values_mut();
        samples.for_each(|s| s.cpu_ns.iter_mut().for_each(|ns| *ns /= 48.0));
    }
    let report = lab.report();
    let cell = row(&report, "rows/php8.2/-/zstd:3");
    assert_eq!((cell.value("encode"), cell.value("encode-again")), (Some(100.0), Some(50.0)));
}
