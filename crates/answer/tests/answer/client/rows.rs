//! From records to rows, comparisons, computed calls and sentences, on invented runs.

use proptest::prelude::*;

use super::fixture::{Costs, client, hostile, lab, levels, many, versions};
use crate::codec::fixture::{Lab, row};
use weigh_answer::estimate::Estimate;
use weigh_answer::report::Report;
use weigh_answer::report::advice::StatementKind;
use weigh_answer::report::exhibit::comparison::{Comparison, Kind};
use weigh_answer::report::exhibit::prediction::{ComputedCalls, Operation};
use weigh_model::caveat::Caveat;
use weigh_model::client::ValueKind;
use weigh_model::record::{ClientVisit, Record, StopReason, VisitRecord};

const FIRST: &str = "integer/redis/phpredis/php7.4/9:1/one*4";
const NEWER: &str = "integer/redis/phpredis/php8.4/9:1/one*4";
const JIT: &str = "integer/redis/phpredis/php8.4+jit/9:1/one*4";
const PACED: &str = "integer/redis/phpredis/php8.4/9:1/one*4@2000";

fn estimate<'a>(report: &'a Report, id: &str, metric: &str) -> &'a Estimate {
    row(report, id).get(metric).unwrap_or_else(|| panic!("{id} has no {metric}"))
}

fn value(report: &Report, id: &str, metric: &str) -> f64 {
    estimate(report, id, metric).value
}

fn sentences<'a>(report: &'a Report, topic: &str) -> Vec<&'a str> {
    report.findings.iter().filter(|f| f.topic == topic).map(|f| f.text.as_str()).collect()
}

/// What the answer says of a part.
fn answer(report: &Report, part: StatementKind) -> Vec<&str> {
    let advice = report.advice.as_ref().unwrap();
    advice.sentences.iter().filter(|one| one.part == part).map(|one| one.text.as_str()).collect()
}

fn comparisons(report: &Report) -> &[Comparison] {
    report.exhibits.comparisons.as_ref().map_or(&[], |all| &all.0)
}

fn comparison<'a>(report: &'a Report, kind: Kind, cell: &str) -> &'a Comparison {
    let found = comparisons(report).iter().find(|c| c.kind == kind && c.cell == cell);
    found.unwrap_or_else(|| panic!("{kind:?} of {cell}"))
}

fn calls(report: &Report) -> &ComputedCalls {
    report.exhibits.computed_calls.as_ref().unwrap()
}

/// Changes every visit to a cell.
fn change(lab: &mut Lab, id: &str, how: impl Fn(u32, &mut ClientVisit)) {
    for record in &mut lab.records {
        if let Record::Visit(visit) = record
            && visit.cell == id
        {
            how(visit.round, visit.client.as_mut().unwrap());
        }
    }
}

#[test]
fn the_parts_of_the_cpu_time_add_up_and_rates_are_as_published() {
    for lab in [versions(), levels(), many()] {
        let report = lab.report();
        assert_eq!(report.rows.len(), lab.plan.cells.len());
        for row in &report.rows {
            let value = |metric| row.value(metric).unwrap_or_else(|| panic!("{} has no {metric}", row.id()));
            for (whole, parts) in [
                ("cpu", ["client-cpu", "store-cpu"]),
                ("client-cpu", ["client-user-cpu", "client-kernel-cpu"]),
                ("store-cpu", ["store-user-cpu", "store-kernel-cpu"]),
            ] {
                let sum: f64 = parts.iter().map(|part| value(part)).sum();
                assert!((value(whole) - sum).abs() < 1e-6 * value(whole), "{} {whole}", row.id());
            }
            let cpu = row.get("cpu").unwrap();
            assert!(cpu.high.unwrap() >= cpu.value && cpu.low.is_none(), "{cpu:?}");
            assert_eq!(value("transactions"), value("writes") + value("reads"));
            let client = row.cell.client.as_ref().unwrap();
            let workers = f64::from(client.workers);
            assert_eq!(value("transactions"), 7.0 * workers * client.transactions as f64);
            // Workers end one after the other: what they do together is less than the sum of what each does.
            let (one, all) = (value("process-rate"), value("combined-rate"));
            assert!(all <= one * workers + 1e-6 && all > one * workers * 0.9);
        }
    }
}

