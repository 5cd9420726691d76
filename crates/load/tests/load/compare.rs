//! A/B comparison with simulated blocks, and the caveats of a result.

use std::convert::Infallible;

use weigh_load::caveats::{Caveat, Sign, by_node, caveats};
use weigh_load::compare::{Comparison, Quantity, Side, compare};
use weigh_load::fault::{HttpFault, HttpFaultKind};
use weigh_load::result::{AgentResult, Checked, FaultCount, LoadResult, Preflight};

use crate::simulated::result;

fn ab(blocks: u32, seed: u64, mut run: impl FnMut(Side, u32) -> LoadResult) -> Comparison {
    compare(blocks, seed, |side, block| Ok::<_, Infallible>(run(side, block))).unwrap()
}

/// A block of 100 responses in a second on a machine that is slower by this factor; B takes twice as long, and half the
/// bytes.
fn block(side: Side, slower: f64) -> LoadResult {
    let twice = if side == Side::B { 2.0 } else { 1.0 };
    let mut result = result(slower * twice, &[0.01 * slower * twice; 100]);
    result.client.user_seconds = 0.2 * slower;
    result.client.system_seconds = 0.3 * slower * twice;
    let class = &mut result.classes[0];
    class.counts.body_bytes = (10_000.0 / twice) as u64;
    class.counts.wire_bytes = (12_000.0 / twice) as u64;
    for i in 1..=100 {
        class.times.ttfb.record((f64::from(i) * 1e6 * slower * twice) as u64);
    }
    result
}

fn line(comparison: &Comparison, quantity: Quantity) -> (f64, f64, f64, f64, f64) {
    let line = comparison.lines.iter().find(|line| line.quantity == quantity).unwrap();
    let ratio = line.ratio.unwrap();
    (line.a.unwrap(), line.b.unwrap(), ratio.median, ratio.low, ratio.high)
}

fn near(left: f64, right: f64) -> bool {
    // Histograms have three digits.
    (left / right - 1.0).abs() < 2e-3
}

#[test]
fn what_slows_a_pair_cancels() {
    // The machine is up to four times slower between pairs: the ratio does not change.
    let found = ab(8, 1, |side, block_index| block(side, 1.0 + 0.4 * f64::from(block_index)));
    for (quantity, expected) in [
        (Quantity::Rate, 0.5),
        (Quantity::ClientCpu, 1.6),
        (Quantity::TtfbP50, 2.0),
        (Quantity::TtfbP90, 2.0),
        (Quantity::TtfbP99, 2.0),
        (Quantity::ResponseP50, 2.0),
        (Quantity::ResponseP99, 2.0),
        (Quantity::BodyBytes, 0.5),
        (Quantity::WireBytes, 0.5),
    ] {
        let (_, _, median, low, high) = line(&found, quantity);
        assert!(
            near(median, expected) && near(low, expected) && near(high, expected),
            "{quantity:?} {median}"
        );
    }
    assert_eq!(found.lines.iter().map(|l| l.quantity).collect::<Vec<_>>(), Quantity::ALL);
    assert!(found.faults_a.is_empty() && found.faults_b.is_empty() && found.differences.is_empty());
}

#[test]
fn values_are_a_response_s_and_a_second_s() {
    let found = ab(6, 1, |side, _| block(side, 1.0));
    let a = |quantity| line(&found, quantity).0;
    assert!(near(a(Quantity::Rate), 100.0) && near(a(Quantity::ClientCpu), 0.005));
    assert!(near(a(Quantity::TtfbP50), 0.05) && near(a(Quantity::TtfbP90), 0.09));
    assert!(near(a(Quantity::TtfbP99), 0.099) && near(a(Quantity::ResponseP50), 0.01));
    assert_eq!((a(Quantity::BodyBytes), a(Quantity::WireBytes)), (100.0, 120.0));
    assert_eq!(line(&found, Quantity::BodyBytes).1, 50.0);
}

