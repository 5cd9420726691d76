//! A run that was cut off anywhere goes on as if it had not been.

use std::collections::BTreeSet;
use std::fs;

use proptest::prelude::*;
use weigh_model::caveat::Caveat;
use weigh_model::protocol::FaultKind;
use weigh_model::record::Record;
use weigh_run::dir::{RunDir, StoredRun};
use weigh_run::log;

use crate::fake::{Behaviour, Lab, codec, log_of, stops, visits};

fn small() -> Vec<(&'static str, Behaviour)> {
    let mut broken = codec(1.0, 1.0, 10);
    broken.fault = Some((1, FaultKind::Crash));
    vec![
        ("good", codec(1.0, 1.0, 10)),
        ("bad", codec(5.0, 1.0, 11)),
        ("small", codec(4.0, 1.0, 5)),
        ("x", broken),
    ]
}

/// What has to be the same however often a run was interrupted: who was visited when (in any order within a
/// round), and who stopped when and why.
type Essence = (BTreeSet<(String, u32)>, Vec<(String, u32, String)>, Vec<String>);

fn essence(records: &[Record]) -> Essence {
    let list = visits(records);
    let set: BTreeSet<_> = list.iter().cloned().collect();
    assert_eq!(set.len(), list.len(), "a cell was visited twice in a round: {list:?}");
    let stops = stops(records).into_iter().map(|(name, (round, why))| (name, round, format!("{why:?}")));
    let fault = |r: &Record| matches!(r, Record::Fault { .. }).then(|| format!("{r:?}"));
    (set, stops.collect(), records.iter().filter_map(fault).collect())
}

/// Opens the lab's directory again and measures on.
fn resume(lab: &mut Lab) -> Vec<Record> {
    let mut dir = RunDir::open(&lab.path()).unwrap();
    assert!(lab.measure(&mut dir).unwrap().complete);
    drop(dir);
    let log = log::read(&log_of(&lab.path())).unwrap();
    assert_eq!(log.torn_bytes, 0);
    assert!(matches!(log.records.last(), Some(Record::End { .. })));
    log.records
}

/// The files of a folder by name.
type Files = Vec<(String, Vec<u8>)>;

/// A complete run: its records, its log, and its payloads, which are gone by then.
fn complete_and_kept(lab: &mut Lab) -> (Vec<Record>, Vec<u8>, Files) {
    let mut dir = lab.create();
    let payloads = dir.path().join("payloads");
    let kept = fs::read_dir(&payloads).unwrap().map(|f| {
        let f = f.unwrap();
        (f.file_name().into_string().unwrap(), fs::read(f.path()).unwrap())
    });
    let kept: Vec<_> = kept.collect();
    lab.measure(&mut dir).unwrap();
    let bytes = fs::read(log_of(&lab.path())).unwrap();
    (dir.records().to_vec(), bytes, kept)
}

fn put_back(lab: &Lab, log: &[u8], payloads: &[(String, Vec<u8>)]) {
    let folder = lab.path().join("payloads");
    fs::create_dir_all(&folder).unwrap();
    payloads.iter().for_each(|(name, bytes)| fs::write(folder.join(name), bytes).unwrap());
    fs::write(log_of(&lab.path()), log).unwrap();
}

#[test]
fn cut_anywhere_the_run_completes_alike() {
    let mut lab = Lab::new(&small());
    let (records, bytes, payloads) = complete_and_kept(&mut lab);
    let whole = essence(&records);
    assert!(bytes.len() > 2000 && whole.0.len() > 5 && whole.2.len() == 1);
    // All cuts about the end of a line, and some within each.
    let is_at_an_end = |cut: usize| bytes[cut.saturating_sub(2)..bytes.len().min(cut + 2)].contains(&b'\n');
    for cut in (0..bytes.len()).filter(|cut| cut % 11 == 0 || is_at_an_end(*cut)) {
        put_back(&lab, &bytes[..cut], &payloads);
        lab.asked.visits.lock().unwrap().clear();
        let resumed = resume(&mut lab);
        assert_eq!(essence(&resumed), whole, "cut at byte {cut}");
        // Nothing that was recorded is measured again.
        let kept = log_records(&bytes[..cut]);
        let asked = lab.asked.visits.lock().unwrap().len();
        assert_eq!(visit_count(&kept) + asked, visit_count(&records), "cut at byte {cut}");
        assert_eq!(resumed[..kept.len()], kept[..], "cut at byte {cut}");
    }
}

fn log_records(bytes: &[u8]) -> Vec<Record> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("records.ndjson");
    fs::write(&path, bytes).unwrap();
    log::read(&path).unwrap().records
}

/// Visits and faults: what a worker was asked.
fn visit_count(records: &[Record]) -> usize {
    records.iter().filter(|r| matches!(r, Record::Visit(_) | Record::Fault { .. })).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    /// Interrupted again and again, each time somewhere else.
    #[test]
    fn interrupted_often_the_run_completes_alike(
        cuts in proptest::collection::vec(0.0..1.0f64, 1..5), seed: u64,
    ) {
        let mut lab = Lab::new(&small());
        lab.plan.seed = seed;
        let (records, mut bytes, payloads) = complete_and_kept(&mut lab);
        for cut in cuts {
            let at = (bytes.len() as f64 * cut) as usize;
            put_back(&lab, &bytes[..at], &payloads);
            let resumed = resume(&mut lab);
            prop_assert_eq!(essence(&resumed), essence(&records));
            bytes = fs::read(log_of(&lab.path())).unwrap();
        }
    }
}

#[test]
fn the_resumed_run_says_so_and_its_time_goes_on() {
    let mut lab = Lab::new(&small());
    lab.interrupt_before = Some(3);
    let mut dir = lab.create();
    let outcome = lab.measure(&mut dir).unwrap();
    assert!(!outcome.complete);
    let before = outcome.seconds;
    drop(dir);
    (lab.interrupt, lab.interrupt_before) = Default::default();
    let records = resume(&mut lab);
    assert_eq!(records.iter().filter(|r| matches!(r, Record::Resumed { .. })).count(), 1);
    let told = Record::Caveat { cell: None, caveat: Caveat::Resumed { times: 1 } };
    assert!(records.contains(&told));
    let facts = StoredRun::read(&lab.path()).unwrap().facts();
    assert!(facts.complete && facts.rounds >= 3);
    assert!(facts.seconds > before, "{} s after {before} s", facts.seconds);
    let at: Vec<f64> =
        records.iter().filter_map(|r| if let Record::Visit(v) = r { Some(v.at) } else { None }).collect();
    assert!(at.is_sorted(), "{at:?}");
}

#[test]
fn a_complete_run_is_left_as_it_is() {
    let mut lab = Lab::new(&small());
    let (_, records) = lab.run();
    let bytes = fs::read(log_of(&lab.path())).unwrap();
    assert_eq!(resume(&mut lab), records);
    assert_eq!(fs::read(log_of(&lab.path())).unwrap(), bytes);
}

#[test]
fn a_line_that_was_deleted_costs_its_visit_only() {
    let mut lab = Lab::new(&small());
    let (records, bytes, payloads) = complete_and_kept(&mut lab);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&b| b == b'\n').collect();
    let gone = records.iter().position(|r| matches!(r, Record::Visit(v) if v.round == 2)).unwrap();
    let rest: Vec<u8> = lines
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != gone && *i != lines.len() - 1)
        .flat_map(|(_, l)| l.to_vec())
        .collect();
    put_back(&lab, &rest, &payloads);
    let resumed = resume(&mut lab);
    assert!(visits(&resumed).len() >= visits(&records).len() - 1);
}