#[test]
fn shares_of_user_and_kernel_are_those_of_all_rounds() {
    let mut lab = versions();
    // Clocks tell the two apart by ticks: a round may be all kernel.
    change(&mut lab, FIRST, |round, visit| {
        if round == 2 {
            visit.client_system_ns += visit.client_user_ns;
            visit.client_user_ns = 0;
        }
    });
    let report = lab.report();
    let user = estimate(&report, FIRST, "client-user-cpu");
    let share = user.value / value(&report, FIRST, "client-cpu");
    assert!((share - 4.3 / 10.8 * 6.0 / 7.0).abs() < 0.01, "{share}");
    assert!(user.high.unwrap() > user.value * 1.1, "{user:?}");
}

#[test]
fn a_newer_php_stands_beside_the_first_one() {
    let report = versions().report();
    let newer = comparison(&report, Kind::Runtime, NEWER);
    assert_eq!((newer.beside.as_str(), newer.rounds), (FIRST, 7));
    let near = |metric: &str, expected: f64, by: f64| {
        let ratio = newer.ratio(metric).unwrap().value;
        assert!((ratio - expected).abs() < by, "{metric}: {ratio}");
    };
    near("combined-rate", 1.31, 0.02);
    near("cpu", 1.0 / 1.31, 0.02);
    near("peak-memory-round", 0.625, 1e-9);
    // The variant stands beside the first runtime, and beside its own PHP without it.
    assert_eq!(comparison(&report, Kind::Runtime, JIT).beside, FIRST);
    let jit = comparison(&report, Kind::Variant, JIT);
    assert_eq!(jit.beside, NEWER);
    assert!(!jit.ratio("combined-rate").unwrap().is_settled(), "{jit:?}");
    let said = sentences(&report, "runtime");
    assert!(said[0].starts_with("PHP 8.4 instead of PHP 7.4: 31% more throughput ("), "{}", said[0]);
    assert!(said[0].contains("37.5% less peak memory of PHP (37.5–37.5%)"), "{}", said[0]);
    let jit = said.iter().find(|s| s.starts_with("PHP 8.4 with JIT and PHP 8.4: no significant")).unwrap();
    assert!(jit.contains("throughput (") && jit.contains("CPU time per transaction"), "{jit}");
    // The answer says it once, and recommends no JIT that brings nothing.
    assert_eq!(answer(&report, StatementKind::Use), ["Use Memcached with php-memcached (PHP 8.4)."]);
    let gain = answer(&report, StatementKind::Gain);
    assert!(gain[1].starts_with("PHP 8.4 instead of PHP 7.4, integer: 23.7% less CPU time"), "{gain:?}");
}

#[test]
fn drivers_stand_beside_the_first_and_stores_by_their_quickest() {
    let report = versions().report();
    let driver = comparison(&report, Kind::Driver, "integer/redis/socket/php8.4/9:1/one*4");
    assert_eq!(driver.beside, NEWER);
    assert!(driver.ratio("client-cpu").unwrap().low > 1.1, "{driver:?}");
    let stores: Vec<_> = comparisons(&report).iter().filter(|c| c.kind == Kind::Store).collect();
    assert_eq!(stores.len(), 3, "one per runtime: {stores:?}");
    assert!(stores.iter().all(|c| c.cell.contains("memcached") && c.beside.contains("redis/phpredis")));
    // The one with the least CPU time is recommended, compared with the study's first.
    let gain = answer(&report, StatementKind::Gain);
    assert!(
        gain[0]
            .starts_with("integer, compared with Redis with phpredis: 16.1% less CPU time per transaction ("),
        "{gain:?}"
    );
    let split = sentences(&report, "split");
    assert!(split[0].contains(" Memcached, php-memcached: 19.7 µs, of it PHP "), "{split:?}");
}

#[test]
fn of_clients_without_a_significant_difference_the_package_is_recommended() {
    // A driver in plain PHP that costs as much as the extension, and comes first in the plan.
    let costs = |user: f64| Costs {
        cpu: (user, 6500.0, 7200.0),
        call: 45_000.0,
        peak: 1_000_000,
        ..Costs::default()
    };
    let number = |place: &str| client(place, ValueKind::Integer);
    let both = |plain: f64| {
        let lab = lab("clients", "Two drivers")
            .client("integer", "php8.4", number("redis/socket"), None, costs(plain))
            .client("integer", "php8.4", number("redis/phpredis"), None, costs(4300.0));
        lab.end().report()
    };
    let tied = both(4290.0);
    assert_eq!(answer(&tied, StatementKind::Use), ["Use Redis with phpredis."]);
    assert_eq!(
        answer(&tied, StatementKind::Limit)[0],
        "No significant difference: Redis over a plain socket."
    );
    assert!(sentences(&tied, "driver").is_empty(), "that is said once");
    let apart = both(1000.0);
    assert_eq!(answer(&apart, StatementKind::Use), ["Use Redis over a plain socket."]);
    assert!(sentences(&apart, "driver")[0].starts_with("Redis, phpredis instead of Redis, plain socket: "));
}

