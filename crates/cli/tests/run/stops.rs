//! When cells are done, and why.

use proptest::prelude::*;
use weigh_model::caveat::Caveat;
use weigh_model::record::{Record, StopReason};

use crate::fake::{Lab, codec, name_of, reason, stops, visits};

#[test]
fn a_cell_with_narrow_intervals_is_settled_after_five_rounds() {
    let mut lab = Lab::new(&[("fine", codec(1.0, 1.0, 10))]);
    let (outcome, records) = lab.run();
    assert_eq!(stops(&records)["fine"], (5, StopReason::Settled));
    assert_eq!((outcome.rounds, outcome.measured, outcome.complete), (5, 1, true));
}

#[test]
fn a_noisy_cell_goes_on_to_the_last_round() {
    let mut noisy = codec(1.0, 1.0, 10);
    noisy.spread = 0.5;
    let mut lab = Lab::new(&[("noisy", noisy)]);
    lab.plan.policy.half_width = 0.0001;
    lab.plan.policy.max_rounds = 6;
    let (_, records) = lab.run();
    assert_eq!(stops(&records)["noisy"], (6, StopReason::Rounds));
}

#[test]
fn too_few_samples_do_not_settle() {
    let mut lab = Lab::new(&[("slow", codec(300.0, 1.0, 10))]);
    let (_, records) = lab.run();
    assert_eq!(stops(&records)["slow"], (5, StopReason::Placed), "one sample a visit, seven asked for");
    let mut kept = Lab::new(&[("slow", codec(300.0, 1.0, 10))]);
    kept.plan.cells[0].keep = true;
    let (_, records) = kept.run();
    assert_eq!(stops(&records)["slow"], (7, StopReason::Settled), "its own figures are shown");
}

#[test]
fn beaten_on_every_axis_ends_a_cell_as_soon_as_that_can_be_known() {
    let mut lab = Lab::new(&[("good", codec(1.0, 1.0, 10)), ("bad", codec(5.0, 1.0, 11))]);
    let (_, records) = lab.run();
    let by = "text/native/-/good".to_owned();
    assert_eq!(stops(&records)["bad"], (5, StopReason::Dominated { by }), "fewer rounds tell nothing");
    assert_eq!(reason(&records, "good"), StopReason::Settled);
}

#[test]
fn where_time_is_short_what_is_far_behind_leaves_after_two_rounds() {
    let all =
        [("good", codec(100.0, 1.0, 10)), ("near", codec(150.0, 1.0, 11)), ("far", codec(900.0, 1.0, 12))];
    let rounds = |budget: f64| {
        let mut lab = Lab::new(&all);
        lab.plan.policy.budget_seconds = budget;
        let (_, records) = lab.run();
        ["good", "near", "far"].map(|name| stops(&records)[name].clone())
    };
    let by = "text/native/-/good".to_owned();
    let [good, near, far] = rounds(7.0);
    assert_eq!(far, (2, StopReason::Dominated { by: by.clone() }));
    assert!(good.0 >= 5 && near.0 >= 5, "{good:?} {near:?}");
    assert_eq!(rounds(1e6)[2], (5, StopReason::Dominated { by }), "with time for all, five tell");
}

#[test]
fn rounds_in_two_clusters_go_on() {
    let mut split = codec(1.0, 1.0, 10);
    split.slow = vec![4, 5];
    split.neighbour = 2.0;
    let mut lab = Lab::new(&[("split", split)]);
    lab.plan.policy.half_width = 10.0;
    let (_, records) = lab.run();
    assert_eq!(stops(&records)["split"], (12, StopReason::Settled));
}

#[test]
fn a_narrow_gap_needs_the_paired_rounds() {
    let mut codecs = [("good", codec(1.0, 1.0, 10)), ("bad", codec(1.3, 1.0, 11))];
    codecs[1].1.spread = 0.02;
    let mut lab = Lab::new(&codecs);
    lab.plan.policy.half_width = 0.0001;
    let (_, records) = lab.run();
    let (round, reason) = &stops(&records)["bad"];
    assert_eq!(*round, 5, "the range of fewer ratios says little");
    assert!(matches!(reason, StopReason::Dominated { .. }), "{reason:?}");
}

/// Two cells that are noisier than is asked for, one with fewer bytes and this encode time, the other quicker.
fn two_noisy(small_ms: f64) -> Lab {
    let mut codecs = [("small", codec(small_ms, 1.0, 10)), ("quick", codec(1.0, 1.0, 20))];
    codecs.iter_mut().for_each(|c| c.1.spread = 0.08);
    let mut lab = Lab::new(&codecs);
    lab.plan.policy.half_width = 0.02;
    lab.plan.policy.max_rounds = 9;
    lab
}

#[test]
fn a_cell_whose_place_is_beyond_doubt_needs_no_narrow_interval() {
    let (_, records) = two_noisy(10.0).run();
    assert!(stops(&records).values().all(|s| *s == (5, StopReason::Placed)), "{:?}", stops(&records));

    let mut kept = two_noisy(10.0);
    kept.plan.cells[0].keep = true;
    let (_, records) = kept.run();
    assert_ne!(reason(&records, "small"), StopReason::Placed, "its own figures are shown");
}

#[test]
fn neighbours_on_the_front_go_on_until_they_are_as_exact_as_asked_for() {
    let mut lab = two_noisy(1.05);
    lab.plan.policy.max_rounds = 6;
    lab.plan.policy.half_width = 0.001;
    let (_, records) = lab.run();
    assert!(stops(&records).values().all(|s| *s == (6, StopReason::Rounds)), "{:?}", stops(&records));
}

