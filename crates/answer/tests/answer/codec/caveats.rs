//! Caveats that follow from the records.

use weigh_answer::format::named;
use weigh_model::caveat::Caveat;
use weigh_model::payload::Origin;
use weigh_model::record::steal::Steal;
use weigh_model::record::{Record, StopReason};

use crate::codec::fixture::{Figures, Lab};
use weigh_answer::output::Options;

const FIGURES: Figures = Figures { encode: 100.0, decode: 25.0, bytes: 400 };

fn lab() -> Lab {
    Lab::new().payload("tree", 1000, 1).cell(("tree", "php8.2", None, "lz4"), FIGURES)
}

/// Gives every wall time of a cell this share of its CPU time.
fn set_wall(lab: &mut Lab, cell: &str, factor: f64) {
    for record in &mut lab.records {
        if let Record::Visit(visit) = record
            && visit.cell == cell
        {
            visit.phases.values_mut().for_each(|s| s.wall_ns = s.cpu_ns.iter().map(|c| c * factor).collect());
        }
    }
}

#[test]
fn a_quiet_settled_run_has_none() {
    let report = lab().report();
    assert!(report.caveats.is_empty(), "{:?}", report.caveats);
    assert!(report.rows[0].caveats.is_empty(), "{:?}", report.rows[0].caveats);
}

#[test]
fn few_samples() {
    let mut lab = lab().planned("tree", "php8.2", None, "zstd:19");
    lab.visit(1, FIGURES);
    let caveats = &lab.report().rows[1].caveats;
    assert!(caveats.contains(&Caveat::FewSamples { samples: 3 }), "{caveats:?}");
}

#[test]
fn unconverged_where_the_budget_ended_it() {
    let wobble = |round: u32| if round == 2 { 1.0 } else { 1.3 };
    let mut lab =
        Lab::new().payload("tree", 1000, 1).cell_with(("tree", "php8.2", None, "lz4"), FIGURES, wobble);
    let cell = lab.plan.cells[0].id.clone();
    for (reason, is_short) in [
        (StopReason::Dominated { by: "other".into() }, false),
        (StopReason::Placed, false),
        (StopReason::Rounds, false),
        (StopReason::Budget, true),
    ] {
        lab.records.push(Record::Stop { cell: cell.clone(), round: 9, reason });
        match lab.report().rows[0].caveats[..] {
            [Caveat::Unconverged { half_width, asked }] => {
                assert!(is_short && half_width > 0.02 && half_width < 0.4 && asked == 0.02, "{half_width}");
            }
            ref caveats => assert!(!is_short && caveats.is_empty(), "{caveats:?}"),
        }
    }
}

