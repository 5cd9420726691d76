//! Analysis takes whatever records hold.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use weigh_model::protocol::{Phase, Samples};
use weigh_model::record::{Record, VisitRecord};

use crate::codec::fixture::Lab;

const SETTINGS: [(&str, Option<&str>); 6] = [
    ("identity", Some("serialize")),
    ("gzdeflate:6", Some("serialize")),
    ("gzdeflate:9", Some("serialize")),
    ("zstd:3", Some("serialize")),
    ("zstd:3", Some("igbinary")),
    ("symfony-deflate", None),
];

fn time() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => 1.0..1e9f64,
        1 => Just(0.0),
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-1.0), Just(f64::MAX), Just(f64::MIN_POSITIVE)],
    ]
}

fn samples() -> impl Strategy<Value = Samples> {
    (vec(time(), 0..4), vec(time(), 0..4), any::<u64>()).prop_map(|(cpu_ns, wall_ns, preempted)| Samples {
        batch: 1,
        cpu_ns,
        wall_ns,
        preempted,
    })
}

fn phases() -> impl Strategy<Value = BTreeMap<Phase, Samples>> {
    let phase = prop_oneof![
        4 => Just(Phase::Encode),
        4 => Just(Phase::Decode),
        1 => Just(Phase::Compress),
        1 => Just(Phase::Decompress)
    ];
    proptest::collection::btree_map(phase, samples(), 0..4)
}

prop_compose! {
    fn visit()(
        payload in 0..2usize,
        setting in 0..SETTINGS.len(),
        round in 0..9u32,
        decoded_bytes in prop_oneof![Just(0u64), 1..10_000_000u64, Just(u64::MAX)],
        encoded_bytes in prop_oneof![Just(0u64), 1..10_000_000u64, Just(u64::MAX)],
        dictionary_bytes in prop_oneof![3 => Just(0u64), 1 => any::<u64>()],
        phases in phases(),
        peak_bytes in proptest::collection::btree_map(Just(Phase::Encode), any::<u64>(), 0..2),
    ) -> (usize, usize, VisitRecord) {
        (payload, setting, VisitRecord {
            round,
            at: 1.0,
            took: 0.1,
            decoded_bytes,
            encoded_bytes,
            dictionary_bytes,
            sha256_encoded: encoded_bytes.to_string(),
            verified: true,
            phases,
            peak_bytes,
            ..VisitRecord::default()
        })
    }
}

fn lab() -> Lab {
    let mut lab = Lab::new().links(&[10.0, 0.0, 1000.0, f64::NAN], &[10.0, -1.0, f64::INFINITY]);
    for (payload, bytes) in [("small", 1000), ("large", 1_000_000)] {
        lab = lab.payload(payload, bytes, 3);
        for (setting, serializer) in SETTINGS {
            lab = lab.planned(payload, "php8.2", serializer, setting);
        }
    }
    lab
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_visits_are_analysed(visits in vec(visit(), 0..80)) {
        let mut lab = lab();
        for (payload, setting, mut visit) in visits {
            visit.cell = lab.plan.cells[payload * SETTINGS.len() + setting].id.clone();
            lab.records.push(Record::Visit(visit));
        }
        let report = lab.report();
        for cell in &report.rows {
            for phase in ["encode", "decode", "compress", "decompress"] {
                let Some(estimate) = cell.get(phase) else { continue };
                let part = |part: &str| cell.value(&format!("{phase}-{part}")).unwrap();
                prop_assert!(estimate.low.is_none_or(|low| low <= estimate.value));
                prop_assert!(estimate.high.is_none_or(|high| estimate.value <= high));
                prop_assert!(part("min") <= estimate.value && estimate.value <= part("median"));
                prop_assert!(part("samples") >= f64::from(estimate.rounds));
            }
            prop_assert!(!(cell.front && cell.dominated_by.is_some()));
        }
        for group in &report.groups {
            for cell in report.rows.iter().filter(|c| group.has(&c.cell.id)) {
                prop_assert_eq!(cell.front, group.front.contains(&cell.cell.id));
                if let Some(by) = &cell.dominated_by {
                    prop_assert!(group.front.contains(by));
                }
            }
        }
        for finding in &report.findings {
            prop_assert!(!finding.text.contains("NaN"), "{}", finding.text);
        }
        prop_assert_eq!(serde_json::to_string(&report).unwrap(), serde_json::to_string(&lab.report()).unwrap());
    }
}
