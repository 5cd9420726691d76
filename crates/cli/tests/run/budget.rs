//! The budget holds: the run's, and each cell's.

use proptest::prelude::*;
use weigh_model::record::{Record, StopReason};

use crate::fake::{Lab, codec, reason, stops, visits};

#[test]
fn a_visit_that_would_end_past_the_budget_is_not_started() {
    let mut lab = Lab::new(&[("quick", codec(1.0, 1.0, 10)), ("slow", codec(20_000.0, 10.0, 5))]);
    lab.plan.policy.budget_seconds = 10.0;
    let (outcome, records) = lab.run();
    assert_eq!(stops(&records)["slow"], (0, StopReason::Budget), "never measured: after round 0");
    assert_eq!(reason(&records, "quick"), StopReason::Settled);
    assert_eq!((outcome.measured, outcome.unmeasured, outcome.faulted), (1, 1, 0));
    assert!(outcome.seconds < 10.0);
}

#[test]
fn without_any_budget_nothing_is_measured_and_the_run_is_complete() {
    let mut lab = Lab::new(&[("a", codec(1.0, 1.0, 10)), ("b", codec(2.0, 1.0, 5))]);
    lab.plan.policy.budget_seconds = 0.0;
    let (outcome, records) = lab.run();
    assert!(outcome.complete && outcome.unmeasured == 2 && visits(&records).is_empty());
    assert!(stops(&records).values().all(|s| *s == (0, StopReason::Budget)));
}

#[test]
fn a_cell_ends_when_its_own_cpu_time_is_used_up() {
    let mut lab = Lab::new(&[("slow", codec(500.0, 100.0, 5))]);
    lab.plan.policy.cell_seconds = 2.2;
    let (_, records) = lab.run();
    // A visit encodes once in 0.5 s and decodes twice in 0.1 s: three fit, four do not.
    assert_eq!(stops(&records)["slow"], (3, StopReason::Budget));
}

#[test]
fn slow_cells_leave_quick_ones_the_time_for_five_rounds() {
    let mut codecs: Vec<(String, _)> =
        (1..=20).map(|i| (format!("q{i}"), codec(f64::from(i) * 5.0, 1.0, 100 - i as u64))).collect();
    codecs.push(("slow".into(), codec(10_000.0, 10.0, 5)));
    let codecs: Vec<_> = codecs.iter().map(|(n, b)| (n.as_str(), b.clone())).collect();
    let mut lab = Lab::new(&codecs);
    lab.plan.policy.budget_seconds = 32.0;
    lab.plan.policy.min_samples = 3;
    let (outcome, records) = lab.run();
    let settled = stops(&records).values().filter(|(_, r)| *r == StopReason::Settled).count();
    assert_eq!(settled, 20, "{:?}", stops(&records));
    assert!(outcome.seconds <= 32.0);
    assert_eq!(outcome.unmeasured, 0, "and the slow one is measured with what is left");
}

#[test]
fn short_of_time_some_groups_have_five_rounds_rather_than_all_fewer() {
    let names: Vec<String> = (0..8).map(|i| format!("c{i}")).collect();
    let cost = |i: usize| if i < 4 { 20.0 } else { 400.0 } + i as f64;
    let codecs: Vec<_> =
        names.iter().enumerate().map(|(i, n)| (n.as_str(), codec(cost(i), 10.0, 100 - i as u64))).collect();
    let mut lab = Lab::new(&codecs);
    let other = weigh_model::payload::Payload { name: "other".into(), ..lab.plan.payloads[0].clone() };
    lab.plan.payloads.push(other);
    lab.plan.cells[4..].iter_mut().for_each(|cell| cell.payload = "other".into());
    // Five rounds of all take some 10 s.
    lab.plan.policy.budget_seconds = 8.0;
    let (outcome, records) = lab.run();
    let of = |name: &str| visits(&records).iter().filter(|(visited, _)| visited == name).count();
    let rounds: Vec<usize> = names.iter().map(|name| of(name)).collect();
    assert!(rounds[..4].iter().all(|rounds| *rounds >= 5), "{rounds:?}");
    assert!(rounds[4..].iter().all(|rounds| (1..5).contains(rounds)), "{rounds:?}");
    assert!(outcome.seconds <= 8.0 && outcome.seconds > 7.0, "what is left is used: {}", outcome.seconds);
    assert!(
        stops(&records).values().skip(4).all(|stop| stop.1 == StopReason::Budget),
        "{:?}",
        stops(&records)
    );
}