/// Two cells with exact figures but for the rounds in which a neighbour was there, one with fewer bytes, the other quicker by this factor.
fn two_exact(factor: f64) -> Lab {
    let mut codecs = [("small", codec(factor, 1.0, 10)), ("quick", codec(1.0, 1.0, 20))];
    codecs[0].1.slow = vec![5];
    codecs[1].1.slow = vec![4];
    let mut lab = Lab::new(&codecs);
    lab.plan.policy.max_rounds = 16;
    lab
}

#[test]
fn exact_cells_go_on_while_tables_cannot_tell_which_is_on_the_front() {
    for (factor, until) in [(1.1, 8..16), (1.02, 5..8)] {
        let (_, records) = two_exact(factor).run();
        assert!(stops(&records).values().all(|s| until.contains(&s.0)), "{factor}: {:?}", stops(&records));
    }
}

#[test]
fn smaller_or_quicker_to_decode_is_not_dominated() {
    let quick = codec(1.0, 1.0, 10);
    for other in [codec(5.0, 1.0, 9), codec(5.0, 0.5, 11), codec(0.9, 3.0, 11)] {
        let mut lab = Lab::new(&[("quick", quick.clone()), ("other", other)]);
        let (_, records) = lab.run();
        let all: Vec<StopReason> = stops(&records).into_values().map(|(_, r)| r).collect();
        assert_eq!(all, [StopReason::Settled, StopReason::Settled]);
    }
}

#[test]
fn a_cell_whose_own_figures_are_shown_is_kept() {
    let mut lab = Lab::new(&[("good", codec(1.0, 1.0, 10)), ("bad", codec(5.0, 1.0, 11))]);
    lab.plan.cells[1].keep = true;
    let (_, records) = lab.run();
    assert_eq!(reason(&records, "bad"), StopReason::Settled);
}

#[test]
fn cells_of_another_payload_or_kind_do_not_compete() {
    let mut lab = Lab::new(&[("good", codec(1.0, 1.0, 10)), ("bad", codec(5.0, 1.0, 11))]);
    lab.plan.cells[1].serializer = Some("serialize".into());
    let (_, records) = lab.run();
    assert_eq!(reason(&records, "bad"), StopReason::Settled);

    let mut lab = Lab::new(&[("good", codec(1.0, 1.0, 10)), ("bad", codec(5.0, 1.0, 11))]);
    let mut other = lab.plan.payloads[0].clone();
    other.name = "other".into();
    lab.plan.payloads.push(other);
    lab.plan.cells[1].payload = "other".into();
    let (_, records) = lab.run();
    assert_eq!(reason(&records, "bad"), StopReason::Settled);
}

#[test]
fn an_exhaustive_run_ends_by_rounds_only() {
    let mut lab = Lab::new(&[("good", codec(1.0, 1.0, 10)), ("bad", codec(5.0, 1.0, 11))]);
    lab.plan.policy.exhaustive = true;
    lab.plan.policy.max_rounds = 8;
    lab.plan.policy.budget_seconds = 0.0;
    lab.plan.policy.cell_seconds = 0.0;
    let (_, records) = lab.run();
    assert_eq!(visits(&records).len(), 16);
    assert!(stops(&records).values().all(|stop| *stop == (8, StopReason::Rounds)));
}

#[test]
fn an_output_that_changes_between_rounds_is_a_caveat_once() {
    let mut codecs = [("changing", codec(1.0, 1.0, 10))];
    codecs[0].1.unstable = true;
    let (_, records) = Lab::new(&codecs).run();
    let caveats: Vec<&Caveat> = records
        .iter()
        .filter_map(|r| if let Record::Caveat { caveat, .. } = r { Some(caveat) } else { None })
        .collect();
    assert!(caveats.contains(&&Caveat::Unstable { cell: "text/native/-/changing".into() }));
    assert_eq!(caveats.iter().filter(|c| matches!(c, Caveat::Unstable { .. })).count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever the codecs cost: every cell stops once, and none that is on the front of encode time and
    /// encoded bytes is called dominated.
    #[test]
    fn the_front_is_never_dominated(
        costs in proptest::collection::vec((1u32..60, 1u32..20, 1u64..30), 1..12),
    ) {
        let names: Vec<String> = (0..costs.len()).map(|i| format!("c{i}")).collect();
        let codecs: Vec<_> = names.iter().zip(&costs)
            .map(|(n, (e, d, b))| (n.as_str(), codec(f64::from(*e) / 4.0, f64::from(*d) / 4.0, *b)))
            .collect();
        let mut lab = Lab::new(&codecs);
        lab.plan.policy.max_rounds = 6;
        let (outcome, records) = lab.run();
        let stops = stops(&records);
        prop_assert!(outcome.complete);
        prop_assert_eq!(stops.len(), costs.len());
        let points: Vec<[f64; 2]> = costs.iter().map(|(e, _, b)| [f64::from(*e), *b as f64]).collect();
        for (name, point) in names.iter().zip(&points) {
            let front = weigh_stats::dominator(point, &points).is_none();
            let dominated = matches!(stops[name].1, StopReason::Dominated { .. });
            prop_assert!(!(front && dominated), "{} is on the front", name);
            if let StopReason::Dominated { by } = &stops[name].1 {
                let (i, j): (usize, usize) =
                    (name[1..].parse().unwrap(), name_of(by)[1..].parse().unwrap());
                prop_assert!(costs[j].0 < costs[i].0 && costs[j].2 <= costs[i].2);
            }
        }
    }
}
