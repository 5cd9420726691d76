//! The stop rule and the report together under simulated noise: a run is decided after every round, and its report says what differs.
//!
//! Costs are given, so that every claim is known to be right or wrong: a cell of which a sentence says that another beats it, or that was stopped for it. Random
//! numbers are seeded; limits leave room for the chance of a few dozen runs. docs/dev/SIMULATIONS.md has the table of many more.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use weigh_answer::report::{Report, RunFacts};
use weigh_model::plan::Plan;
use weigh_model::protocol::{Phase, Samples};
use weigh_model::record::{Record, VisitRecord};
use weigh_run::state::State;
use weigh_run::stop;

use crate::fake::{Lab, codec};
use noise::{ALL, Noise, observe};

#[allow(dead_code, reason = "the coverage of intervals is the statistics' own test")]
#[path = "../../../stats/tests/simulation/noise.rs"]
mod noise;

/// Fewer bytes from cell to cell, so that each one that is slower than the next is off the front.
const CELLS: usize = 50;

fn plan(max_rounds: u32) -> Plan {
    let names: Vec<String> = (0..CELLS).map(|i| format!("c{i:03}")).collect();
    let codecs: Vec<_> = names.iter().map(|name| (name.as_str(), codec(1.0, 1.0, 10))).collect();
    let mut plan = Lab::new(&codecs).plan.clone();
    plan.policy.max_rounds = max_rounds;
    plan
}

/// The records of a run of cells with these encode times (ms), as the stop rule lets it go on.
fn records(plan: &Plan, noise: Noise, costs: &[f64], random: &mut ChaCha8Rng) -> Vec<Record> {
    let seen = observe(noise, costs, plan.policy.max_rounds as usize, random);
    let mut state = State::new(plan);
    let mut records = Vec::new();
    for round in 1..=plan.policy.max_rounds {
        let visits: Vec<Record> = state
            .live()
            .into_iter()
            .map(|i| {
                let samples =
                    |ns: f64| Samples { batch: 1, cpu_ns: vec![ns; 3], wall_ns: vec![ns; 3], preempted: 0 };
                let encode = samples(seen[i][round as usize - 1] * 1e6);
                Record::Visit(VisitRecord {
                    cell: plan.cells[i].id.clone(),
                    round,
                    encoded_bytes: 1000 - i as u64,
                    decoded_bytes: 22,
                    phases: BTreeMap::from([(Phase::Encode, encode), (Phase::Decode, samples(1e6))]),
                    ..VisitRecord::default()
                })
            })
            .collect();
        for record in visits {
            state.apply(&record).unwrap();
            records.push(record);
        }
        for (cell, reason) in stop::decide(plan, &state, round) {
            let record = Record::Stop { cell: plan.cells[cell].id.clone(), round, reason };
            state.apply(&record).unwrap();
            records.push(record);
        }
    }
    records
}

/// Cells that are said to be beaten.
fn beaten(plan: &Plan, records: &[Record]) -> Vec<usize> {
    let report = Report::of(&RunFacts::default(), plan, records);
    let is_stopped = |row: &weigh_answer::row::Row| {
        matches!(row.stop, Some(weigh_model::record::StopReason::Dominated { .. }))
    };
    let rows = report.rows.iter().enumerate();
    let is_beaten = |row: &weigh_answer::row::Row| {
        let by = row.dominated_by.as_deref().and_then(|id| report.row(id)?.get("encode"));
        by.zip(row.get("encode")).is_some_and(|(by, own)| weigh_answer::verdict::is_less(by, own))
    };
    rows.filter(|(_, row)| is_beaten(row) || is_stopped(row)).map(|(i, _)| i).collect()
}

#[test]
fn where_all_cost_the_same_none_is_beaten() {
    let plan = plan(12);
    let mut wrong = 0;
    for noise in ALL {
        for seed in 0..3 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let records = records(&plan, noise, &[1.0; CELLS], &mut random);
            wrong += usize::from(!beaten(&plan, &records).is_empty());
        }
    }
    assert!(wrong <= 3, "{wrong} of 24 runs claim a difference, where 0.05 of many may");
}

#[test]
fn what_costs_more_is_found() {
    // The first cell has the most bytes, and takes longer than all others.
    for (factor, rounds, noises) in [
        (1.1, 12, &[Noise::Calm, Noise::Drift, Noise::SlowRounds][..]),
        (2.0, 5, &[Noise::Calm, Noise::Exponential]),
    ] {
        let plan = plan(rounds);
        for noise in noises {
            let found = (0..4).filter(|seed| {
                let mut costs = [1.0; CELLS];
                costs[0] = factor;
                let mut random = ChaCha8Rng::seed_from_u64(100 + seed);
                beaten(&plan, &records(&plan, *noise, &costs, &mut random)).contains(&0)
            });
            let found = found.count();
            assert!(found == 4, "{noise:?}, {factor}: found in {found} of 4 runs");
        }
    }
}
