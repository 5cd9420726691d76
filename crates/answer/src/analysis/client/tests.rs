//! From records to results, on invented runs.

use proptest::prelude::*;

use super::fixture::{Figures, Lab, client, hostile, levels, many, versions};
use super::model::{ClientAnalysis, ClientResult, Comparison, Kind, Operation, is_settled};
use crate::analysis::model::Relative;
use weigh_model::caveat::Caveat;
use weigh_model::client::ValueKind;
use weigh_model::record::{ClientVisit, Record};

fn result<'a>(analysis: &'a ClientAnalysis, id: &str) -> &'a ClientResult {
    analysis.cells.iter().find(|c| c.cell.id == id).unwrap_or_else(|| panic!("{id} has no result"))
}

fn sentences<'a>(analysis: &'a ClientAnalysis, topic: &str) -> Vec<&'a str> {
    analysis.findings.iter().filter(|f| f.topic == topic).map(|f| f.text.as_str()).collect()
}

fn comparison<'a>(analysis: &'a ClientAnalysis, kind: Kind, cell: &str) -> &'a Comparison {
    let found = analysis.comparisons.iter().find(|c| c.kind == kind && c.cell == cell);
    found.unwrap_or_else(|| panic!("{kind:?} of {cell}"))
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

const FIRST: &str = "integer/redis/phpredis/php7.4/9:1/one*4";
const NEWER: &str = "integer/redis/phpredis/php8.4/9:1/one*4";
const JIT: &str = "integer/redis/phpredis/php8.4+jit/9:1/one*4";

