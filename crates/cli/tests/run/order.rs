//! Rounds: who is visited when, and with what request.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use weigh_model::cell::Subject;
use weigh_model::protocol::Phase;
use weigh_model::record::Record;

use crate::fake::{Lab, codec, name_of, visits};

fn many() -> Vec<(&'static str, crate::fake::Behaviour)> {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    // The further down, the slower and the smaller: all on the front, so that none is dominated.
    names.iter().zip(1u32..).map(|(n, i)| (*n, codec(f64::from(i * i), 0.5, 100 - u64::from(i)))).collect()
}

#[test]
fn each_round_visits_every_live_cell_once_in_an_order_of_its_own() {
    let mut lab = Lab::new(&many());
    lab.plan.policy.exhaustive = true;
    lab.plan.policy.max_rounds = 5;
    let (outcome, records) = lab.run();
    assert!(outcome.complete);
    let visits = visits(&records);
    assert_eq!(visits.len(), 5 * 8);
    let mut orders = BTreeSet::new();
    for (round, chunk) in visits.chunks(8).enumerate() {
        assert!(chunk.iter().all(|(_, r)| *r == round as u32 + 1), "rounds do not mix");
        let names: Vec<&str> = chunk.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 8);
        orders.insert(names.join(""));
    }
    assert!(orders.len() > 1, "the order is drawn afresh: {orders:?}");
    assert_eq!(lab.rounds, [(1, 8), (2, 8), (3, 8), (4, 8), (5, 8)]);
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let run = |seed| {
        let mut lab = Lab::new(&many());
        lab.plan.seed = seed;
        lab.run().1
    };
    assert_eq!(run(3), run(3));
    assert_ne!(visits(&run(3)), visits(&run(4)));
}

#[test]
fn slow_cells_come_after_quick_ones_in_every_round() {
    let mut codecs = many();
    codecs.insert(0, ("slow", codec(1200.0, 1.0, 10)));
    codecs.insert(4, ("slower", codec(2000.0, 1.0, 5)));
    let mut lab = Lab::new(&codecs);
    lab.plan.policy.exhaustive = true;
    lab.plan.policy.max_rounds = 4;
    let (_, records) = lab.run();
    for round in visits(&records).chunks(10) {
        assert!(round[..8].iter().all(|(name, _)| !name.starts_with("slow")), "{round:?}");
        assert!(round[8..].iter().all(|(name, _)| name.starts_with("slow")), "{round:?}");
    }
}

#[test]
fn the_first_visit_verifies_measures_memory_and_is_checked_independently() {
    let mut lab = Lab::new(&many());
    lab.plan.policy.exhaustive = true;
    lab.plan.policy.max_rounds = 9;
    let (_, records) = lab.run();
    let mut seen = BTreeSet::new();
    let (mut later, mut later_verified) = (0, 0);
    for record in &records {
        let Record::Visit(visit) = record else { continue };
        if seen.insert(name_of(&visit.cell).to_owned()) {
            assert!(visit.verified && !visit.peak_bytes.is_empty());
            assert_eq!(visit.independent.as_deref(), Some("fake decoder"));
        } else {
            assert_eq!(visit.independent, None);
            assert!(visit.peak_bytes.is_empty());
            later += 1;
            later_verified += u32::from(visit.verified);
        }
        assert!(visit.took > 0.0 && visit.at >= visit.took);
    }
    assert_eq!(lab.asked.checks.load(Ordering::Relaxed), 8);
    assert!(later_verified > 0 && later_verified < later / 2, "{later_verified} of {later} are verified");
}

#[test]
fn the_memory_of_a_slow_cell_in_php_is_measured_in_its_second_visit() {
    for (subject, expected) in
        [(Subject::PHP_CODEC, [false, true, false]), (Subject::CODEC, [true, false, false])]
    {
        let mut lab = Lab::new(&[("slow", codec(3000.0, 1.0, 5))]);
        lab.plan.policy.max_rounds = 3;
        lab.plan.cells[0].subject = subject;
        lab.run();
        let memory: Vec<bool> = lab.asked.visits.lock().unwrap().iter().map(|r| r.memory).collect();
        assert_eq!(memory, expected);
    }
}

#[test]
fn quick_cells_get_more_samples_a_visit_than_slow_ones() {
    let mut lab = Lab::new(&[
        ("quick", codec(0.1, 0.1, 9)),
        ("middle", codec(10.0, 1.0, 8)),
        ("slow", codec(800.0, 1.0, 7)),
    ]);
    lab.plan.policy.max_rounds = 2;
    lab.run();
    let samples = |name: &str| {
        let visits = lab.asked.visits.lock().unwrap();
        visits.iter().filter(|r| r.codec == name).map(|r| r.samples).collect::<Vec<u32>>()
    };
    assert_eq!(samples("quick"), [5, 5]);
    assert_eq!(samples("middle"), [3, 3]);
    assert_eq!(samples("slow"), [1, 1]);
}

#[test]
fn a_cell_with_a_serializer_has_the_codec_alone_beside_the_whole() {
    let mut lab = Lab::new(&[("gz", codec(1.0, 1.0, 5))]);
    lab.plan.cells[0].serializer = Some("igbinary".into());
    let (_, records) = lab.run();
    let Record::Visit(visit) = &records[0] else { panic!("{:?}", records[0]) };
    let phases: Vec<Phase> = visit.phases.keys().copied().collect();
    assert_eq!(phases, [Phase::Encode, Phase::Decode, Phase::Compress, Phase::Decompress]);
}
