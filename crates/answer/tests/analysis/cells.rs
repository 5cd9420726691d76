//! Estimates, fronts, faults.

use weigh_model::protocol::{FaultKind, Phase};
use weigh_model::record::{Record, StopReason};

use crate::fixture::{Figures, Lab, result};

const PHP: &str = "php8.2";

fn figures(encode: f64, bytes: u64) -> Figures {
    Figures { encode, decode: encode / 4.0, bytes }
}

#[test]
fn no_records_no_results() {
    let lab = Lab::new().payload("tree", 1000, 1).planned("tree", PHP, Some("serialize"), "zstd:3");
    let analysis = lab.analyse();
    assert!(analysis.cells.is_empty() && analysis.groups.is_empty() && analysis.findings.is_empty());
    assert_eq!(analysis.unmeasured, ["tree/php8.2/serialize/zstd:3"]);
    assert!(!analysis.run.complete);
}

#[test]
fn one_visit_is_a_result_with_the_interval_of_its_samples() {
    let mut lab = Lab::new().payload("tree", 1000, 1).planned("tree", PHP, Some("serialize"), "zstd:3");
    lab.visit(1, figures(100.0, 400));
    let analysis = lab.analyse();
    let cell = result(&analysis, "tree/php8.2/serialize/zstd:3");
    let encode = cell.phases[&Phase::Encode];
    assert_eq!((encode.samples, encode.rounds, encode.preempted), (3, 1, 1));
    assert_eq!((encode.min, encode.cpu, encode.low, encode.high), (99.0, 100.0, 99.0, 105.0));
    assert_eq!(encode.wall_median, 102.0);
    assert_eq!(encode.throughput(cell.decoded_bytes), 10_000.0);
    assert!((cell.ratio() - 2.5).abs() < 1e-12 && (cell.space_saving() - 0.6).abs() < 1e-12);
    assert_eq!(cell.library.as_deref(), Some("zstd 1.5.4"));
    assert_eq!(cell.independent.as_deref(), Some("ruzstd"));
    assert!(cell.front && cell.dominated_by.is_none() && cell.relative.is_none() && cell.stop.is_none());
    assert_eq!(analysis.run.rounds, 1);
    assert_eq!(analysis.groups[0].reference.as_deref(), Some("tree/php8.2/serialize/zstd:3"));
}

/// The value of a round is the median of its samples, the headline a low quantile over rounds; a round that was
/// measured again after an interruption counts once.
#[test]
fn rounds_are_summarised_by_a_low_quantile() {
    let mut lab = Lab::new().payload("tree", 1000, 1).planned("tree", PHP, None, "lz4");
    for (round, ns) in [(1, 100.0), (2, 900.0), (3, 110.0), (2, 104.0)] {
        lab.visit(round, figures(ns, 400));
    }
    let analysis = lab.analyse();
    let encode = result(&analysis, "tree/php8.2/-/lz4").phases[&Phase::Encode];
    assert_eq!((encode.rounds, encode.samples), (3, 9));
    // A fifth of the way from 100 to 104; the low end is as far below 100 as 104 is above.
    assert_eq!((encode.min, encode.cpu_median, encode.low), (99.0, 104.0, 96.0));
    assert!((encode.cpu - 100.8).abs() < 1e-9 && encode.high == 110.0, "{encode:?}");
}

#[test]
fn a_slow_machine_does_not_change_the_relative_cost() {
    let mut lab = Lab::new().payload("tree", 1000, 1);
    // Every third round everything takes four times as long.
    let slow = |round: u32| if round % 3 == 1 { 4.0 } else { 1.0 };
    lab = lab
        .cell_with(("tree", PHP, Some("serialize"), "gzdeflate:6"), figures(200.0, 300), slow)
        .cell_with(("tree", PHP, Some("serialize"), "zstd:3"), figures(50.0, 290), slow);
    let analysis = lab.analyse();
    let relative = result(&analysis, "tree/php8.2/serialize/zstd:3").relative.unwrap();
    assert!((relative.ratio - 0.25).abs() < 0.005, "{relative:?}");
    assert!(relative.low > 0.245 && relative.high < 0.255, "{relative:?}");
    let own = result(&analysis, "tree/php8.2/serialize/gzdeflate:6").relative.unwrap();
    assert_eq!((own.ratio, own.low, own.high), (1.0, 1.0, 1.0));
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
    let analysis = lab.analyse();
    let [php, native] = &analysis.groups[..] else { panic!("two groups") };
    assert_eq!(
        php.front,
        ["identity", "zstd:1", "zstd:3"].map(|s| format!("tree/php8.2/serialize/{s}")),
        "fastest first"
    );
    assert_eq!(php.reference.as_deref(), Some("tree/php8.2/serialize/gzdeflate:6"));
    assert_eq!(native.front, ["tree/native/-/zlib:6"]);
    let beaten = result(&analysis, "tree/php8.2/serialize/gzdeflate:6");
    assert!(!beaten.front);
    // zstd:1 is hardly smaller; zstd:3 is clearly better in both.
    assert_eq!(beaten.dominated_by.as_deref(), Some("tree/php8.2/serialize/zstd:3"));
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
    let analysis = lab.analyse();
    assert_eq!(
        result(&analysis, "tree/native/-/zstd:4").dominated_by.as_deref(),
        Some("tree/native/-/zstd:3")
    );
}