#[test]
fn the_parts_of_the_cpu_time_add_up_and_rates_are_as_published() {
    for lab in [versions(), levels(), many()] {
        let analysis = lab.analyse();
        assert_eq!(analysis.cells.len(), lab.plan.cells.len());
        for cell in &analysis.cells {
            let cpu = cell.cpu.unwrap();
            let server = cpu.server.unwrap();
            let sums = [
                (cpu.total.value, cpu.client.value + server.value),
                (cpu.client.value, cpu.client_user.value + cpu.client_system.value),
                (server.value, cpu.server_user.unwrap().value + cpu.server_system.unwrap().value),
            ];
            for (whole, parts) in sums {
                assert!((whole - parts).abs() < 1e-6 * whole, "{}", cell.cell.id);
            }
            assert!(cpu.total.low <= cpu.total.value && cpu.total.value <= cpu.total.high);
            let summary = cell.summary;
            assert_eq!(summary.transactions, summary.writes.count + summary.reads.count);
            let client = cell.cell.client.as_ref().unwrap();
            assert_eq!(summary.transactions, 7 * u64::from(client.workers) * client.transactions);
            let (one, all) = (summary.per_process.unwrap().value, summary.combined.unwrap().value);
            // Workers end one after the other: what they do together is less than the sum of what each does.
            assert!(
                all <= one * f64::from(client.workers) + 1e-6 && all > one * f64::from(client.workers) * 0.9
            );
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
    let cpu = result(&lab.analyse(), FIRST).cpu.unwrap();
    let share = cpu.client_user.value / cpu.client.value;
    assert!((share - 4.3 / 10.8 * 6.0 / 7.0).abs() < 0.01, "{share}");
    assert!(cpu.client_user.high > cpu.client_user.value * 1.1, "{cpu:?}");
}

#[test]
fn a_newer_php_stands_beside_the_first_one() {
    let analysis = versions().analyse();
    let newer = comparison(&analysis, Kind::Runtime, NEWER);
    assert_eq!((newer.beside.as_str(), newer.rounds), (FIRST, 7));
    assert!((newer.combined.unwrap().ratio - 1.31).abs() < 0.02, "{newer:?}");
    assert!((newer.cpu.unwrap().ratio - 1.0 / 1.31).abs() < 0.02);
    assert!((newer.memory.unwrap().ratio - 0.625).abs() < 1e-9);
    // The variant stands beside the first runtime, and beside its own PHP without it.
    assert_eq!(comparison(&analysis, Kind::Runtime, JIT).beside, FIRST);
    let jit = comparison(&analysis, Kind::Variant, JIT);
    assert_eq!(jit.beside, NEWER);
    assert!(!is_settled(&jit.combined.unwrap(), jit.rounds), "{jit:?}");
    let said = sentences(&analysis, "answer");
    assert!(said[0].starts_with("php8.4 has 1.31× ["), "{}", said[0]);
    assert!(
        said[0].contains("the transactions a second")
            && said[0].contains("0.625× [0.625, 0.625] the peak memory")
    );
    let jit = said.iter().find(|s| s.starts_with("php8.4+jit and php8.4 cannot be told apart")).unwrap();
    assert!(jit.contains("transactions a second (") && jit.contains("CPU time a transaction ("), "{jit}");
}

#[test]
fn drivers_stand_beside_the_first_and_stores_by_their_quickest() {
    let analysis = versions().analyse();
    let driver = comparison(&analysis, Kind::Driver, "integer/redis/socket/php8.4/9:1/one*4");
    assert_eq!(driver.beside, NEWER);
    assert!(driver.client_cpu.unwrap().low > 1.1, "{driver:?}");
    let stores: Vec<&Comparison> = analysis.comparisons.iter().filter(|c| c.kind == Kind::Store).collect();
    assert_eq!(stores.len(), 3, "one a runtime: {stores:?}");
    assert!(stores.iter().all(|c| c.cell.contains("memcached") && c.beside.contains("redis/phpredis")));
    assert!(
        sentences(&analysis, "answer").iter().any(|s| {
            s.starts_with("Least CPU time")
                && s.contains(": memcached by php-memcached (19.7 µs); then redis by phpredis")
        }),
        "{:#?}",
        sentences(&analysis, "answer")
    );
}

#[test]
fn nothing_is_claimed_of_too_few_rounds() {
    let ratio = Relative { ratio: 1.06, low: 1.05, high: 1.07 };
    assert!(is_settled(&ratio, 5) && !is_settled(&ratio, 4));
    assert!(is_settled(&Relative { ratio: 0.5, low: 0.4, high: 0.6 }, 2));
    assert!(!is_settled(&Relative { ratio: 1.0, low: 0.9, high: 1.1 }, 50));
    let mut lab = versions();
    lab.records.retain(|r| !matches!(r, Record::Visit(visit) if visit.round > 1));
    let analysis = lab.analyse();
    assert!(analysis.comparisons.is_empty() && sentences(&analysis, "driver").is_empty());
    assert!(analysis.cells.iter().all(|c| c.caveats.contains(&Caveat::FewSamples { samples: 1 })));
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
    let analysis = lab.analyse();
    let first = result(&analysis, FIRST);
    let summary = first.summary;
    assert_eq!((summary.writes.count, summary.writes.failed), (2800, 7));
    assert_eq!((summary.reads.failed, summary.reads.misses, summary.reads.hits), (14, 56, 25_130));
    assert!((summary.writes_made() - (1.0 - 7.0 / 2800.0)).abs() < 1e-12);
    assert_eq!(first.dropped, 28);
    let apart = |c: &&Caveat| matches!(c, Caveat::Staggered { share, .. } if (share - 0.25).abs() < 0.01);
    assert!(first.caveats.iter().any(|c| apart(&c)), "{:?}", first.caveats);
    assert_eq!(first.memory.unwrap().peak, 9_000_007, "the most of all workers and rounds");
}

#[test]
fn times_inside_calls_are_of_all_rounds() {
    let analysis = versions().analyse();
    let get = result(&analysis, NEWER).get.unwrap();
    assert_eq!(get.count, 7 * 3600);
    assert!((get.p50 - 45e-6).abs() < 1e-6, "{get:?}");
    assert!((get.p999 - 4.5e-3).abs() < 1e-4 && get.p90 < 60e-6 && get.max >= get.p999);
    assert!(result(&analysis, NEWER).get_response.is_none());
    let paced = result(&analysis, "integer/redis/phpredis/php8.4/9:1/one*4@2000");
    assert!(paced.get_response.unwrap().p50 > paced.get.unwrap().p50);
    assert_eq!(sentences(&analysis, "rates").len(), 1);
}

#[test]
fn new_keys_are_told_by_what_one_takes() {
    let said = versions().analyse();
    let said = sentences(&said, "memory");
    assert!(
        said[0].contains("With 4,000 new keys of record:40") && said[0].contains("stays as it is"),
        "{}",
        said[0]
    );
}

#[test]
fn the_measurement_corrects_the_model() {
    let analysis = levels().analyse();
    assert_eq!(analysis.links.len(), 1);
    let over = |p: &&super::model::Prediction| p.link.is_some() && p.operation == Operation::Put;
    let predictions: Vec<_> = analysis.predictions.iter().filter(over).collect();
    assert_eq!(predictions.len(), 4);
    for prediction in predictions {
        let ratio = prediction.ratio.unwrap();
        // Two of a hundred calls of the fixture take a hundredfold, which is in the mean.
        let is_odd = prediction.cell.contains("lz4");
        assert!((2.5..3.5).contains(&ratio) != is_odd, "{}: {ratio}", prediction.cell);
        assert!(
            (prediction.coding + prediction.transfer + prediction.round_trip - prediction.predicted).abs()
                < 1e-12
        );
    }
    let advice = analysis.advice.iter().find(|a| a.link.is_some() && a.operation == Operation::Put).unwrap();
    assert!(advice.model.ends_with("lz4") && advice.measured.ends_with("zstd:3"), "{advice:?}");
    assert!(advice.corrected && advice.lost.unwrap().low > 2.0);
    let put = analysis.break_even.iter().find(|b| b.operation == Operation::Put).unwrap();
    assert!((put.computed_mbit.unwrap() - 4.0).abs() < 0.1, "{put:?}");
    assert!(put.computed < 1.0 && put.agrees == Some(true), "{put:?}");
    let said = sentences(&analysis, "advice");
    assert!(said.iter().any(|s| s.contains("Go by the measurement")), "{said:#?}");
    assert!(
        said.iter().any(|s| s.contains("computed to break even at 4") && s.contains("as computed")),
        "{said:#?}"
    );
    let setting = comparison(&analysis, Kind::Setting, &advice.measured);
    assert!(setting.beside.ends_with("identity") && setting.combined.is_some());
}

#[test]
fn what_cannot_be_is_no_figure() {
    let analysis = hostile().analyse();
    assert_eq!((analysis.cells.len(), analysis.faults.len()), (2, 1));
    assert!(
        analysis
            .findings
            .iter()
            .all(|f| f.cells.iter().all(|id| analysis.cells.iter().any(|c| c.cell.id == *id)))
    );
    let mut lab = versions();
    change(&mut lab, FIRST, |_, visit| visit.workers.iter_mut().for_each(|w| w.seconds = f64::NAN));
    assert!(result(&lab.analyse(), FIRST).summary.combined.is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn any_costs_give_results_that_hold_together(
        user in 0.0..1e7f64, system in 0.0..1e7f64, store in 0.0..1e7f64, call in 1.0..1e8f64, factor in 0.2..5.0f64
    ) {
        let figures = |by: f64| Figures {
            cpu: (user * by + 1.0, system * by, store * by), call: call * by, peak: 1_000_000, ..Figures::default()
        };
        let number = || client("redis/phpredis", ValueKind::Integer);
        let lab = Lab::new("any", "Any")
            .cell("integer", "php7.4", number(), None, figures(1.0))
            .cell("integer", "php8.4", number(), None, figures(factor));
        let analysis = lab.end().analyse();
        for cell in &analysis.cells {
            let cpu = cell.cpu.unwrap();
            for q in [cpu.total, cpu.client, cpu.client_user, cpu.client_system] {
                prop_assert!(q.low <= q.value && q.value <= q.high && q.low >= 0.0, "{q:?}");
            }
            prop_assert!(cell.get.unwrap().p50 <= cell.get.unwrap().p99);
        }
        let beside = &analysis.comparisons[0];
        let cpu = beside.cpu.unwrap();
        prop_assert!(cpu.low <= cpu.ratio && cpu.ratio <= cpu.high);
        prop_assert!((cpu.ratio / factor - 1.0).abs() < 0.05 || user + system + store < 1e4);
        prop_assert!((cpu.ratio * beside.combined.unwrap().ratio - 1.0).abs() < 0.05);
    }
}
