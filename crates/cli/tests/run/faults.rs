//! A cell without a number is a row, and the others go on.

use weigh_model::protocol::FaultKind;
use weigh_model::record::{Record, StopReason};

use weigh_model::caveat::Caveat;
use weigh_model::record::caveats;

use crate::fake::{Lab, codec, name_of, reason, visits};

fn faults(records: &[Record]) -> Vec<(String, u32, FaultKind, String)> {
    let fault = |r: &Record| match r {
        Record::Fault { cell, round, fault } => {
            Some((name_of(cell).to_owned(), *round, fault.kind, fault.message.clone()))
        }
        _ => None,
    };
    records.iter().filter_map(fault).collect()
}

#[test]
fn a_fault_ends_its_cell_and_no_other() {
    let mut codecs = [("a", codec(1.0, 1.0, 10)), ("broken", codec(1.0, 1.0, 9)), ("c", codec(3.0, 1.0, 8))];
    codecs[1].1.fault = Some((1, FaultKind::Crash));
    let (outcome, records) = Lab::new(&codecs).run();
    assert_eq!(faults(&records), [("broken".into(), 1, FaultKind::Crash, "it was told to".into())]);
    assert_eq!(reason(&records, "broken"), StopReason::Fault);
    assert_eq!(reason(&records, "a"), StopReason::Settled);
    assert_eq!(reason(&records, "c"), StopReason::Settled);
    assert_eq!((outcome.measured, outcome.faulted, outcome.complete), (2, 1, true));
}

#[test]
fn a_fault_in_a_later_round_keeps_the_visits_before() {
    let mut codecs = [("flaky", codec(1.0, 1.0, 10))];
    codecs[0].1.fault = Some((2, FaultKind::Timeout));
    let (outcome, records) = Lab::new(&codecs).run();
    assert_eq!(visits(&records), [("flaky".to_owned(), 1)]);
    assert_eq!(faults(&records)[0].1, 2);
    assert_eq!((outcome.measured, outcome.faulted), (0, 1));
}

#[test]
fn a_faulted_cell_dominates_none() {
    let mut codecs = [("good", codec(1.0, 1.0, 10)), ("bad", codec(1.9, 1.0, 11))];
    codecs[0].1.fault = Some((2, FaultKind::Crash));
    let (_, records) = Lab::new(&codecs).run();
    assert_eq!(reason(&records, "bad"), StopReason::Settled);
}

#[test]
fn wrong_bytes_are_a_fault_and_never_a_number() {
    let mut codecs = [("wrong", codec(1.0, 1.0, 10)), ("good", codec(1.0, 1.0, 9))];
    codecs[0].1.wrong = true;
    let (_, records) = Lab::new(&codecs).run();
    let faults = faults(&records);
    assert_eq!((faults.len(), faults[0].2), (1, FaultKind::RoundTrip));
    assert!(faults[0].3.contains("what came back is not the payload text"), "{}", faults[0].3);
    assert!(visits(&records).iter().all(|(name, _)| name == "good"));
}

#[test]
fn an_independent_decoder_that_disagrees_is_a_fault() {
    let mut codecs = [("odd", codec(1.0, 1.0, 10))];
    codecs[0].1.disagreed = true;
    let (_, records) = Lab::new(&codecs).run();
    let faults = faults(&records);
    assert_eq!(faults[0].2, FaultKind::Independent);
    assert!(faults[0].3.contains("fake decoder"), "{}", faults[0].3);
}

#[test]
fn a_runtime_without_a_worker_is_a_fault() {
    let mut lab = Lab::new(&[("a", codec(1.0, 1.0, 10)), ("b", codec(1.0, 1.0, 9))]);
    let mut php = lab.plan.runtimes[0].clone();
    php.name = "php8.2".into();
    lab.plan.runtimes.push(php);
    lab.plan.cells[0].runtime = "php8.2".into();
    let (outcome, records) = lab.run();
    assert_eq!(faults(&records)[0].2, FaultKind::Missing);
    assert_eq!((outcome.measured, outcome.faulted), (1, 1));
}

#[test]
fn another_version_than_planned_is_refused_before_anything_is_recorded() {
    let mut lab = Lab::new(&[("a", codec(1.0, 1.0, 10))]);
    lab.version = "2".into();
    let mut dir = lab.create();
    let error = lab.measure(&mut dir).unwrap_err().to_string();
    assert_eq!(error, "native was 1 when this run was planned and is 2 now; start a new run");
    assert!(dir.records().is_empty());
}

#[test]
fn a_visit_from_which_the_hypervisor_took_time_is_marked() {
    let mut codecs = [("a", codec(1.0, 1.0, 10)), ("robbed", codec(1.0, 1.0, 9))];
    codecs[1].1.stolen = Some((2, 25));
    let (_, records) = Lab::new(&codecs).run();
    let visits = records.iter().filter_map(|record| match record {
        Record::Visit(visit) => Some(visit),
        _ => None,
    });
    let (robbed, calm): (Vec<_>, Vec<_>) = visits.partition(|visit| name_of(&visit.cell) == "robbed");
    let shares: Vec<(f64, bool)> =
        robbed.iter().map(|visit| visit.steal.unwrap()).map(|steal| (steal.share(), steal.marked)).collect();
    assert_eq!(shares[..3], [(0.0, false), (0.2, true), (0.0, false)]);
    let of = robbed.len() as u32;
    assert_eq!(caveats(&robbed), [Caveat::StolenVisits { visits: 1, of, most: 0.2 }]);
    assert!(caveats(&calm).is_empty());
}
