//! Proofs of invented sites, whose truth is known.

use weigh_model::policy::{Amount, Change, Policy};
use weigh_model::protocol::{Fault, FaultKind};

use super::super::proof::{Line, Measured, Proof, Verdict, proof_document, prove};
use super::*;
use crate::gather::FaultRow;
use crate::policy::decide::decide_by;
use crate::report::Report;
use crate::row::Row;

/// Files that encoding makes smaller.
const TEXTS: [File; 4] = [FILES[0], FILES[1], FILES[2], FILES[3]];

fn texts() -> Site {
    let mut site = site(&TEXTS, &[40_000.0, 90_000.0, 60_000.0, 30_000.0], "server/gzip:1");
    let codings = vec!["br".to_owned(), "gzip".to_owned()];
    site.visitors.accept = vec![Accept { codings, share: 1.0, from: From::Given }];
    site
}

/// A run of a proof: today's method and the policy's, which takes this many times its CPU time and bytes, in a coding.
pub(super) fn proof_run(
    files: &[File],
    (times, bytes): (f64, f64),
    coding: &'static str,
    rounds: u32,
    noise: &dyn Fn(usize, u32) -> f64,
) -> Report {
    let Way(_, kind, _, fixed, per_byte, size) = WAYS[5];
    let after = Way("server/advised", kind, Some(coding), fixed * times, per_byte * times, size * bytes);
    report(files, &[WAYS[1], after], rounds, noise)
}

pub(super) fn proved(policy: &Policy, site: &Site, report: Report) -> Proof {
    let accept = site.visitors.accept[0].clone();
    prove(policy, site, &links(), &[Measured { accept, report }], &[])
}

fn line<'p>(proof: &'p Proof, metric: &str) -> &'p Line {
    proof.lines.iter().find(|line| line.metric == metric).unwrap_or_else(|| panic!("{metric}: {proof:?}"))
}

/// The noises of machines: neighbours only add.
fn noises(seed: u64) -> [Box<dyn Fn(usize, u32) -> f64>; 3] {
    let (one, two) = (busy(seed), busy(seed + 7919));
    let modes = move |cell, round| 1.0 + if two(cell, round) > 1.075 { 0.35 } else { 0.0 };
    [Box::new(calm), Box::new(one), Box::new(modes)]
}

#[test]
fn a_true_prediction_holds_and_a_planted_fault_is_found() {
    let site = texts();
    let (mut right, mut wrong, mut found, mut missed, mut all) = (0, 0, 0, 0, 0);
    for seed in 0..15 {
        for (at, noise) in noises(seed).iter().enumerate() {
            let policy = decided(&site, &[report(&TEXTS, &WAYS, 9, noise)], Objective::Time);
            let other = &noises(seed + 1000)[at];
            let of = |times| {
                line(&proved(&policy, &site, proof_run(&TEXTS, (times, 1.0), "br", 8, other)), "cpu").verdict
            };
            all += 1;
            // Six times the CPU time after the change is more than ten points of that before.
            let (same, more) = (of(1.0), of(6.0));
            right += usize::from(same == Verdict::Held);
            wrong += usize::from(matches!(same, Verdict::Worse | Verdict::Better));
            found += usize::from(more == Verdict::Worse);
            missed += usize::from(matches!(more, Verdict::Held | Verdict::Better));
        }
    }
    let share = |count: usize| count as f64 / f64::from(all);
    assert!(share(right) >= 0.8 && share(wrong) <= 0.05, "{right} and {wrong} of {all}");
    assert!(share(found) >= 0.95 && share(missed) <= 0.05, "{found} and {missed} of {all}");
}

#[test]
fn cpu_time_is_compared_at_the_rate_of_the_policy() {
    let site = texts();
    let run = || proof_run(&TEXTS, (1.0, 1.0), "br", 8, &calm);
    let busy_policy = decided(&site, &[report(&TEXTS, &WAYS, 9, &calm)], Objective::Time);
    // At the site's rate a response of gzip takes 400 µs more, and one that is sent as it is 100 µs.
    let more = [("server/gzip:1", 400e3), ("server/plain", 100e3)];
    let reports = [at_rate(report(&TEXTS, &WAYS, 9, &calm), "file-2", &more)];
    let quiet_policy = decided(&site, &reports, Objective::Time);
    let at_rate = |policy: &Policy| policy.decisions[0].at_rate.clone();
    assert_eq!(at_rate(&busy_policy), None);
    let own = at_rate(&quiet_policy).unwrap();
    assert_eq!((own.every_ms, own.points.len()), (50, 2));
    assert!((own.points[0][1] - 100e3).abs() < 1.0 && (own.points[1][1] - 400e3).abs() < 1.0, "{own:?}");
    // The proof is of a busy server; both sides take what the policy says beside it.
    let [busy, quiet] = [&busy_policy, &quiet_policy].map(|policy| proved(policy, &site, run()));
    let share = |proof: &Proof| line(proof, "cpu").measured.share().unwrap();
    assert_eq!([&busy, &quiet].map(|proof| line(proof, "cpu").verdict), [Verdict::Held; 2], "{quiet:?}");
    assert!(share(&busy) < share(&quiet) - 0.05, "{} {}", share(&busy), share(&quiet));
    assert!(quiet.load.contains("at 20 requests/s") && busy.load.contains("of a busy server"), "{quiet:?}");
}