/// Makes six cells two of each of three contents.
fn of_three_contents(lab: &mut Lab) {
    for at in 1..3 {
        let name = format!("other-{at}");
        let other = weigh_model::payload::Payload { name: name.clone(), ..lab.plan.payloads[0].clone() };
        lab.plan.payloads.push(other);
        lab.plan.cells[2 * at..2 * at + 2].iter_mut().for_each(|cell| cell.payload = name.clone());
    }
}

#[test]
fn short_of_time_the_first_contents_of_the_plan_have_their_rounds_first_where_that_is_asked() {
    let names: Vec<String> = (0..6).map(|i| format!("c{i}")).collect();
    // The first content is the dearest.
    let cost = |i: usize| if i < 2 { 400.0 } else { 100.0 };
    let codecs: Vec<_> =
        names.iter().enumerate().map(|(i, n)| (n.as_str(), codec(cost(i), 10.0, 10))).collect();
    let rounds = |is_in_order: bool| {
        let mut lab = Lab::new(&codecs);
        of_three_contents(&mut lab);
        (lab.plan.policy.budget_seconds, lab.plan.policy.in_order) = (6.0, is_in_order);
        let (_, records) = lab.run();
        let of = |name: &String| visits(&records).iter().filter(|(visited, _)| visited == name).count();
        names.iter().map(of).collect::<Vec<usize>>()
    };
    let in_order = rounds(true);
    assert!(in_order[..2].iter().all(|rounds| *rounds >= 5), "{in_order:?}");
    let drawn = rounds(false);
    assert!(drawn[..2].iter().all(|rounds| *rounds < 5), "the cheapest first: {drawn:?}");
}

#[test]
fn an_even_run_gives_all_the_same_rounds_and_the_first_contents_theirs_where_time_is_short() {
    let names: Vec<String> = (0..6).map(|i| format!("c{i}")).collect();
    let codecs: Vec<_> = names.iter().map(|n| (n.as_str(), codec(200.0, 10.0, 10))).collect();
    let rounds = |budget: f64, slower: f64| {
        let mut lab = Lab::new(&codecs);
        of_three_contents(&mut lab);
        lab.plan.cells.iter_mut().for_each(|cell| cell.expected_seconds /= slower);
        (lab.plan.policy.budget_seconds, lab.plan.policy.even) = (budget, true);
        let (outcome, records) = lab.run();
        // A round that has begun is finished.
        assert!(outcome.complete && outcome.seconds <= 1.1 * budget, "{outcome:?}");
        let of = |name: &String| visits(&records).iter().filter(|(visited, _)| visited == name).count();
        names.iter().map(of).collect::<Vec<usize>>()
    };
    assert_eq!(rounds(1e6, 1.0), [20; 6]);
    let whole = rounds(30.0, 1.0);
    assert!(whole[0] >= 6 && whole.iter().all(|count| *count == whole[0]), "{whole:?}");
    // For six rounds of one content.
    let part = rounds(9.0, 1.0);
    assert!(part[0] >= 6 && part[0] == part[1] && part[2..].iter().all(|count| *count < 6), "{part:?}");
    let slow = rounds(9.0, 3.0);
    assert!(slow[0] >= 6 && slow[0] == slow[1] && slow[4..] == [0, 0], "{slow:?}");
    assert_eq!(rounds(0.5, 1.0), [0; 6]);
}