#[test]
fn blocks_alternate_in_an_order_of_the_seed() {
    let order = |seed| {
        let mut order = Vec::new();
        ab(10, seed, |side, index| {
            order.push((side, index));
            block(side, 1.0)
        });
        order
    };
    let first = order(7);
    assert_eq!(first, order(7));
    assert!((0..20).any(|seed| order(seed) != first));
    for (index, pair) in first.chunks(2).enumerate() {
        assert!(pair[0].0 != pair[1].0 && pair.iter().all(|p| p.1 as usize == index));
    }
    assert_eq!(first.iter().step_by(2).filter(|(side, _)| *side == Side::A).count(), 5);
}

#[test]
fn faults_of_a_side_are_told() {
    let fault = |kind, count| FaultCount {
        kind,
        count,
        request: "/".into(),
        example: HttpFault::new(kind, format!("the first of {count}")),
    };
    let found = ab(6, 1, |side, index| {
        let mut result = block(side, 1.0);
        if side == Side::B {
            result.faults.push(fault(HttpFaultKind::Truncated, u64::from(index) + 1));
        }
        if side == Side::B && index == 3 {
            result.faults.push(fault(HttpFaultKind::Reset, 2));
        }
        result
    });
    assert!(found.faults_a.is_empty());
    let told: Vec<_> = found.faults_b.iter().map(|f| (f.kind, f.count, f.example.message.as_str())).collect();
    assert_eq!(
        told,
        [(HttpFaultKind::Reset, 2, "the first of 2"), (HttpFaultKind::Truncated, 21, "the first of 1")]
    );
}

#[test]
fn a_side_that_answers_nothing_has_no_ratio() {
    let found = ab(6, 1, |side, _| if side == Side::A { block(side, 1.0) } else { result(1.0, &[]) });
    for line in &found.lines {
        assert!(line.a.is_some() && line.ratio.is_none(), "{line:?}");
        assert_eq!(line.b, (line.quantity == Quantity::Rate).then_some(0.0));
    }
    assert!(ab(1, 1, |side, _| block(side, 1.0)).lines.iter().all(|line| line.ratio.is_none()));
}

#[test]
fn pages_that_are_not_the_same_are_told() {
    let page = |status, sha256: &str, checked| Preflight {
        request: "/page".into(),
        status,
        decoded_bytes: Some(9),
        decoded_sha256: Some(sha256.repeat(8)),
        checked,
        ..Preflight::default()
    };
    let differences = |a: &Preflight, b: &Preflight| {
        let found = ab(2, 1, |side, _| {
            let mut result = block(side, 1.0);
            result.preflights = vec![if side == Side::A { a.clone() } else { b.clone() }];
            result
        });
        found.differences
    };
    let (one, two) = (page(200, "01234567", Checked::Bytes), page(200, "89abcdef", Checked::Bytes));
    assert!(differences(&one, &one).is_empty());
    let [difference] = &differences(&one, &two)[..] else { panic!() };
    assert_eq!(difference.request, "/page");
    assert_eq!(difference.a, "200, 9 bytes decoded, sha256 01234567…");
    assert_eq!(difference.b, "200, 9 bytes decoded, sha256 89abcdef…");
    assert!(differences(&one, &page(200, "89abcdef", Checked::Samples)).is_empty(), "it differs by itself");
    assert_eq!(differences(&one, &page(404, "01234567", Checked::Samples)).len(), 1);
}

#[test]
fn a_busy_thread_is_the_limit_of_a_closed_model() {
    let mut busy = block(Side::A, 1.0);
    busy.client.thread_shares = vec![0.2, 0.951];
    let [caveat] = caveats(&busy, true)[..] else { panic!() };
    assert_eq!(caveat, Caveat::SaturatedClient { sign: Sign::Busy { share: 0.951 } });
    assert_eq!(caveat.code(), "SATURATED-CLIENT");
    assert_eq!(
        caveat.sentence(),
        "the generator was the bottleneck, so this is not the server's rate: a thread used 95% of its core; \
         use more threads or another machine"
    );
    assert!(caveats(&busy, false).is_empty(), "an open model that is in time owes nothing");
    busy.client.thread_shares = vec![0.949];
    assert!(caveats(&busy, true).is_empty());
}