#[test]
fn what_a_policy_promised_and_did_not_bring_is_worse_with_its_cause() {
    let site = texts();
    let policy = decided(&site, &[report(&TEXTS, &WAYS, 9, &calm)], Objective::Time);
    let proof = proved(&policy, &site, proof_run(&TEXTS, (60.0, 1.0), "br", 8, &calm));
    let cpu = line(&proof, "cpu");
    assert!(cpu.predicted.share().unwrap() < -0.5 && cpu.measured.share().unwrap() > 0.1, "{cpu:?}");
    assert_eq!((cpu.verdict, proof.verdict, proof.worse), (Verdict::Worse, Verdict::Worse, true));
    assert!(cpu.remark.as_ref().unwrap().contains("after the change it was "), "{cpu:?}");
    // Another coding than the policy says.
    let proof = proved(&policy, &site, proof_run(&TEXTS, (1.0, 1.3), "gzip", 8, &calm));
    let traffic = line(&proof, "traffic");
    assert_eq!((traffic.verdict, proof.verdict, proof.worse), (Verdict::Worse, Verdict::Worse, false));
    let cause = traffic.remark.as_ref().unwrap();
    assert!(
        cause.contains("is sent with gzip to clients that accept br, gzip; the policy says br"),
        "{cause}"
    );
    let shown = crate::format::terminal::text(&proof_document(&proof), &Default::default());
    assert!(shown.contains("assets, traffic: worse than predicted, "), "{shown}");
    assert!(shown.contains("1 worse than predicted"), "{shown}");
    // Nothing at all.
    let proof = prove(&policy, &site, &links(), &[], &[]);
    assert_eq!((proof.lines.len(), proof.verdict), (0, Verdict::Undecided));
}

#[test]
fn cold_rounds_and_files_with_few_rounds_change_no_verdict() {
    let site = texts();
    let policy = decided(&site, &[report(&TEXTS, &WAYS, 9, &calm)], Objective::Time);
    let cold = |cell: usize, round: u32| if round == 1 { 5.0 } else { calm(cell, round) };
    // The first cell is today's way of the first file.
    let mut report = proof_run(&TEXTS, (1.0, 1.0), "br", 6, &cold);
    let whole = proved(&policy, &site, report.clone());
    assert_eq!(line(&whole, "cpu").verdict, Verdict::Held, "{whole:?}");
    assert!(
        (line(&whole, "cpu").measured.share().unwrap() - line(&whole, "cpu").predicted.share().unwrap())
            .abs()
            < 0.01
    );
    let keep = |row: &mut Row| {
        for value in row.values.values_mut() {
            if let Some(drawn) = &mut value.drawn {
                drawn.rounds.truncate(1);
            }
        }
    };
    report.rows.iter_mut().take(1).for_each(keep);
    let part = proved(&policy, &site, report);
    for line in part.lines.iter().filter(|line| !line.modelled) {
        assert_eq!(line.verdict, Verdict::Held, "{line:?}");
    }
    let of_all = line(&whole, "traffic").predicted.before;
    assert!(line(&part, "traffic").predicted.before < of_all, "the prediction is that of the part");
    let open = part.open.join("\n");
    assert!(open.contains("1 configuration had fewer than 5 rounds"), "{open}");
    assert!(open.contains("81.8% of the requests that the prediction covers were compared"), "{open}");
    // Too few rounds of all.
    let few = proved(&policy, &site, proof_run(&TEXTS, (1.0, 1.0), "br", 5, &calm));
    assert_eq!((few.lines.len(), few.verdict), (0, Verdict::Undecided));
}

#[test]
fn why_nothing_was_measured_over_links_is_what_the_run_tells() {
    let site = texts();
    let policy = decided(&site, &[report(&TEXTS, &WAYS, 9, &calm)], Objective::Time);
    let said = |change: &dyn Fn(&mut Report)| {
        let mut report = proof_run(&TEXTS, (1.0, 1.0), "br", 8, &calm);
        change(&mut report);
        let proof = proved(&policy, &site, report);
        let mut open = proof.open.into_iter();
        open.find(|text| text.contains("response times over")).unwrap()
    };
    let id = format!("app.js/nginx/-/http@{}/server/advised (gzip)", links()[0].0.name);
    assert!(said(&|_| ()).contains("(no file of the sample was sent over one)"));
    assert!(
        said(&|report| report.unmeasured.push(id.clone())).contains("(no time was left for them: --budget)")
    );
    let fault = Fault { kind: FaultKind::Missing, message: "only root can make links".into(), remedy: None };
    let row = FaultRow { cell: id.clone(), round: 1, fault };
    assert!(said(&|report| report.faults.push(row.clone())).contains("(only root can make links)"));
}