#[test]
fn the_serializer_alone_stands_beside_its_cells() {
    let lab = Lab::new()
        .payload("tree", 1000, 1)
        .cell(("tree", PHP, Some("igbinary"), "identity"), figures(20.0, 500))
        .cell(("tree", PHP, Some("igbinary"), "zstd:3"), figures(60.0, 250))
        .cell(("tree", PHP, Some("serialize"), "zstd:3"), figures(60.0, 250))
        .cell(("tree", "native", None, "zstd:3"), figures(60.0, 250));
    let analysis = lab.analyse();
    let identity = result(&analysis, "tree/php8.2/igbinary/identity");
    let (encode, decode) = result(&analysis, "tree/php8.2/igbinary/zstd:3").serializer_alone.unwrap();
    assert_eq!((encode, decode), (identity.phases[&Phase::Encode], identity.phases[&Phase::Decode]));
    assert!(result(&analysis, "tree/php8.2/serialize/zstd:3").serializer_alone.is_none());
    assert!(result(&analysis, "tree/native/-/zstd:3").serializer_alone.is_none());
}

#[test]
fn a_crash_after_good_visits_is_a_fault_beside_a_number() {
    let mut lab = Lab::new()
        .payload("tree", 1000, 1)
        .cell(("tree", PHP, Some("serialize"), "zstd:3"), figures(60.0, 250));
    lab.fault(10, FaultKind::Crash);
    let cell = lab.plan.cells[0].id.clone();
    lab.records.push(Record::Stop { cell, round: 10, reason: StopReason::Fault });
    let analysis = lab.analyse();
    assert_eq!(analysis.faults.len(), 1);
    assert_eq!(analysis.cells[0].stop, Some(StopReason::Fault));
    assert_eq!(analysis.cells[0].phases[&Phase::Encode].rounds, 9);
}

#[test]
fn a_wrong_answer_withdraws_the_number() {
    for kind in [FaultKind::RoundTrip, FaultKind::Independent] {
        let mut lab = Lab::new()
            .payload("tree", 1000, 1)
            .cell(("tree", PHP, Some("serialize"), "zstd:3"), figures(60.0, 250));
        lab.fault(10, kind);
        let analysis = lab.analyse();
        assert!(analysis.cells.is_empty() && analysis.groups.is_empty());
        assert_eq!((analysis.faults.len(), analysis.unmeasured.len()), (1, 0));
    }
}

#[test]
fn all_faults_and_strangers() {
    let mut lab = Lab::new().payload("tree", 1000, 1).planned("tree", PHP, Some("serialize"), "zstd:3");
    lab.fault(1, FaultKind::Missing);
    lab.records.push(Record::Visit(crate::fixture::visit("not/in/the/plan", 1, 1, figures(1.0, 1))));
    let analysis = lab.analyse();
    assert!(analysis.cells.is_empty() && analysis.findings.is_empty() && analysis.unmeasured.is_empty());
    assert_eq!((analysis.faults.len(), analysis.run.rounds), (1, 0));
}

#[test]
fn the_end_of_the_run_tells_its_length() {
    let mut lab = Lab::new().payload("tree", 1000, 1).cell(("tree", PHP, None, "lz4"), figures(60.0, 250));
    assert_eq!((lab.analyse().run.complete, lab.analyse().run.seconds), (false, 9.0));
    lab.records.push(Record::End { at: 0, rounds: 9, seconds: 12.5 });
    let run = lab.analyse().run;
    assert_eq!((run.complete, run.rounds, run.seconds, run.machine.as_str()), (true, 9, 12.5, "invented"));
}