#[test]
fn the_one_agent_of_many_that_is_at_its_limit_is_named() {
    let of = |node: &str, share: f64| {
        let mut result = block(Side::A, 1.0);
        result.client.thread_shares = vec![share];
        AgentResult { node: node.into(), result, ..AgentResult::default() }
    };
    let agents = vec![of("10.0.0.1", 0.5), of("10.0.0.2", 0.96), of("10.0.0.3", 0.99)];
    let all = LoadResult { agents, ..block(Side::A, 1.0) };
    let busiest = Caveat::SaturatedClient { sign: Sign::Busy { share: 0.99 } };
    assert_eq!(by_node(&all, true), [(busiest, vec!["10.0.0.2".to_owned(), "10.0.0.3".to_owned()])]);
    assert_eq!(caveats(&all, true), [busiest]);
}

#[test]
fn lateness_is_held_against_the_response_time() {
    let late = |response: f64, late_ns: u64| {
        let mut result = result(1.0, &[response; 100]);
        (0..98).for_each(|_| result.client.lateness.record(1_000));
        (0..2).for_each(|_| result.client.lateness.record(late_ns));
        caveats(&result, false)
    };
    assert!(late(0.01, 900_000).is_empty(), "under a tenth of the response time");
    assert!(
        matches!(late(0.001, 900_000)[..], [Caveat::LateClient { .. }]),
        "nearly all of the response time"
    );
    assert!(late(0.1, 9_000_000).is_empty(), "under a tenth of the response time");
    assert!(matches!(
        late(0.1, 12_000_000)[..],
        [Caveat::LateClient { seconds }] if near(seconds, 0.012)
    ));
    let sentence = late(0.001, 2_000_000)[0].sentence();
    assert!(
        sentence.contains("the rate was met") && sentence.contains("at least 2.00 ms late"),
        "{sentence}"
    );
}

#[test]
fn a_thread_that_waits_for_its_processor_is_not_idle() {
    let mut waiting = block(Side::A, 1.0);
    waiting.client.thread_waits = vec![0.0, 0.019];
    assert!(caveats(&waiting, true).is_empty());
    waiting.client.thread_waits = vec![0.02, 0.3];
    for has_closed in [true, false] {
        assert_eq!(caveats(&waiting, has_closed), [Caveat::WaitingClient { share: 0.3 }]);
    }
    assert!(caveats(&waiting, true)[0].sentence().contains("waited for a processor during 30% of the block"));
}

#[test]
fn lateness_is_the_limit_of_a_rate_that_was_not_met() {
    let mut result = result(1.0, &[0.001; 100]);
    result.client.lateness.record(20_000_000);
    assert!(matches!(caveats(&result, false)[..], [Caveat::LateClient { .. }]));
    // Two of the 102 in a second are 20 ms of the schedule.
    result.classes[0].counts.scheduled = 102;
    let [caveat] = caveats(&result, false)[..] else { panic!() };
    assert!(matches!(caveat, Caveat::SaturatedClient { sign: Sign::Late { .. } }), "{caveat:?}");
    assert!(caveat.sentence().contains("this is not the server's rate"));
}

#[test]
fn a_rate_that_the_server_refused_is_not_the_generator_s_limit() {
    // Late enough to affect the times, but far from the share that was refused or not sent.
    for (faulted, dropped) in [(100, 0), (0, 100), (50, 50)] {
        let mut result = result(1.0, &[0.001; 100]);
        result.client.lateness.record(20_000_000);
        let counts = &mut result.classes[0].counts;
        (counts.scheduled, counts.faulted, counts.dropped) = (200, faulted, dropped);
        assert_eq!(caveats(&result, false), [], "{faulted} faulted, {dropped} dropped");
    }
}

#[test]
fn drops_are_the_generator_s_when_it_is_busy() {
    let mut dropped = block(Side::A, 1.0);
    dropped.classes[0].counts.dropped = 1;
    assert!(caveats(&dropped, false).is_empty(), "the server kept every connection busy");
    dropped.client.thread_shares = vec![0.99];
    let [caveat] = caveats(&dropped, false)[..] else { panic!() };
    assert_eq!(caveat, Caveat::SaturatedClient { sign: Sign::Dropped { dropped: 1, share: 0.99 } });
    assert!(caveat.sentence().contains("1 request was dropped while a thread used 99% of its core"));
    let json = serde_json::to_string(&caveat).unwrap();
    assert_eq!(json, r#"{"code":"saturated-client","sign":{"sign":"dropped","dropped":1,"share":0.99}}"#);
}