#[test]
fn an_even_run_leaves_out_both_sides_of_a_comparison_or_none() {
    let names: Vec<String> = (0..4).map(|i| format!("c{i}")).collect();
    let codecs: Vec<_> = names.iter().map(|n| (n.as_str(), codec(200.0, 10.0, 10))).collect();
    // Four cells of one content.
    let rounds = |budget: f64| {
        let mut lab = Lab::new(&codecs);
        (lab.plan.policy.budget_seconds, lab.plan.policy.even) = (budget, true);
        let (_, records) = lab.run();
        let of = |name: &String| visits(&records).iter().filter(|(visited, _)| visited == name).count();
        names.iter().map(of).collect::<Vec<usize>>()
    };
    for budget in [1.0, 2.0, 4.0, 6.0, 8.0, 12.0] {
        let all = rounds(budget);
        assert!(all == [0; 4] || *all.iter().min().unwrap() >= 6, "{budget} s: {all:?}");
    }
}

#[test]
fn a_machine_slower_than_expected_is_noticed() {
    let mut codecs: Vec<(String, _)> =
        (1..=10).map(|i| (format!("q{i}"), codec(20.0 + f64::from(i), 1.0, 100 - i as u64))).collect();
    codecs.push(("slow".into(), codec(4_000.0, 10.0, 5)));
    let codecs: Vec<_> = codecs.iter().map(|(n, b)| (n.as_str(), b.clone())).collect();
    let mut lab = Lab::new(&codecs);
    // Everything takes four times what the plan expects; believed as it is, the slow one would fit.
    lab.plan.cells.iter_mut().for_each(|c| c.expected_seconds /= 4.0);
    lab.plan.policy.budget_seconds = 5.5;
    let (outcome, records) = lab.run();
    assert_eq!(stops(&records)["slow"], (0, StopReason::Budget));
    assert!(outcome.seconds <= 5.5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The run ends within its budget, but for the visit in flight when forecasts were too low.
    #[test]
    fn the_budget_holds_but_for_the_visit_in_flight(
        costs in proptest::collection::vec((1u32..3000, 1u32..300), 1..12),
        budget in 0.0..20.0f64, wrong in 0.2..5.0f64, seed: u64,
    ) {
        let names: Vec<String> = (0..costs.len()).map(|i| format!("c{i}")).collect();
        let codecs: Vec<_> = names.iter().zip(&costs).enumerate()
            .map(|(i, (n, (e, d)))| (n.as_str(), codec(f64::from(*e), f64::from(*d), 100 + i as u64)))
            .collect();
        let mut lab = Lab::new(&codecs);
        lab.plan.seed = seed;
        lab.plan.policy.budget_seconds = budget;
        lab.plan.cells.iter_mut().for_each(|c| c.expected_seconds *= wrong);
        let (outcome, records) = lab.run();
        prop_assert!(outcome.complete);
        prop_assert_eq!(stops(&records).len(), costs.len());
        let mut over = 0;
        for record in &records {
            if let Record::Visit(visit) = record {
                prop_assert!(visit.at - visit.took <= budget, "no visit begins past the budget");
                over += u32::from(visit.at > budget);
            }
        }
        prop_assert!(over <= 1);
    }
}

/// Of runs that settle after five rounds, that end with the budget, and that measure all rounds: from the second round on the time that is said to be
/// left is off by less than a fifth in the median.
#[test]
fn the_time_that_is_left_is_said_honestly() {
    let names: Vec<String> = (0..12).map(|i| format!("c{i}")).collect();
    let codecs: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(i, name)| (name.as_str(), codec(20.0 + 15.0 * i as f64, 5.0, 200 - 10 * i as u64)))
        .collect();
    for (name, budget, is_even, exhaustive) in [
        ("settles", 1e6, false, false),
        ("all rounds within the budget", 60.0, true, false),
        ("every round", 1e6, false, true),
    ] {
        let mut lab = Lab::new(&codecs);
        lab.plan.policy.budget_seconds = budget;
        (lab.plan.policy.even, lab.plan.policy.exhaustive) = (is_even, exhaustive);
        let (outcome, _) = lab.run();
        let from_second =
            lab.left.iter().filter(|(round, elapsed, _)| *round >= 2 && *elapsed < outcome.seconds);
        let mut errors: Vec<f64> =
            from_second.map(|(_, elapsed, left)| (left / (outcome.seconds - elapsed) - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        let median = errors[errors.len() / 2];
        assert!(median < 0.2, "{name}: {median} of {} visits, {:?}", errors.len(), lab.left);
    }
}