#[test]
fn a_store_inside_php_competes_with_none_that_machines_share() {
    let mut lab = versions();
    let is_local = |id: &str| id.contains("/memcached/");
    for record in &mut lab.records {
        let Record::Visit(visit) = record else { continue };
        if let Some(client) = visit.client.as_mut().filter(|_| is_local(&visit.cell)) {
            (client.server_user_ns, client.server_system_ns) = (None, None);
        }
    }
    let report = lab.report();
    assert_eq!(
        answer(&report, StatementKind::Use),
        [
            "Use Redis with phpredis (PHP 8.4) for several machines; Memcached with php-memcached (PHP 8.4) for one machine."
        ]
    );
}

/// As if redis had been named by its URL, and its process could not be read.
fn by_url() -> Lab {
    let mut lab = versions();
    lab.plan
        .stores
        .iter_mut()
        .filter(|s| s.name == "redis")
        .for_each(|s| s.url = Some("redis://127.0.0.1:1".into()));
    for record in &mut lab.records {
        let Record::Visit(visit) = record else { continue };
        if visit.cell.contains("/redis/")
            && let Some(client) = &mut visit.client
        {
            (client.server_user_ns, client.server_system_ns, client.server_pss) = (None, None, None);
        }
    }
    lab
}

#[test]
fn a_store_that_was_not_metered_is_missing_from_rankings_and_no_zero() {
    let report = by_url().report();
    let redis = report.row(NEWER).unwrap();
    assert!(redis.get("client-cpu").is_some() && redis.get("store-cpu").is_none());
    assert_eq!(redis.value("cpu"), None, "no sum of parts of which one is missing");
    assert!(redis.caveats.contains(&Caveat::NotMetered), "{:?}", redis.caveats);
    let stores: Vec<_> = comparisons(&report).iter().filter(|c| c.kind == Kind::Store).collect();
    assert!(stores.iter().all(|c| c.ratio("cpu").is_none() && c.ratio("client-cpu").is_some()), "{stores:?}");
    let all: Vec<&str> = report.findings.iter().map(|f| f.text.as_str()).collect();
    let split = sentences(&report, "split");
    assert!(
        split[0].contains("Redis, phpredis: PHP ") && split[0].contains("the store's part could not be read"),
        "{split:?}"
    );
    assert!(!all.iter().any(|text| text.contains("no process of its own")), "{all:?}");
    let store = sentences(&report, "store");
    assert!(store.iter().all(|text| !text.contains("CPU time per transaction")), "{store:?}");
    assert!(store.iter().any(|text| text.contains("CPU time of PHP per transaction")), "{store:?}");
    // Then the time for all transactions decides.
    let gain = answer(&report, StatementKind::Gain);
    assert!(gain[0].contains("less time per transaction (") && !gain[0].contains("CPU"), "{gain:?}");
}

#[test]
fn what_was_not_metered_stands_apart_from_the_ranking() {
    let mut lab = by_url();
    // Another store that is metered, so that there is something to rank.
    let memcached: Vec<_> = lab.plan.cells.iter().filter(|c| c.id.contains("/memcached/")).cloned().collect();
    assert!(!memcached.is_empty());
    for cell in memcached {
        let rename = |id: &str| id.replace("/memcached/", "/valkey/");
        let records: Vec<Record> = lab
            .records
            .iter()
            .filter_map(|record| match record {
                Record::Visit(visit) if visit.cell == cell.id => {
                    Some(Record::Visit(VisitRecord { cell: rename(&cell.id), ..visit.clone() }))
                }
                _ => None,
            })
            .collect();
        let mut other = cell.clone();
        other.id = rename(&cell.id);
        other.client.as_mut().unwrap().store = "valkey".into();
        lab.plan.cells.push(other);
        lab.records.extend(records);
    }
    let report = lab.report();
    let advice = report.advice.as_ref().unwrap();
    assert!(advice.sentences.iter().all(|one| !one.text.contains("CPU time")), "{advice:#?}");
    let split = sentences(&report, "split");
    assert!(
        split[0].contains("Redis, phpredis: PHP ") && split[0].contains("Valkey, php-memcached: "),
        "{split:?}"
    );
}

