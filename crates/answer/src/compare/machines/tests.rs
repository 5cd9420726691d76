use super::*;
use crate::format::markdown;
use crate::output::Options;

/// A stored run with enough rounds for a test: those that it has, again.
fn stored(run: &str) -> Report {
    let mut report = crate::stored::report(run);
    for estimate in report.rows.iter_mut().flat_map(|row| row.values.values_mut()) {
        if let Some(drawn) = &estimate.drawn {
            let rounds = drawn.rounds.iter().cycle().zip(1..=8).map(|((_, amount), round)| (round, *amount));
            *estimate = Estimate::over_rounds(rounds.collect(), drawn.quantile).unwrap();
        }
    }
    report
}

/// The same run on a machine that takes this many times the CPU time.
fn slower(report: &Report, factor: f64) -> Report {
    let mut report = report.clone();
    for estimate in report.rows.iter_mut().flat_map(|row| row.values.values_mut()) {
        *estimate = estimate.scaled(factor);
    }
    report.run.machine = format!("slower {factor}");
    report
}

fn on<'r>(kind: &'r str, report: &'r Report, core_hour: Option<f64>) -> Measured<'r> {
    Measured { kind, report, core_hour }
}

fn text(of: &Machines) -> String {
    markdown::text(&document::blocks(of, &Options::default()), &[], &Options::default())
}

#[test]
fn the_price_of_a_core_hour_decides_and_what_would_change_it_is_said() {
    for run in ["codecs", "deliveries", "clients"] {
        let quick = stored(run);
        let slow = slower(&quick, 2.0);
        let of = |a, b| Machines::of(&[on("quick", &quick, a), on("slow", &slow, b)]).unwrap();
        let bare = of(None, None);
        assert_eq!((bare.priced, bare.machines[0].kind.as_str()), (false, "quick"), "{run}");
        let ratio = bare.machines[1].ratio.unwrap();
        assert!((ratio.value - 2.0).abs() < 1e-9 && ratio.claimed, "{run}: {ratio:?}");
        assert!(bare.configurations.iter().all(|one| one.costs[0].ratio.is_none()), "{run}");
        assert!(
            bare.configurations.iter().all(|one| one.costs.iter().all(|cost| cost.per_million.is_none()))
        );
        assert!(text(&bare).contains("--core-hour quick=PRICE --core-hour slow=PRICE"), "{}", text(&bare));

        let dear = of(Some(0.09), Some(0.02));
        assert_eq!(
            dear.machines[0].kind, "slow",
            "{run}: four and a half times the price for twice the speed"
        );
        let ratio = dear.machines[1].ratio.unwrap();
        assert!((ratio.value - 2.25).abs() < 1e-9, "{run}: {ratio:?}");
        assert!((dear.machines[1].as_cheap_at.unwrap() - 0.04).abs() < 1e-9, "{run}");
        for one in &dear.configurations {
            let [slow, quick] = one.costs.as_slice() else { panic!("two machines") };
            assert!((slow.cpu_ns / quick.cpu_ns - 2.0).abs() < 1e-9, "{run}: CPU times stay without prices");
            assert!((quick.per_million.unwrap() / (quick.cpu_ns / 3.6e12 * 0.09 * 1e6) - 1.0).abs() < 1e-9);
        }
        let text = text(&dear);
        assert!(
            text.contains("slow is the cheapest for this.") && text.contains("0.0400 per core-hour"),
            "{text}"
        );
    }
}

#[test]
fn one_price_for_two_machines_that_are_alike_is_no_difference() {
    let one = stored("codecs");
    let other = slower(&one, 1.04);
    let of = Machines::of(&[on("b", &other, Some(0.03)), on("a", &one, Some(0.03))]).unwrap();
    assert_eq!(of.machines[0].kind, "a");
    let ratio = of.machines[1].ratio.unwrap();
    assert!(!ratio.claimed && ratio.holds_one(), "{ratio:?}");
    assert!(text(&of).contains("not significantly cheaper than all others"), "{}", text(&of));
}

#[test]
fn what_only_one_machine_has_is_left_out_and_said() {
    let mut whole = stored("codecs");
    whole.run.environment.insert("kernel".into(), "one".into());
    let mut part = slower(&whole, 3.0);
    let gone = part.rows.remove(0).id().to_owned();
    part.run.environment.insert("kernel".into(), "another".into());
    let of =
        Machines::of(&[on("a", &whole, None), on("b", &part, None), on("c", &slower(&whole, 0.5), None)])
            .unwrap();
    let kinds: Vec<&str> = of.machines.iter().map(|machine| machine.kind.as_str()).collect();
    assert_eq!((kinds, of.left_out.contains(&gone)), (vec!["c", "a", "b"], true));
    assert!(of.configurations.iter().all(|one| one.id != gone && one.costs.len() == 3));
    assert!(of.changes.iter().any(|one| one.kind == "b" && one.change.what == "kernel"), "{:?}", of.changes);
    assert!(text(&of).contains("Not on all machines"));
}

#[test]
fn what_cannot_be_compared_is_one_line() {
    let (codecs, clients) = (stored("codecs"), stored("clients"));
    let refused = |all: &[Measured]| Machines::of(all).unwrap_err();
    assert!(refused(&[on("a", &codecs, None)]).contains("two machines or more"));
    assert!(refused(&[on("a", &codecs, None), on("a", &codecs, None)]).contains("two runs are of a"));
    assert!(refused(&[on("a", &codecs, None), on("b", &clients, None)]).contains("different studies"));
    let line = refused(&[on("a", &codecs, Some(1.0)), on("b\x1b[2J", &codecs, None)]);
    assert!(line.contains("is missing: --core-hour b") && !line.contains('\x1b'), "{line}");
    let mut other = codecs.clone();
    other.payloads[0].sha256 = "0".repeat(64);
    let line = refused(&[on("a", &codecs, None), on("b", &other, None)]);
    assert!(line.contains("a and b have another content"), "{line}");
}