#[test]
fn rounds_in_two_clusters_are_named_with_both_figures() {
    // The quickest of seven rounds alone, or half of them, is another figure; the slowest alone is a disturbance.
    for (slow, clusters) in [
        (&[1.4, 4.2, 4.4, 5.0, 4.6, 4.3, 4.5][..], Some("1.40 ms in 1, 4.20–5.00 ms in 6")),
        (&[1.0, 1.1, 1.0, 1.7, 1.7, 1.8], Some("1.00–1.10 ms in 3, 1.70–1.80 ms in 3")),
        (&[1.4, 1.5, 1.4, 1.5, 1.4, 1.4, 4.8], None),
        (&[1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2], None),
    ] {
        let mut lab = Lab::new().payload("tree", 1000, 1).planned("tree", "php8.2", None, "brotli:9");
        for (round, factor) in (1..).zip(slow) {
            lab.visit(round, Figures { encode: factor * 1e6, decode: 25.0, bytes: 400 });
        }
        let report = lab.report();
        let is_it = |caveat: &&Caveat| matches!(caveat, Caveat::TwoClusters { .. });
        assert_eq!(report.rows[0].caveats.iter().filter(is_it).count(), usize::from(clusters.is_some()));
        let shown = |format: &str| {
            let rendered = named(format).unwrap().render(&report, &Options::default()).unwrap();
            rendered.iter().map(|file| String::from_utf8_lossy(&file.bytes).into_owned()).collect::<String>()
        };
        for format in ["terminal", "html"] {
            // The terminal breaks a long note into lines.
            let text = shown(format).split_whitespace().collect::<Vec<_>>().join(" ");
            match clusters {
                Some(clusters) => assert!(text.contains(clusters), "{format}: {text}"),
                None => assert!(!text.contains("two clusters"), "{format}: {text}"),
            }
        }
        assert_eq!(shown("json").contains(r#""two-clusters""#), clusters.is_some());
    }
}

#[test]
fn a_larger_budget_is_advised_only_where_the_budget_ended_the_cell() {
    let advice = |reason: Option<StopReason>| {
        let mut lab = lab().planned("tree", "php8.2", None, "zstd:19");
        lab.visit(1, FIGURES);
        let cell = lab.plan.cells[1].id.clone();
        lab.records.extend(reason.map(|reason| Record::Stop { cell, round: 1, reason }));
        let rendered = named("markdown").unwrap().render(&lab.report(), &Options::default()).unwrap();
        let text = String::from_utf8(rendered[0].bytes.clone()).unwrap();
        assert!(text.contains("1 configuration with too few samples."), "{text}");
        text
    };
    let budget = "Use a larger --budget.";
    for (reason, remedy) in [
        (Some(StopReason::Budget), budget),
        (Some(StopReason::Rounds), "in the study."),
        (Some(StopReason::Placed), "more rounds would not change the recommendation"),
        (
            Some(StopReason::Dominated { by: "other".into() }),
            "more rounds would not change the recommendation",
        ),
        (None, "Continue the run with --resume."),
    ] {
        let text = advice(reason.clone());
        assert!(text.contains(remedy), "{reason:?}: {text}");
        assert_eq!(text.contains(budget), reason == Some(StopReason::Budget), "{reason:?}: {text}");
    }
}

#[test]
fn what_was_not_visited_is_laid_to_the_budget_only_in_a_run_that_ended() {
    let mut lab = lab().planned("tree", "php8.2", None, "zstd:19");
    let said = |lab: &Lab| {
        let rendered = named("markdown").unwrap().render(&lab.interrupted(), &Options::default()).unwrap();
        String::from_utf8(rendered[0].bytes.clone()).unwrap()
    };
    let text = said(&lab);
    assert!(text.contains("the run was interrupted first"), "{text}");
    assert!(!text.contains("larger --budget"), "{text}");
    lab.records.push(Record::End { at: 1, rounds: 9, seconds: 1.0 });
    let text = said(&lab);
    assert!(text.contains("the budget ended first") && text.contains("larger --budget"), "{text}");
}

#[test]
fn unstable_bytes() {
    let mut lab = lab();
    lab.visit(10, Figures { bytes: 401, ..FIGURES });
    let caveats = &lab.report().rows[0].caveats;
    assert_eq!(caveats[..], [Caveat::Unstable { cell: "tree/php8.2/-/lz4".into() }]);
}

#[test]
fn noise_of_the_run_or_of_one_cell() {
    let mut lab = lab()
        .cell(("tree", "php8.2", None, "zstd:1"), FIGURES)
        .cell(("tree", "php8.2", None, "zstd:3"), FIGURES);
    set_wall(&mut lab, "tree/php8.2/-/lz4", 1.5);
    let report = lab.report();
    assert!(report.caveats.is_empty());
    assert_eq!(report.rows[0].caveats[..], [Caveat::NoisyMachine { wall_over_cpu: 1.5 }]);
    set_wall(&mut lab, "tree/php8.2/-/zstd:1", 1.5);
    let report = lab.report();
    assert_eq!(report.caveats[..], [Caveat::NoisyMachine { wall_over_cpu: 1.5 }]);
    assert!(report.rows.iter().all(|c| c.caveats.is_empty()), "said once, for the run");
}

#[test]
fn what_was_recorded_stands_first_and_once() {
    let mut lab = lab();
    let steal = Caveat::Steal { share: 0.2 };
    let cell = Some(lab.plan.cells[0].id.clone());
    for _ in 0..2 {
        lab.records.push(Record::Caveat { cell: None, caveat: steal.clone() });
    }
    lab.records.push(Record::Caveat { cell: cell.clone(), caveat: Caveat::FewSamples { samples: 2 } });
    lab.records.push(Record::Caveat { cell: Some("nobody".into()), caveat: steal.clone() });
    lab.records.extend([Record::Resumed { at: 1 }, Record::Resumed { at: 2 }]);
    let report = lab.report();
    assert_eq!(report.caveats[..], [steal, Caveat::Resumed { times: 2 }]);
    assert_eq!(report.rows[0].caveats[..], [Caveat::FewSamples { samples: 2 }]);
}

#[test]
fn content_that_is_not_what_it_seems() {
    let mut lab = lab().payload("page", 10, 1).payload("part", 10, 1);
    lab.plan.payloads[0].origin = Origin::Synthetic { imitates: "trees".into() };
    let Origin::Corpus { unpinned, .. } = &mut lab.plan.payloads[1].origin else { panic!() };
    *unpinned = Some("newer".into());
    lab.plan.payloads[2].origin = Origin::User { path: "p".into(), sampled: Some("first MB".into()) };
    assert_eq!(
        lab.report().caveats[..],
        [
            Caveat::Synthetic { payload: "tree".into() },
            Caveat::Unpinned { payload: "page".into(), why: "newer".into() },
            Caveat::Sampled { payload: "part".into(), blocks: "first MB".into() },
        ]
    );
}

#[test]
fn visits_from_which_the_hypervisor_took_time_are_named() {
    let mut lab = lab().cell(("tree", "php8.2", None, "zstd:1"), FIGURES);
    let cell = lab.plan.cells[0].id.clone();
    let of_cell = lab.records.iter_mut().filter_map(|record| match record {
        Record::Visit(visit) if visit.cell == cell => Some(visit),
        _ => None,
    });
    let mut visits = 0;
    for (at, visit) in of_cell.enumerate() {
        visits += 1;
        visit.steal = Some(Steal::of(0.3, if at == 1 { 0.1 } else { 0.01 }));
    }
    let report = lab.report();
    let told = Caveat::StolenVisits { visits: 1, of: visits, most: 0.25 };
    assert_eq!(report.rows[0].caveats[..], [told]);
    assert!(report.rows[1].caveats.is_empty());
}