#[test]
fn a_store_without_a_process_is_still_told_as_one() {
    let mut lab = versions();
    for record in &mut lab.records {
        let Record::Visit(visit) = record else { continue };
        if let Some(client) = &mut visit.client {
            (client.server_user_ns, client.server_system_ns) = (None, None);
        }
    }
    let report = lab.report();
    assert_eq!(report.row(NEWER).unwrap().value("cpu"), report.row(NEWER).unwrap().value("client-cpu"));
    let split = sentences(&report, "split");
    assert!(split[0].contains("(the store has no process of its own)"), "{split:?}");
}

#[test]
fn nothing_is_claimed_of_too_few_rounds() {
    let mut lab = versions();
    lab.records.retain(|r| !matches!(r, Record::Visit(visit) if visit.round > 4));
    let four = lab.report();
    assert!(comparisons(&four).iter().all(|c| c.ratios.values().all(|ratio| !ratio.is_settled())));
    lab.records.retain(|r| !matches!(r, Record::Visit(visit) if visit.round > 1));
    let report = lab.report();
    assert!(comparisons(&report).is_empty() && sentences(&report, "driver").is_empty());
    assert!(report.rows.iter().all(|row| row.caveats.contains(&Caveat::FewSamples { samples: 1 })));
}

#[test]
fn failures_misses_and_what_was_never_sent_are_counted() {
    let mut lab = versions();
    change(&mut lab, FIRST, |round, visit| {
        visit.writes.failed = 1;
        visit.reads.failed = 2;
        visit.reads.hits -= 10;
        visit.reads.misses = 8;
        visit.dropped = u64::from(round);
        visit.workers[2].memory.peak = 9_000_000 + u64::from(round);
        visit.skew = visit.seconds() / 4.0;
    });
    let report = lab.report();
    for (metric, expected) in [
        ("writes", 2800.0),
        ("writes-failed", 7.0),
        ("reads-failed", 14.0),
        ("misses", 56.0),
        ("hits", 25_130.0),
        ("dropped", 28.0),
        // The most of all workers and rounds.
        ("peak-memory", 9_000_007.0),
    ] {
        assert_eq!(value(&report, FIRST, metric), expected, "{metric}");
    }
    assert!((value(&report, FIRST, "writes-made") - (1.0 - 7.0 / 2800.0)).abs() < 1e-12);
    let apart = |c: &Caveat| matches!(c, Caveat::Staggered { share, .. } if (share - 0.25).abs() < 0.01);
    let caveats = &row(&report, FIRST).caveats;
    assert!(caveats.iter().any(apart), "{caveats:?}");
}

#[test]
fn times_inside_calls_are_of_all_rounds() {
    let report = versions().report();
    let get = |part: &str| value(&report, NEWER, &format!("get-{part}"));
    assert_eq!(get("count"), 7.0 * 3600.0);
    assert!((get("p50") - 45e-6).abs() < 1e-6, "{}", get("p50"));
    assert!((get("p999") - 4.5e-3).abs() < 1e-4 && get("p90") < 60e-6 && get("max") >= get("p999"));
    assert!(row(&report, NEWER).get("get-due-p50").is_none());
    assert!(value(&report, PACED, "get-due-p50") > value(&report, PACED, "get-p50"));
    assert_eq!(sentences(&report, "rates").len(), 1);
}

#[test]
fn new_keys_are_told_by_what_one_takes() {
    let report = versions().report();
    let said = sentences(&report, "memory")[0];
    assert!(
        said.starts_with("4,000 new keys of record:40") && said.contains("PHP's memory does not grow"),
        "{said}"
    );
}

