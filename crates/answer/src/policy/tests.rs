//! Decisions on invented sites: the figures are plausible and were never measured.

mod proof;
mod simulated;
mod sites;
mod sums;

use weigh_model::cell::{NO_PHP, Subject, Transport};
use weigh_model::link::LinkSpec;
use weigh_model::page::Moment;
use weigh_model::policy::{Amount, Change, ContentChange, Encoder, Objective, Policy};
use weigh_model::site::{
    Accept, Alias, Figure, From, Kind, Limits, MachinePrice, Prices, SCHEMA, Sample, Site, Sources, Stratum,
    Today, Visitors,
};
use weigh_model::way::WayKind;

use super::coded::Coded;
use super::*;
use crate::block::Block;
use crate::choose::TOLERANCE;
use crate::metric::delivery::CPU;
use crate::money::{HOUR, Weights};
use crate::policy::change::longer;
use crate::policy::decide::decide_by;
use crate::policy::setup::choose;
use crate::report::Report;
use crate::subject::delivery::fixture::{CellSpec, Figures, Lab};

/// A file: format, bytes, and the share of its bytes that gzip leaves.
pub(super) type File = (&'static str, u64, f64);

const FILES: [File; 5] = [
    ("text/javascript", 600, 0.7),
    ("text/javascript", 20_000, 0.32),
    ("text/javascript", 200_000, 0.3),
    ("text/css", 60_000, 0.2),
    ("image/png", 80_000, 1.0),
];

/// A method: its name, kind and coding, CPU nanoseconds per response and per byte, and its bytes ÷ those of gzip 6.
#[derive(Clone, Copy)]
pub(super) struct Way(pub &'static str, WayKind, Option<&'static str>, f64, f64, f64);

pub(super) const WAYS: [Way; 6] = [
    Way("server/plain", WayKind::Plain, None, 20e3, 0.05, 1.0),
    Way("server/gzip:1", WayKind::OnTheFly, Some("gzip"), 40e3, 12.0, 1.15),
    Way("server/gzip:6", WayKind::OnTheFly, Some("gzip"), 40e3, 40.0, 1.0),
    Way("server/brotli:5", WayKind::OnTheFly, Some("br"), 60e3, 45.0, 0.9),
    Way("server/gzip_static", WayKind::PreEncoded, Some("gzip"), 22e3, 0.02, 0.98),
    Way("server/brotli_static", WayKind::PreEncoded, Some("br"), 23e3, 0.02, 0.84),
];

fn digest(at: usize) -> String {
    format!("{at:064x}")
}

/// A run on these files with these methods; every round's CPU times are multiplied by `noise`.
fn report(files: &[File], ways: &[Way], rounds: u32, noise: &dyn Fn(usize, u32) -> f64) -> Report {
    report_of("asset", files, ways, rounds, noise)
}

/// The same of any subject.
pub(super) fn report_of(
    subject: &'static str,
    files: &[File],
    ways: &[Way],
    rounds: u32,
    noise: &dyn Fn(usize, u32) -> f64,
) -> Report {
    let mut lab = Lab::new("site", "A site");
    lab.rounds = 0;
    for (at, (format, bytes, _)) in files.iter().enumerate() {
        lab = lab.payload(&format!("file-{at}"), format, *bytes);
    }
    for (at, payload) in lab.plan.payloads.iter_mut().enumerate() {
        payload.sha256 = digest(at);
    }
    let mut cell = 0;
    for (at, (_, bytes, share)) in files.iter().enumerate() {
        let payload = format!("file-{at}");
        let stand = CellSpec {
            subject,
            payload: &payload,
            server: "nginx",
            runtime: NO_PHP,
            transport: Transport::Http,
            connections: 1,
        };
        for Way(way, kind, coding, fixed, per_byte, size) in ways {
            let encoded = if coding.is_some() && *share < 1.0 { share * size } else { 1.0 };
            let body = (*bytes as f64 * encoded.min(1.02)) as u64 + 20;
            let server = fixed + per_byte * *bytes as f64;
            let figures = Figures { body, server, ..Figures::default() };
            lab.planned(stand, way, *kind);
            for round in 1..=rounds {
                let visit = lab.visit(round, stand, *coding, figures, noise(cell, round));
                lab.records.push(weigh_model::record::Record::Visit(visit));
            }
            cell += 1;
        }
    }
    lab.rounds = rounds;
    lab.end().report()
}

/// A little noise that repeats.
pub(super) fn calm(cell: usize, round: u32) -> f64 {
    1.0 + 0.002 * f64::from((cell as u32 * 7 + round * 3) % 5)
}

/// Noise of a busy machine, another one for each seed.
fn busy(seed: u64) -> impl Fn(usize, u32) -> f64 {
    move |cell, round| {
        let mut x = seed ^ (cell as u64) << 20 ^ u64::from(round) << 40 ^ 0x9e37_79b9_7f4a_7c15;
        for _ in 0..3 {
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x ^= x >> 27;
        }
        1.0 + 0.15 * ((x >> 11) as f64 / (1u64 << 53) as f64)
    }
}

pub(super) fn site(files: &[File], requests: &[f64], today: &str) -> Site {
    let stratum = |(at, (format, bytes, _)): (usize, &File)| Stratum {
        kind: Kind::Asset,
        format: (*format).into(),
        from_bytes: if *bytes < 1000 { 0 } else { 1000 * 10u64.pow((*bytes / 1000).ilog10()) },
        to_bytes: None,
        files: Figure::counted(1.0),
        bytes: Figure::counted(*bytes as f64),
        requests: Figure::counted(requests[at]),
        not_modified: None,
        ranges: None,
        sent_bytes: None,
        writes: None,
        made_ms: None,
        saving: None,
        sample: vec![Sample {
            path: format!("{at}"),
            bytes: *bytes,
            sha256: digest(at),
            share: 1.0,
            sent: Vec::new(),
        }],
    };
    Site {
        schema: SCHEMA,
        name: "shop".into(),
        looked: "2026-01-02".into(),
        sources: Sources { server: Some("nginx".into()), ..Sources::default() },
        visitors: Visitors::default(),
        store_link: Default::default(),
        prices: Prices::default(),
        limits: Limits::default(),
        today: vec![Today {
            kind: Kind::Asset,
            method: today.into(),
            about: "today's way".into(),
            from: From::Configured,
        }],
        strata: files.iter().enumerate().map(stratum).collect(),
        loaded: Vec::new(),
        page_cache: Vec::new(),
        cacheable: Vec::new(),
        page_php: Vec::new(),
        worker: None,
    }
}

pub(super) fn shop() -> Site {
    site(&FILES, &[40_000.0, 90_000.0, 60_000.0, 30_000.0, 90_000.0], "server/gzip:1")
}

fn links() -> Vec<Weighted> {
    let link = |text: &str, share| (LinkSpec::parse(text).unwrap(), share);
    vec![link("5mbit/28ms", 0.5), link("20mbit/4ms", 0.3), link("1.6mbit/150ms", 0.2)]
}

pub(super) fn decided(site: &Site, reports: &[Report], objective: Objective) -> Policy {
    decide_by(site, &digest(0), &links(), reports, (objective, NOT_ENCODED)).0.policy
}

#[test]
fn assets_are_precompressed_where_that_saves_time_and_types_that_gain_nothing_are_left_out() {
    let reports = [report(&FILES, &WAYS, 9, &calm)];
    let policy = decided(&shop(), &reports, Objective::Time);
    let [decision] = &policy.decisions[..] else { panic!("{policy:?}") };
    assert!(!decision.keep);
    let codings: Vec<(&str, Encoder)> = decision.rules.iter().map(|r| (r.coding.as_str(), r.by)).collect();
    assert_eq!(codings, [("br", Encoder::Beforehand), ("gzip", Encoder::Beforehand)]);
    assert!(decision.rules.iter().all(|rule| rule.types == ["text/javascript", "text/css"]), "{decision:?}");
    assert_eq!(decision.rules[0].encoder.as_deref(), Some("brotli:11"));
    let share = |amount: &Amount| amount.share().unwrap();
    assert!(share(&decision.change.wait_hours) < -0.01, "{:?}", decision.change);
    assert!(share(&decision.change.core_hours) < -0.5 && share(&decision.change.gb_out) < -0.05);
    let core = &decision.change.core_hours;
    assert!(core.low.unwrap() <= share(core) && share(core) <= core.high.unwrap(), "{core:?}");
    assert_eq!(policy.total.wait_hours, decision.change.wait_hours);
}

#[test]
fn what_a_configuration_costs_beside_its_method_is_no_gain_and_no_loss() {
    let mut site = shop();
    site.today[0].method = "server/plain".into();
    let share = |ways: &[Way]| {
        let reports = [report(&FILES, ways, 9, &calm)];
        decided(&site, &reports, Objective::Time).decisions[0].change.core_hours.share().unwrap()
    };
    let with = |coding, fixed| {
        let own = Way("server/config", WayKind::OnTheFly, coding, fixed, 0.05, 1.0);
        WAYS.into_iter().chain([own]).collect::<Vec<_>>()
    };
    let alone = share(&WAYS);
    for fixed in [8e3, 60e3] {
        let beside = share(&with(None, fixed));
        assert!((beside - alone).abs() < 0.02, "{fixed}: {beside} {alone}");
    }
    // It compresses as a filter does that was measured: what it costs by itself does not matter either. Or as none does.
    let own = |fixed, size| {
        let own = Way("server/config", WayKind::OnTheFly, Some("gzip"), fixed, 0.05, size);
        share(&WAYS.into_iter().chain([own]).collect::<Vec<_>>())
    };
    assert!((own(500e3, 1.0) - own(5e3, 1.0)).abs() < 0.02, "{} {}", own(500e3, 1.0), own(5e3, 1.0));
    assert!(own(500e3, 0.99) < own(5e3, 0.99) - 0.02, "{} {}", own(500e3, 0.99), own(5e3, 0.99));
}

/// A report with the rows of a file at a rate, at which a response takes this much more than `of` says of its way.
fn at_rate(mut report: Report, payload: &str, of: &[(&str, f64)]) -> Report {
    let mut rows = report.rows.clone();
    rows.retain(|row| row.cell.payload == payload);
    for mut row in rows {
        let delivery = row.cell.delivery.as_mut().unwrap();
        delivery.every_ms = Some(50);
        let way = delivery.way(&row.cell.setting);
        let Some((_, more)) = of.iter().find(|(own, _)| way == *own) else { continue };
        let cpu = row.values.get_mut(CPU).unwrap();
        *cpu = cpu.shifted(*more);
        report.rows.push(row);
    }
    report
}

#[test]
fn responses_cost_what_they_do_at_the_rate_of_the_site() {
    let ways = [WAYS[0], WAYS[2], WAYS[4]];
    let mut site = shop();
    site.today[0].method = "server/gzip:6".into();
    let hours = |reports: &[Report]| decided(&site, reports, Objective::Time).decisions[0].change.core_hours;
    let busy = hours(&[report(&FILES, &ways, 9, &|_, _| 1.0)]);
    let quiet = [at_rate(
        report(&FILES, &ways, 9, &|_, _| 1.0),
        "file-2",
        &[("server/plain", 100e3), ("server/gzip:6", 400e3)],
    )];
    let own = hours(&quiet);
    // As it is, file-2 takes 30 µs; by gzip 8.04 ms. What is between has 100 µs to 400 µs more in proportion, all else as its nearest.
    let by_gzip = |bytes: f64| 100e3 + 300e3 * (40e3 + 40.0 * bytes - 30e3) / (8040e3 - 30e3);
    let encoded = [(600.0, 40e3), (20e3, 90e3), (200e3, 60e3), (60e3, 30e3), (80e3, 90e3)];
    let before: f64 = encoded.iter().map(|(bytes, requests)| requests * by_gzip(*bytes)).sum();
    let hour = 3600e9;
    assert!((own.before - busy.before - before / hour).abs() < 1e-9, "{own:?} {busy:?}");
    let all = 310e3 * 100e3 / hour;
    assert!(own.after - busy.after > 0.99 * all && own.after - busy.after < 1.2 * all, "{own:?} {busy:?}");
    assert!(own.share().unwrap() > busy.share().unwrap(), "what is saved is less of what it takes");
    let notes = |site: &Site, reports: &[Report]| {
        decide_by(site, "", &links(), reports, (Objective::Time, NOT_ENCODED)).0.notes
    };
    let says = |notes: &[String], what: &str| notes.iter().any(|note| note.contains(what));
    assert!(says(
        &notes(&site, &quiet),
        "that at 20 requests/s at random times (the site's busiest hour was not counted)"
    ));
    site.visitors.peak = Some(Figure::counted(3.25));
    assert!(says(&notes(&site, &quiet), "(the site's busiest hour has 3.25)"));
    assert!(says(&notes(&site, &[report(&FILES, &ways, 9, &calm)]), "that of a busy server"));
}

#[test]
fn what_is_equal_to_today_changes_nothing() {
    let ways = [WAYS[0], WAYS[1], Way("server/gzip:2", WayKind::OnTheFly, Some("gzip"), 40e3, 12.1, 1.149)];
    let reports = [report(&FILES, &ways, 9, &calm)];
    let policy = decided(&shop(), &reports, Objective::Time);
    assert!(policy.decisions[0].keep, "{policy:?}");
    assert_eq!(policy.decisions[0].text, "Leave assets as they are: today's way.");
    let wait = &policy.decisions[0].change.wait_hours;
    assert_eq!((wait.share(), wait.low, wait.high), (Some(0.0), Some(0.0), Some(0.0)));
}

#[test]
fn of_pages_it_is_said_what_the_application_takes_beside_encoding() {
    let files = [("text/html", 20_000, 0.2), ("text/html", 90_000, 0.2)];
    // PHP makes pages, also those that the server sends as they are.
    let mut ways = [WAYS[0], WAYS[1]];
    ways[0].0 = "php/none";
    let reports = [report_of("page", &files, &ways, 9, &|_, _| 1.0)];
    let mut site = site(&files, &[30_000.0, 10_000.0], "server/plain");
    site.today[0].kind = Kind::Page;
    site.visitors.accept = vec![Accept { codings: vec!["gzip".into()], share: 1.0, from: From::Given }];
    for (stratum, made) in site.strata.iter_mut().zip([10.0, 20.0]) {
        (stratum.kind, stratum.made_ms) = (Kind::Page, Some(Figure::measured(made)));
    }
    let text = |site: &Site| decided(site, &reports, Objective::Time).decisions[0].text.clone();
    // Per byte 12 − 0.05 ns and per response 20 µs, over 37,500 bytes on average.
    let said = "The application takes 12.5 ms per page; encoding adds 0.468 ms.";
    assert_eq!(text(&site), format!("Send pages with gzip 1 in nginx (gzip), from 256 bytes up. {said}"));
    site.prices.core_hour = Figure::assumed(1e9);
    let dear = decided(&site, &reports, Objective::Money).decisions[0].text.clone();
    assert_eq!(
        dear,
        "Leave pages as they are: today's way. The application takes 12.5 ms per page; encoding adds nothing."
    );
    site.strata[1].made_ms = None;
    assert_eq!(text(&site), "Send pages with gzip 1 in nginx (gzip), from 256 bytes up.");
}

#[test]
fn slow_encoders_are_left_out_where_cores_are_short_at_peak() {
    let ways = [WAYS[0], Way("server/gzip:9", WayKind::OnTheFly, Some("gzip"), 40e3, 60.0, 0.9), WAYS[1]];
    let reports = [report(&FILES, &ways, 9, &calm)];
    let mut site = shop();
    site.today[0].method = "server/plain".into();
    let method = |site: &Site| decided(site, &reports, Objective::Time).decisions[0].rules[0].method.clone();
    site.visitors.peak = Some(Figure::counted(1.0));
    let calm_peak = method(&site);
    site.visitors.peak = Some(Figure::counted(600.0));
    let (decision, _) = decide_by(&site, "", &links(), &reports, (Objective::Time, NOT_ENCODED));
    assert_eq!(calm_peak, "server/gzip:9");
    assert_eq!(decision.policy.decisions[0].rules[0].method, "server/gzip:1");
    assert!(decision.notes[0].starts_with("CPU time is short at peak"), "{:?}", decision.notes);
}

#[test]
fn encoders_that_hold_up_the_first_byte_are_left_out() {
    let ways = [WAYS[0], WAYS[1], WAYS[2]];
    let reports = [report(&FILES, &ways, 9, &calm)];
    let mut site = shop();
    site.today[0].method = "server/plain".into();
    let mut method = |limit| {
        site.limits.first_byte_ms = Figure::assumed(limit);
        decided(&site, &reports, Objective::Time).decisions[0].rules[0].method.clone()
    };
    // The largest file takes 8 ms with level 6.
    assert_eq!([10.0, 5.0].map(&mut method), ["server/gzip:6", "server/gzip:1"]);
}

#[test]
fn workers_are_those_that_php_keeps_busy_whatever_visitors_ask_for() {
    let mut site = shop();
    assert_eq!(pool::pool(&site), None, "nothing was counted");
    // 8 truly busy, of which visitors' pages are a small part.
    site.visitors.php_peak = Some(Figure::counted(4.0));
    assert_eq!(pool::pool(&site), None, "no time is known");
    site.visitors.php_peak_ms = Some(Figure::counted(2000.0));
    let logged = pool::pool(&site).unwrap();
    assert_eq!((logged.busy, logged.at_least, logged.enough, logged.is_logged), (8.0, 9, Some(16), true));
    let decided = Decided {
        policy: Policy { pool: Some(logged), ..decided(&shop(), &[], Objective::Time) },
        notes: Vec::new(),
    };
    let shown = crate::format::terminal::text(&document(&decided, &shop()), &Default::default());
    assert!(shown.contains("At least 9 are needed; with 16, one request"), "{shown}");
    // Measured one after the other: requests wait for the cores, too.
    site.visitors.php_peak_ms = None;
    site.strata[0].kind = Kind::Page;
    site.strata[0].made_ms = Some(Figure::measured(450.0));
    site.limits.cores = Figure::measured(2.0);
    let measured = pool::pool(&site).unwrap();
    assert!((measured.busy - 1.8).abs() < 1e-9 && !measured.is_logged, "{measured:?}");
    assert!(measured.at_least == 2 && measured.enough.unwrap() > 12, "{measured:?}");
    site.strata[0].made_ms = Some(Figure::measured(600.0));
    assert_eq!(pool::pool(&site).unwrap().enough, None, "two cores are not enough for 2.4");
}

#[test]
fn all_prices_times_ten_change_nothing() {
    let reports = [report(&FILES, &WAYS, 9, &calm)];
    let mut site = shop();
    site.prices.visitor_second = Figure::assumed(0.0001);
    let once = decided(&site, &reports, Objective::Money);
    for factor in [0.1, 10.0, 1000.0] {
        let mut dear = site.clone();
        let prices = &mut dear.prices;
        for price in
            [&mut prices.core_hour, &mut prices.gb_out, &mut prices.gb_month, &mut prices.visitor_second]
        {
            price.value *= factor;
        }
        let policy = decided(&dear, &reports, Objective::Money);
        assert_eq!(policy.decisions[0].rules, once.decisions[0].rules);
        let (own, was) = (policy.total.cost.after / factor, once.total.cost.after);
        assert!((own - was).abs() <= 1e-9 * was, "{own} {was}");
    }
}

#[test]
fn a_dearer_byte_never_advises_more_bytes() {
    for seed in 0..6 {
        let reports = [report(&FILES, &WAYS, 6, &busy(seed))];
        let mut least = f64::INFINITY;
        for price in [0.0, 0.0001, 0.001, 0.01, 0.1, 1.0, 10.0] {
            let mut site = shop();
            site.prices.gb_out = Figure::assumed(price);
            let (links, weights) = (links(), Weights::prices(&site));
            let ground = Ground::new(&site, &links, &reports, Moment::default());
            let setups = Coded::new(&ground, Kind::Asset).unwrap().setups(&ground, &weights);
            // Without tolerance: settings that are called equal may differ in their bytes.
            let sent = setups[choose(&setups, &weights, 0.0).unwrap().best].exact.sent;
            assert!(sent <= least, "seed {seed}, price {price}: {sent} {least}");
            least = sent;
        }
    }
}

#[test]
fn a_method_that_is_worse_in_everything_changes_nothing() {
    let worse = Way("server/gzip:9", WayKind::OnTheFly, Some("gzip"), 90e3, 90.0, 1.3);
    let with = [&WAYS[..], &[worse]].concat();
    for objective in [Objective::Time, Objective::Money] {
        let few = decided(&shop(), &[report(&FILES, &WAYS, 9, &calm)], objective);
        let many = decided(&shop(), &[report(&FILES, &with, 9, &calm)], objective);
        assert_eq!(few.decisions[0].rules, many.decisions[0].rules);
    }
}

#[test]
fn other_rounds_choose_among_settings_that_were_called_equal() {
    let near = Way("server/gzip:5", WayKind::OnTheFly, Some("gzip"), 40e3, 38.0, 1.005);
    let ways = [WAYS[0], WAYS[1], WAYS[2], near];
    let mut site = shop();
    site.today.clear();
    let (links, weights) = (links(), Weights::new(&site, Objective::Time, 0.0));
    let of = |seed: u64| {
        let reports = [report(&FILES, &ways, 7, &busy(seed))];
        let ground = Ground::new(&site, &links, &reports, Moment::default());
        let setups = Coded::new(&ground, Kind::Asset).unwrap().setups(&ground, &weights);
        let choice = choose(&setups, &weights, TOLERANCE).unwrap();
        let rules = |at: &usize| setups[*at].rules.clone();
        (rules(&choice.chosen), choice.tied.iter().map(rules).collect::<Vec<_>>())
    };
    let (_, equal) = of(0);
    assert!(equal.len() > 1);
    for seed in 1..8 {
        let (chosen, _) = of(seed);
        assert!(equal.contains(&chosen), "seed {seed}: {chosen:?}");
    }
}

#[test]
fn more_rounds_never_make_the_regret_worse_in_the_mean() {
    let close = |level, cpu, size| Way(level, WayKind::OnTheFly, Some("gzip"), 40e3, cpu, size);
    let ways = [
        WAYS[0],
        close("server/gzip:1", 12.0, 1.15),
        close("server/gzip:3", 26.0, 1.05),
        close("server/gzip:6", 40.0, 1.0),
        close("server/gzip:9", 70.0, 0.985),
    ];
    let mut site = shop();
    site.today[0].method = "server/plain".into();
    site.prices.core_hour = Figure::assumed(2.0);
    site.prices.gb_out = Figure::assumed(0.05);
    let (links, truth) = (links(), [report(&FILES, &ways, 5, &|_, _| 1.0)]);
    let regret = |rounds: u32| -> f64 {
        let of = |seed: u64| {
            let reports = [report(&FILES, &ways, rounds, &busy(seed + 100))];
            let policy = decided(&site, &reports, Objective::Money);
            let [one] = &valued(&policy, &site, &links, &truth)[..] else { panic!("assets alone") };
            one.own.expect("the same setups compete") / one.least - 1.0
        };
        (0..4).map(of).sum::<f64>() / 4.0
    };
    let regrets = [2, 10].map(regret);
    assert!(regrets.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9), "{regrets:?}");
    assert!(regrets[1] <= 0.02, "{regrets:?}");
}

