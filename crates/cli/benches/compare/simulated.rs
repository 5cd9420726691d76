//! Runs whose records are simulated.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use weigh_answer::compare::{Comparison, Names};
use weigh_answer::report::{Report, RunFacts};
use weigh_model::cell::{Cell, Subject};
use weigh_model::payload::Payload;
use weigh_model::plan::{Plan, Runtime};
use weigh_model::protocol::{Phase, Samples};
use weigh_model::record::{Record, VisitRecord};
use weigh_model::setting::Setting;

use crate::common::{SEED, Targets, progress};
use crate::noise::{ALL, Noise, normal, observe};

const CONFIGURATIONS: usize = 60;
const ROUNDS: usize = 20;
/// The machine as a whole changes by this much between two runs, and each configuration by this much alone: standard
/// deviations of logarithms.
const COMMON: f64 = 0.05;
const OWN: f64 = 0.01;
const PAIRS: usize = 200;
/// Pairs in which one configuration is slower.
const INJECTED: usize = 50;

/// One of 60 configurations is 10% slower.
pub fn injected(targets: &mut Targets) {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let (mut exact, mut found) = (0, 0);
    for pair in 0..INJECTED {
        let slow = pair % CONFIGURATIONS;
        let findings = findings(Noise::Calm, Some((slow, 1.1)), &mut random);
        let own = format!("page/native/-/codec{slow}:1");
        found += usize::from(findings.contains(&own));
        exact += usize::from(!findings.is_empty() && findings.iter().all(|id| *id == own));
    }
    let share = |count: usize| format!("{count} of {INJECTED} pairs");
    targets.line(
        "a configuration 10% slower, found",
        &share(found),
        "at least 95%",
        found * 20 >= INJECTED * 19,
    );
    targets.line("and only it", &share(exact), "at least 90%", exact * 10 >= INJECTED * 9);
}

/// Nothing changed but the machine.
pub fn nothing_changed(targets: &mut Targets) {
    let mut random = ChaCha8Rng::seed_from_u64(SEED + 1);
    let mut wrong = 0;
    for pair in 0..PAIRS {
        let noise = ALL[pair % ALL.len()];
        let findings = findings(noise, None, &mut random);
        if !findings.is_empty() {
            progress(&format!("pair {pair}, {noise:?}: {findings:?}"));
        }
        wrong += usize::from(!findings.is_empty());
    }
    let measured = format!("{wrong} of {PAIRS} pairs have a finding");
    targets.line("simulated runs with nothing changed", &measured, "at most 5%", wrong * 20 <= PAIRS);
}

/// Configurations that differ in a pair of simulated runs, of which one may cost more in the second.
fn findings(noise: Noise, slow: Option<(usize, f64)>, random: &mut ChaCha8Rng) -> Vec<String> {
    let mut costs: Vec<f64> = (0..CONFIGURATIONS).map(|i| 1e5 * 1.05f64.powi(i as i32)).collect();
    let a = run(noise, &costs, random);
    let common = COMMON * normal(random);
    costs.iter_mut().for_each(|cost| *cost *= (common + OWN * normal(random)).exp());
    if let Some((at, factor)) = slow {
        costs[at] *= factor;
    }
    let b = run(noise, &costs, random);
    let comparison = Comparison::of(&a, &b, Names { a: "a".into(), b: "b".into() }, &[]);
    comparison.findings().map(|row| row.configuration.clone()).collect()
}

/// A run of these costs, encoding and decoding.
fn run(noise: Noise, costs: &[f64], random: &mut ChaCha8Rng) -> Report {
    let (encode, decode) = (observe(noise, costs, ROUNDS, random), observe(noise, costs, ROUNDS, random));
    let plan = plan(costs.len());
    let visit = |(cell, round): (usize, usize)| {
        let samples = |ns: f64| Samples { batch: 1, cpu_ns: vec![ns], wall_ns: vec![ns], preempted: 0 };
        let phases = BTreeMap::from([
            (Phase::Encode, samples(encode[cell][round])),
            (Phase::Decode, samples(decode[cell][round])),
        ]);
        Record::Visit(VisitRecord {
            cell: plan.cells[cell].id.clone(),
            round: round as u32 + 1,
            decoded_bytes: 100_000,
            encoded_bytes: 20_000,
            sha256_encoded: "0".repeat(64),
            verified: true,
            phases,
            ..VisitRecord::default()
        })
    };
    let visits = (0..ROUNDS).flat_map(|round| (0..costs.len()).map(move |cell| (cell, round)));
    let records: Vec<Record> = visits.map(visit).collect();
    Report::of(&RunFacts::default(), &plan, &records)
}

fn plan(count: usize) -> Plan {
    let cell = |number: usize| {
        let setting = Setting::at(format!("codec{number}"), 1);
        Cell {
            id: Cell::make_id("page", "native", None, &setting),
            subject: Subject::CODEC,
            payload: "page".into(),
            runtime: "native".into(),
            setting,
            keep: true,
            expected_seconds: 0.1,
            ..Cell::default()
        }
    };
    let payload = Payload {
        name: "page".into(),
        bytes: 100_000,
        items: vec![100_000],
        sha256: "0".repeat(64),
        ..Payload::default()
    };
    let runtime = Runtime { name: "native".into(), ..Runtime::default() };
    Plan {
        payloads: vec![payload],
        runtimes: vec![runtime],
        cells: (0..count).map(cell).collect(),
        ..Plan::default()
    }
}