#[test]
fn the_measurement_corrects_the_model() {
    let report = levels().report();
    let calls = calls(&report);
    assert_eq!(report.links.len(), 1);
    let over: Vec<_> =
        calls.predictions.iter().filter(|p| p.link.is_some() && p.operation == Operation::Put).collect();
    assert_eq!(over.len(), 4);
    for prediction in over {
        let ratio = prediction.ratio.unwrap();
        // Two of a hundred calls of the fixture take a hundredfold, which is in the mean.
        let is_odd = prediction.cell.contains("lz4");
        assert!((2.5..3.5).contains(&ratio) != is_odd, "{}: {ratio}", prediction.cell);
        let sum = prediction.coding + prediction.transfer + prediction.round_trip + prediction.stored;
        assert!((sum - prediction.predicted).abs() < 1e-12);
    }
    let advice = calls.advice.iter().find(|a| a.link.is_some() && a.operation == Operation::Put).unwrap();
    assert!(advice.model.ends_with("lz4") && advice.measured.ends_with("zstd:3"), "{advice:?}");
    assert!(advice.corrected && advice.lost.unwrap().low > 2.0);
    let put = calls.break_even.iter().find(|b| b.operation == Operation::Put).unwrap();
    assert!((put.computed_mbit.unwrap() - 4.2).abs() < 0.1, "{put:?}");
    // Driver and store take the 50 µs that are left of most calls without a link.
    let stored = calls.stored.iter().find(|of| of.operation == Operation::Put).unwrap();
    assert!((stored.ns(36_000.0) - 50e3).abs() < 1e3 && stored.cells.len() == 4, "{stored:?}");
    assert!(put.computed < 1.0 && put.agrees == Some(true), "{put:?}");
    let said = sentences(&report, "advice");
    assert!(said.iter().any(|s| s.contains("go by the measurement")), "{said:#?}");
    let even = |s: &&str| {
        s.contains("the modelled break-even is 4.2 Mbit/s") && s.ends_with("the measurement agrees.")
    };
    assert!(said.iter().any(even), "{said:#?}");
    let setting = comparison(&report, Kind::Setting, &advice.measured);
    assert!(setting.beside.ends_with("identity") && setting.ratio("combined-rate").is_some());
}

#[test]
fn works_of_one_content_stand_together_in_the_plans_order() {
    let report = versions().report();
    let works: Vec<_> = report.groups.iter().map(|g| (g.payload(), g.factor("work"))).collect();
    assert_eq!(
        works,
        [
            ("integer", "9:1/one*4"),
            ("integer", "9:1/one*4@2000"),
            ("record:40", "9:1/one*4"),
            ("record:40", "writes/new*4"),
        ]
    );
}

#[test]
fn a_client_that_the_budget_ended_is_unconverged() {
    let mut lab = versions();
    change(&mut lab, FIRST, |round, visit| visit.client_user_ns *= u64::from(round));
    let caveats = |lab: &Lab| row(&lab.report(), FIRST).caveats.clone();
    let is_unconverged = |caveats: &[Caveat]| caveats.iter().any(|c| matches!(c, Caveat::Unconverged { .. }));
    assert!(!is_unconverged(&caveats(&lab)));
    for (reason, is_short) in [(StopReason::Placed, false), (StopReason::Budget, true)] {
        lab.records.push(Record::Stop { cell: FIRST.into(), round: 7, reason });
        assert_eq!(is_unconverged(&caveats(&lab)), is_short);
    }
}

#[test]
fn what_cannot_be_is_no_figure() {
    let report = hostile().report();
    assert_eq!((report.rows.len(), report.faults.len()), (2, 1));
    assert!(report.findings.iter().all(|f| f.cells.iter().all(|id| report.row(id).is_some())));
    let mut lab = versions();
    change(&mut lab, FIRST, |_, visit| visit.workers.iter_mut().for_each(|w| w.seconds = f64::NAN));
    assert!(row(&lab.report(), FIRST).get("combined-rate").is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn any_costs_give_results_that_hold_together(
        user in 0.0..1e7f64, system in 0.0..1e7f64, store in 0.0..1e7f64, call in 1.0..1e8f64, factor in 0.2..5.0f64
    ) {
        let costs = |by: f64| Costs {
            cpu: (user * by + 1.0, system * by, store * by), call: call * by, peak: 1_000_000, ..Costs::default()
        };
        let number = || client("redis/phpredis", ValueKind::Integer);
        let lab = lab("any", "Any")
            .client("integer", "php7.4", number(), None, costs(1.0))
            .client("integer", "php8.4", number(), None, costs(factor));
        let report = lab.end().report();
        for row in &report.rows {
            for metric in ["cpu", "client-cpu", "client-user-cpu", "client-kernel-cpu"] {
                let of = row.get(metric).unwrap();
                prop_assert!(of.low.is_none_or(|low| 0.0 <= low && low <= of.value), "{metric}: {of:?}");
                prop_assert!(of.high.is_none_or(|high| of.value <= high), "{metric}: {of:?}");
            }
            prop_assert!(row.value("get-p50") <= row.value("get-p99"));
        }
        let beside = &comparisons(&report)[0];
        let cpu = beside.ratio("cpu").unwrap();
        prop_assert!(cpu.low <= cpu.value && cpu.value <= cpu.high);
        prop_assert!((cpu.value / factor - 1.0).abs() < 0.05 || user + system + store < 1e4);
        prop_assert!((cpu.value * beside.ratio("combined-rate").unwrap().value - 1.0).abs() < 0.05);
    }
}