#[test]
fn a_policy_has_the_value_that_it_was_chosen_for_and_none_where_its_method_was_not_measured() {
    let reports = [report(&FILES, &WAYS, 9, &calm)];
    let (site, links) = (shop(), links());
    for objective in [Objective::Time, Objective::Money] {
        let policy = decided(&site, &reports, objective);
        let [one] = &valued(&policy, &site, &links, &reports)[..] else { panic!("assets alone") };
        let change = &policy.decisions[0].change;
        let after = match objective {
            Objective::Time | Objective::Fcp | Objective::Load => change.wait_hours.after * HOUR,
            Objective::Money => change.cost.after,
        };
        let own = one.own.unwrap();
        assert!((own - after).abs() <= 1e-9 * after, "{own} {after}");
        assert!(one.least <= own && own <= one.least * (1.0 + TOLERANCE), "{one:?}");
        let fewer = [report(&FILES, &WAYS[..3], 9, &calm)];
        assert_eq!(valued(&policy, &site, &links, &fewer)[0].own, None);
        let nothing = Policy { decisions: Vec::new(), ..policy };
        assert!(valued(&nothing, &site, &links, &reports)[0].own.unwrap() > one.least);
    }
}

#[test]
fn a_policy_is_shown_in_forty_lines_and_written_and_read_back() {
    let reports = [report(&FILES, &WAYS, 9, &calm)];
    let (decided, _) = decide_by(&shop(), &digest(0), &links(), &reports, (Objective::Time, NOT_ENCODED));
    let text = serde_json::to_string(&decided.policy).unwrap();
    assert_eq!(serde_json::from_str::<Policy>(&text).unwrap(), decided.policy);
    let options = crate::output::Options { width: 80, ..crate::output::Options::default() };
    let shown = crate::format::terminal::text(&document(&decided, &shop()), &options);
    assert!(shown.lines().count() <= 40, "{shown}");
    assert!(shown.lines().all(|line| crate::text::columns(line) <= 80), "{shown}");
    insta::assert_snapshot!(shown);
    let page = for_page(&decided.policy, &shop(), document(&decided, &shop()));
    let [Block::Answer(answer), Block::Tiles(_, tiles), Block::Steps(steps), ..] = &page[..] else {
        panic!("{page:?}")
    };
    assert_eq!(answer[..], ["Make 1 change.", "Settled: enough rounds for every decision."]);
    assert_eq!((tiles.len(), steps.len()), (3, 1));
    assert!(!page.iter().skip(3).any(|block| matches!(block, Block::Answer(_) | Block::Steps(_))));
}