/// A change with its interval.
fn share(value: f64, low: f64, high: f64) -> Amount {
    let (rounds_low, rounds_high) = (Some(low), Some(high));
    Amount { before: 1.0, after: 1.0 + value, rounds_low, rounds_high, ..Amount::default() }
}

#[test]
fn both_intervals_decide() {
    let unknown = |value: f64| Amount { before: 1.0, after: 1.0 + value, ..Amount::default() };
    let exact = |value: f64| share(value, value, value);
    let line = |predicted, measured| {
        let name = (Kind::Asset, "cpu", "CPU time".into());
        super::super::proof::line(name, predicted, measured, (6, 60.0), |_| None).unwrap()
    };
    for (predicted, measured, verdict) in [
        (exact(-0.001), share(-0.311, -0.325, -0.297), Verdict::Better),
        (exact(-0.001), share(-0.311, -0.325, 0.0), Verdict::Undecided),
        (exact(-0.001), share(-0.03, -0.325, 0.03), Verdict::Undecided),
        (share(-0.576, -0.647, -0.472), unknown(-0.495), Verdict::Undecided),
        (share(-0.576, -0.647, -0.472), share(-0.495, -0.5, -0.49), Verdict::Undecided),
        (share(-0.576, -0.58, -0.57), share(-0.495, -0.5, -0.49), Verdict::Worse),
        (share(-0.576, -0.58, -0.57), share(-0.56, -0.57, -0.55), Verdict::Held),
        (exact(-0.019), share(0.02, 0.015, 0.025), Verdict::Worse),
        (exact(-0.019), exact(-0.019), Verdict::Held),
        (exact(-0.5), share(0.2, 0.1, 0.3), Verdict::Worse),
        (exact(1.0), share(1.06, 1.04, 1.08), Verdict::Held),
        (unknown(-0.2), exact(-0.2), Verdict::Undecided),
    ] {
        let line = line(predicted, measured);
        assert_eq!(line.verdict, verdict, "{predicted:?} {measured:?}");
        assert_eq!(line.remark.is_some(), verdict == Verdict::Undecided, "{line:?}");
    }
    let said = |line: Line| line.remark.unwrap();
    // Half as wide is enough, which takes four times the rounds.
    let text = said(line(exact(-0.5), share(-0.5, -0.6, -0.4)));
    assert_eq!(text, "about 18 more rounds would decide it: weigh prove --budget 240s");
    let text = said(line(share(-0.5, -0.6, -0.4), share(-0.5, -0.51, -0.49)));
    assert!(text.contains("weigh advise --budget"), "{text}");
}

#[test]
fn a_prediction_reaches_as_far_as_its_rounds_its_sample_and_its_counts() {
    let site = texts();
    let of = |site: &Site, rounds: u32, noise: &dyn Fn(usize, u32) -> f64| -> Change {
        decided(site, &[report(&TEXTS, &WAYS, rounds, noise)], Objective::Time).decisions[0].change.clone()
    };
    let width = |amount: &Amount| amount.high.unwrap() - amount.low.unwrap();
    let rounds = |amount: &Amount| amount.rounds_high.unwrap() - amount.rounds_low.unwrap();
    let (quiet, loud) = (of(&site, 9, &calm), of(&site, 9, &busy(3)));
    assert!(rounds(&loud.core_hours) > rounds(&quiet.core_hours), "{quiet:?} {loud:?}");
    assert_eq!(rounds(&quiet.gb_out), 0.0, "bytes do not vary between rounds");
    assert!(width(&quiet.gb_out) < 0.01, "every file was measured, and requests were counted: {quiet:?}");
    let mut many = site.clone();
    many.strata.iter_mut().for_each(|stratum| stratum.files = Figure::counted(50.0));
    let sampled = of(&many, 9, &calm);
    assert!(width(&sampled.gb_out) > width(&quiet.gb_out) + 0.005, "{sampled:?}");
    assert_eq!(rounds(&sampled.core_hours), rounds(&quiet.core_hours));
    // One round tells no spread.
    assert_eq!(of(&site, 1, &calm).core_hours.rounds_low, None);
}

#[test]
fn a_decision_from_few_rounds_says_so() {
    let shown = |rounds| {
        let reports = [report(&TEXTS, &WAYS, rounds, &calm)];
        let decided = decide_by(&texts(), "", &links(), &reports, (Objective::Time, NOT_ENCODED)).0;
        let shown = crate::format::terminal::text(&document(&decided, &texts()), &Default::default());
        shown.trim_start().to_owned()
    };
    let few = shown(3);
    assert!(few.starts_with("So far 1 change."), "{few}");
    assert!(few.contains("Not settled for assets: some settings have 3 of 5 rounds."), "{few}");
    assert!(shown(5).starts_with("Make 1 change.\nSettled"), "{}", shown(5));
}