/// What the configuration refuses has no variants: the step names it where it is known.
#[test]
fn packing_asks_the_configuration_that_is_known() {
    let reports = [report(&FILES, &WAYS, 9, &calm)];
    let shown = |site: &Site| {
        let (decided, _) = decide_by(site, &digest(0), &links(), &reports, (Objective::Time, NOT_ENCODED));
        assert!(decided.policy.decisions[0].rules.iter().any(|rule| rule.by == Encoder::Beforehand));
        let text = crate::format::terminal::text(&document(&decided, site), &Default::default());
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut site = shop();
    assert!(shown(&site).contains("weigh pack DIR --policy policy.toml."));
    site.sources.server_config = Some("/etc/nginx/nginx.conf".into());
    site.sources.docroot = Some("/srv/www".into());
    let [first, ..] = &mut site.strata[..] else { panic!("{site:?}") };
    first.sample[0].path = format!("js/{}", first.sample[0].path);
    let beside = [("/js", "/srv/js"), ("/icons", "/srv/icons")];
    let alias = |(url, folder): (&str, &str)| Alias { url: url.into(), folder: folder.into() };
    site.sources.aliases = beside.map(alias).into();
    assert!(shown(&site).contains(
        "weigh pack /srv/www --policy policy.toml --server-config /etc/nginx/nginx.conf; \
         weigh pack /srv/js --policy policy.toml --server-config /etc/nginx/nginx.conf."
    ));
}

#[test]
fn that_every_response_gets_longer_is_said() {
    let part = |before: f64, after: f64| ContentChange {
        content: String::new(),
        wait_hours: [0.0; 2],
        core_hours: [0.0; 2],
        gb_out: [before, after],
        gb_stored: [0.0; 2],
    };
    let said = longer(&[part(100.0, 103.0), part(200.0, 212.0), part(0.0, 0.0)]);
    assert_eq!(said.as_deref(), Some(" Responses are 3% to 6% longer than today."));
    let said = longer(&[part(100.0, 104.0)]);
    assert_eq!(said.as_deref(), Some(" Responses are 4% longer than today."));
    for parts in [&[][..], &[part(100.0, 103.0), part(100.0, 99.0)], &[part(100.0, 100.1)]] {
        assert_eq!(longer(parts), None, "{parts:?}");
    }
}

#[test]
fn a_site_of_which_nothing_was_measured_has_no_decision_and_says_so() {
    let decided = decide(&shop(), "", &links(), Vec::new(), Objective::Time, NOT_ENCODED).unwrap();
    assert!(decided.policy.decisions.is_empty());
    assert_eq!(decided.notes, ["No decision for assets: nothing was measured of their sample."]);
    let page = for_page(&decided.policy, &shop(), document(&decided, &shop()));
    assert!(matches!(&page[0], Block::Answer(answer) if answer[0].starts_with("No decision: ")), "{page:?}");
    assert_eq!(Subject::ASSET, ground::subject(Kind::Asset));
}

/// A run on a kind of machine whose CPU time is this many times that of the usual one.
fn on(kind: &str, times: f64) -> Report {
    let mut report = report(&FILES, &WAYS, 9, &move |_, _| times);
    report.run.environment.insert("kind".into(), kind.into());
    report
}

fn priced(small: f64, large: f64) -> Site {
    let price = |kind: &str, core_hour| MachinePrice { kind: kind.into(), core_hour };
    let mut site = shop();
    site.prices.machines = vec![price("small", small), price("large", large)];
    site
}

#[test]
fn the_machine_with_the_lowest_cost_is_advised_at_its_own_price() {
    let decided = |site: &Site| {
        let runs = vec![on("large", 1.0), on("small", 2.0)];
        decide(site, "", &links(), runs, Objective::Money, NOT_ENCODED).unwrap().policy
    };
    // Twice the CPU time at a tenth of the price, and then at ten times the price.
    for (site, kinds, price) in
        [(priced(1e3, 1e4), ["small", "large"], 1e3), (priced(1e5, 1e4), ["large", "small"], 1e4)]
    {
        let policy = decided(&site);
        let [first, second] = &policy.machines[..] else { panic!("{:?}", policy.machines) };
        assert_eq!([&first.kind, &second.kind], kinds);
        assert_eq!((first.core_hour, first.compared), (price, None));
        assert_eq!((first.cost, first.core_hours), (policy.total.cost.after, policy.total.core_hours.after));
        let told = second.compared.unwrap();
        assert!((told.ratio - second.cost / first.cost).abs() < 1e-6 && told.claimed, "{told:?}");
        let decided = Decided { policy: policy.clone(), notes: Vec::new() };
        let shown = crate::format::terminal::text(&document(&decided, &site), &Default::default());
        assert!(shown.contains(&format!("Machine: {}. {}: ", kinds[0], kinds[1])), "{shown}");
        let text = serde_json::to_string(&policy).unwrap();
        assert_eq!(serde_json::from_str::<Policy>(&text).unwrap(), policy, "{text}");
    }
}

#[test]
fn machines_that_are_alike_are_not_told_apart() {
    let runs = vec![on("large", 1.0), on("small", 1.01)];
    let policy = decide(&priced(1.0, 1.0), "", &links(), runs, Objective::Money, NOT_ENCODED).unwrap().policy;
    assert!(!policy.machines[1].compared.unwrap().claimed, "{:?}", policy.machines);
}

#[test]
fn runs_of_machines_that_cannot_be_compared_are_refused_in_one_line() {
    let refused = |runs: Vec<Report>, site: &Site| {
        decide(site, "", &links(), runs, Objective::Money, NOT_ENCODED).unwrap_err().to_string()
    };
    let local = report(&FILES, &WAYS, 9, &calm);
    let line = refused(vec![local, on("small", 1.0)], &shop());
    assert!(line.starts_with("runs of this machine are given together with runs of small"), "{line}");
    let mut other = on("large", 1.0);
    other.study.name = "values".into();
    let line = refused(vec![on("small", 1.0), on("large", 1.0), other], &shop());
    assert!(line.starts_with("a run of values is given for large, but none for small"), "{line}");
    let line = refused(vec![on("tiny", 1.0)], &priced(1.0, 2.0));
    assert!(line.contains("{ kind = \"tiny\", core_hour = PRICE }"), "{line}");
}

#[test]
fn a_method_is_expected_to_cost_what_the_sites_own_configuration_adds() {
    // The site's own sends everything as it is, at 40 us more than the lab's.
    let own = Way("server/config", WayKind::OnTheFly, None, 60e3, 0.05, 1.0);
    let ways: Vec<Way> = WAYS.into_iter().chain([own]).collect();
    let site = site(&FILES, &[1000.0; 5], "server/config");
    let reports = [report(&FILES, &ways, 15, &|_, _| 1.0)];
    let ground = Ground::new(&site, &[], &reports, Moment::default());
    let coded = Coded::new(&ground, Kind::Asset).unwrap();
    let setups = coded.setups(&ground, &Weights::new(&site, Objective::Time, 0.0));
    let today = setups.iter().find(|setup| setup.is_today).unwrap();
    let plain = setups.iter().find(|setup| !setup.is_today && setup.rules.is_empty()).unwrap();
    assert!(
        (plain.cpu.value / today.cpu.value - 1.0).abs() < 0.01,
        "{} {}",
        plain.cpu.value,
        today.cpu.value
    );
}

#[test]
fn where_loads_take_as_long_the_cheaper_setup_is_chosen_if_it_is_much_cheaper() {
    use crate::verdict::Confidence;
    let setup = |is_today, sent, wait| {
        let exact = setup::Exact { sent, wait, ..setup::Exact::default() };
        setup::Setup { is_today, exact, ..setup::Setup::default() }
    };
    let shop = shop();
    let time = Weights::new(&shop, Objective::Time, 0.0);
    let cheaper = |bytes, seconds, chosen, confidence| {
        let choice = crate::choose::Choice { works: vec![0], best: 1, tied: vec![0, 1], chosen, confidence };
        let setups = [setup(true, 1e12, 100.0), setup(false, bytes, seconds)];
        decide::cheaper(&shop, &setups, &choice, &time)
    };
    assert_eq!(cheaper(4e11, 100.0, 0, Confidence::Tied), 1);
    assert_eq!(cheaper(9.8e11, 100.0, 0, Confidence::Tied), 0, "2% are not worth a change");
    assert_eq!(cheaper(4e11, 105.0, 0, Confidence::Tied), 0, "visitors would wait longer");
    assert_eq!(cheaper(4e11, 100.0, 0, Confidence::TooFewRounds), 0);
    assert_eq!(cheaper(2e12, 100.0, 1, Confidence::Tied), 1, "the choice stays");
}
