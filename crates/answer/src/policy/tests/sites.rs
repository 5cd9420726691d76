//! Small sites whose right decision is known by hand.

use weigh_model::policy::{Decision, Reason};
use weigh_model::protocol::{Fault, FaultKind};
use weigh_model::site::Sent;

use super::*;
use crate::estimate::Estimate;
use crate::gather::FaultRow;
use crate::metric::codec::{DECODE, DECODED};
use crate::money::HOUR;
use crate::policy::decide::decide_by;
use crate::report::Report;
use crate::subject::delivery::fixture::Watched;

const PAGES: [File; 2] = [("text/html", 20_000, 0.25), ("text/html", 90_000, 0.2)];

/// What PHP and nginx can do with pages.
const PAGE_WAYS: [Way; 4] = [
    Way("php/none", WayKind::Plain, None, 140e3, 0.05, 1.0),
    Way("server/gzip:1", WayKind::OnTheFly, Some("gzip"), 160e3, 6.0, 1.15),
    Way("server/gzip:6", WayKind::OnTheFly, Some("gzip"), 160e3, 9.0, 1.0),
    Way("server/brotli:5", WayKind::OnTheFly, Some("br"), 160e3, 10.0, 0.92),
];

fn class(codings: &[&str], share: f64) -> Accept {
    Accept { codings: codings.iter().map(|one| (*one).to_owned()).collect(), share, from: From::Counted }
}

/// A site of pages, with what is done today.
fn pages(today: &str) -> Site {
    let mut site = site(&PAGES, &[60_000.0, 20_000.0], today);
    site.today[0].kind = Kind::Page;
    for stratum in &mut site.strata {
        (stratum.kind, stratum.made_ms) = (Kind::Page, Some(Figure::measured(60.0)));
    }
    site
}

fn page_report(ways: &[Way]) -> Report {
    report_of("page", &PAGES, ways, 9, &calm)
}

/// What the site's own configuration sends to those who accept these.
fn own(accept: &str, coding: Option<&'static str>, per_byte: f64, size: f64) -> Report {
    let way = Way("server/config", WayKind::OnTheFly, coding, 160e3, per_byte, size);
    let mut report = page_report(&[way]);
    for row in &mut report.rows {
        row.cell.id = format!("{} ({accept})", row.cell.id);
        row.cell.delivery.as_mut().unwrap().accept = accept.to_owned();
    }
    report
}

fn decide_on(site: &Site, reports: &[Report]) -> (Decision, Decided) {
    let decided = decide_by(site, &digest(0), &links(), reports, (Objective::Time, NOT_ENCODED)).0;
    (decided.policy.decisions[0].clone(), decided)
}

fn codings(decision: &Decision) -> Vec<&str> {
    decision.rules.iter().map(|rule| rule.coding.as_str()).collect()
}

fn flips_on<'d>(decision: &'d Decision, what: &str) -> Option<&'d str> {
    decision.flips.iter().find(|flip| flip.when.contains(what)).map(|flip| flip.then.as_str())
}

#[test]
fn zstd_and_gzip_of_today_stay() {
    let mut site = pages("server/config");
    site.visitors.accept = vec![class(&["zstd", "br", "gzip"], 0.8), class(&["gzip"], 0.2)];
    let zstd = Way("server/zstd:3", WayKind::OnTheFly, Some("zstd"), 160e3, 4.0, 1.0);
    let mut reports =
        vec![own("zstd, br, gzip", Some("zstd"), 4.0, 1.0), own("gzip", Some("gzip"), 9.0, 1.0)];
    reports.push(page_report(&[PAGE_WAYS[0], PAGE_WAYS[1], PAGE_WAYS[2], zstd]));
    let (decision, _) = decide_on(&site, &reports);
    assert!(decision.keep, "{decision:?}");
    // Where gzip alone was measured, zstd is not dropped for it, however much smaller it would be.
    let mut small = PAGE_WAYS[2];
    small.5 = 0.5;
    reports[2] = page_report(&[PAGE_WAYS[0], small]);
    let (decision, _) = decide_on(&site, &reports);
    assert!(decision.keep, "{decision:?}");
    // Something better has zstd and gzip beside it.
    reports[2] = page_report(
        &[&PAGE_WAYS[..], &[zstd, Way("server/brotli:4", WayKind::OnTheFly, Some("br"), 160e3, 5.0, 0.8)]]
            .concat(),
    );
    let (decision, _) = decide_on(&site, &reports);
    let mut found = codings(&decision);
    found.sort_unstable();
    assert_eq!(found, ["br", "gzip", "zstd"], "{decision:?}");
}

/// A feed that PHP makes and nobody encodes is left to its application, which compares its ETags.
#[test]
fn a_feed_is_encoded_by_a_server_only_if_it_is_today() {
    let files: [File; 2] = [("text/html", 20_000, 0.25), ("application/rss+xml", 36_000, 0.1)];
    let site = |today: &str| {
        let mut site = site(&files, &[60_000.0, 20_000.0], today);
        site.today[0].kind = Kind::Page;
        site.strata.iter_mut().for_each(|stratum| stratum.kind = Kind::Page);
        site
    };
    let report = report_of("page", &files, &PAGE_WAYS[..3], 9, &calm);
    let (decision, _) = decide_on(&site("php/none"), std::slice::from_ref(&report));
    assert!(!decision.keep && decision.rules.iter().all(|rule| rule.types == ["text/html"]), "{decision:?}");
    let parts = decision.parts.iter().find(|part| part.content.starts_with("application/rss+xml")).unwrap();
    assert_eq!(parts.gb_out[0], parts.gb_out[1], "{parts:?}");
}

/// Who accepts gzip alone is not sent longer pages for what others are sent.
#[test]
fn no_class_of_clients_is_sent_more_than_today() {
    let mut site = pages("server/config");
    site.visitors.accept = vec![class(&["br", "gzip"], 0.8), class(&["gzip"], 0.2)];
    let quick = Way("server/gzip:1", WayKind::OnTheFly, Some("gzip"), 160e3, 0.5, 1.04);
    let slow = Way("server/gzip:6", WayKind::OnTheFly, Some("gzip"), 160e3, 400.0, 1.0);
    let small = Way("server/brotli:5", WayKind::OnTheFly, Some("br"), 160e3, 4.0, 0.6);
    let mut reports = vec![own("br, gzip", Some("gzip"), 400.0, 1.0), own("gzip", Some("gzip"), 400.0, 1.0)];
    reports.push(page_report(&[PAGE_WAYS[0], quick, slow, small]));
    let (decision, _) = decide_on(&site, &reports);
    let methods: Vec<&str> = decision.rules.iter().map(|rule| rule.method.as_str()).collect();
    assert_eq!(methods, ["server/brotli:5", "server/gzip:6"], "{decision:?}");
}

/// A server's filter is for more than the files of the sample: what nobody measured would get longer by a lower level.
#[test]
fn no_filter_for_assets_has_a_lower_level_than_today() {
    let quick = Way("server/gzip:1", WayKind::OnTheFly, Some("gzip"), 40e3, 0.5, 1.0);
    let usual = Way("server/gzip:6", WayKind::OnTheFly, Some("gzip"), 40e3, 60.0, 1.0);
    let high = Way("server/gzip:9", WayKind::OnTheFly, Some("gzip"), 40e3, 90.0, 1.0);
    // Without the image, for which today's gzip is time spent for nothing.
    let files = &FILES[..4];
    let reports = [report(files, &[WAYS[0], quick, usual, high], 9, &calm)];
    let chosen = |today: &str| {
        let site = site(files, &[40_000.0, 90_000.0, 60_000.0, 30_000.0], today);
        let (decision, _) = decide_on(&site, &reports);
        (!decision.keep).then(|| decision.rules[0].method.clone())
    };
    assert_eq!(chosen("server/gzip:6"), None);
    // What is beyond the usual level saves hardly anything.
    assert_eq!(chosen("server/gzip:9").as_deref(), Some("server/gzip:6"));
    assert_eq!(chosen("server/plain").as_deref(), Some("server/gzip:1"), "nothing gets longer");
}

/// Who accepts gzip alone asks for nothing here: any level would cost the same.
#[test]
fn clients_that_nobody_counted_keep_todays_method() {
    let small = Way("server/brotli:5", WayKind::OnTheFly, Some("br"), 160e3, 4.0, 0.6);
    for (today, level) in [
        ("server/gzip:1", "server/gzip:1"),
        ("server/gzip:6", "server/gzip:6"),
        ("php/none", "server/gzip:6"),
    ] {
        let mut site = pages(today);
        site.visitors.accept = vec![class(&["br", "gzip"], 1.0)];
        let (decision, _) =
            decide_on(&site, &[page_report(&[PAGE_WAYS[0], PAGE_WAYS[1], PAGE_WAYS[2], small])]);
        let methods: Vec<&str> = decision.rules.iter().map(|rule| rule.method.as_str()).collect();
        assert_eq!(methods, ["server/brotli:5", level], "{today}: {decision:?}");
    }
}

/// PHP sends them as they are, and the server is to encode them.
#[test]
fn pages_that_nobody_encodes_are_proved_beside_the_sites_own_configuration() {
    let mut site = pages("server/plain");
    site.visitors.accept = vec![class(&["gzip"], 1.0)];
    let (decision, decided) = decide_on(&site, &[page_report(&PAGE_WAYS[..3])]);
    assert!(decision.rules[0].method.starts_with("server/gzip:"), "{decision:?}");
    let before = Way("server/config", WayKind::OnTheFly, None, 140e3, 0.05, 1.0);
    let after = Way("server/advised", WayKind::OnTheFly, Some("gzip"), 160e3, 6.0, 1.15);
    let proof = proof::proved(&decided.policy, &site, page_report(&[before, after]));
    let traffic = proof.lines.iter().find(|line| line.metric == "traffic").unwrap();
    assert!(traffic.measured.share().unwrap() < -0.5, "{proof:?}");
}

/// The server's brotli would be smaller, and would never be sent: PHP has encoded before.
#[test]
fn php_and_a_filter_of_the_server_do_not_encode_beside_each_other() {
    let mut site = pages("php/none");
    site.visitors.accept = vec![class(&["br", "gzip"], 0.9), class(&["gzip"], 0.1)];
    let php = Way("php/gzencode:6", WayKind::OnTheFly, Some("gzip"), 150e3, 1.0, 1.0);
    let (decision, _) = decide_on(&site, &[page_report(&[PAGE_WAYS[0], php, PAGE_WAYS[2], PAGE_WAYS[3]])]);
    let by: Vec<Encoder> = decision.rules.iter().map(|rule| rule.by).collect();
    assert!(!by.is_empty() && by.iter().all(|one| *one == by[0]), "{decision:?}");
}

#[test]
fn over_plain_http_pages_are_sent_with_gzip_alone() {
    let mut site = pages("server/plain");
    site.visitors.tls = false;
    let (decision, decided) = decide_on(&site, &[page_report(&PAGE_WAYS)]);
    assert_eq!(codings(&decision), ["gzip"]);
    assert!(decision.needs.is_empty(), "{decision:?}");
    assert!(decided.notes.iter().any(|note| note.contains("plain HTTP")), "{:?}", decided.notes);
}

#[test]
fn the_time_of_a_slow_application_makes_nothing_equal_and_shares_small() {
    let mut site = pages("server/gzip:1");
    for stratum in &mut site.strata {
        stratum.made_ms = Some(Figure::measured(600.0));
    }
    let (decision, decided) = decide_on(&site, &[page_report(&PAGE_WAYS)]);
    // 8% and more of the bytes are well within 1% of 600 ms.
    assert!(!decision.keep, "{decision:?}");
    let wait = decision.change.wait_hours.share().unwrap();
    assert!(wait < 0.0 && wait > -0.02, "{wait}");
    // Encoding takes 0.1 ms more, of 600.
    let cpu = decision.change.core_hours.share().unwrap();
    assert!(cpu.abs() < 0.002, "{cpu}");
    let hours = 600e-3 * 80_000.0 / HOUR;
    assert!(decision.change.core_hours.before > hours, "{:?} {hours}", decision.change.core_hours);
    assert!(decided.notes.iter().all(|note| !note.contains("made_ms")), "{:?}", decided.notes);
    // Where its time is not known, a share is of encoding and sending alone, and that is said.
    site.strata[0].made_ms = None;
    let (decision, decided) = decide_on(&site, &[page_report(&PAGE_WAYS)]);
    assert!(decision.change.core_hours.share().unwrap().abs() > 0.02, "{:?}", decision.change);
    assert!(decided.notes.iter().any(|note| note.contains("made_ms")), "{:?}", decided.notes);
    let shown = crate::format::terminal::text(&document(&decided, &site), &Default::default());
    assert!(
        shown.contains("CPU time of sending") && shown.contains("CPU of encoding and sending"),
        "{shown}"
    );
}

#[test]
fn what_php_answers_at_peak_decides_whether_the_cores_suffice() {
    let mut site = pages("server/plain");
    site.visitors.peak = Some(Figure::counted(1500.0));
    // Few of the visitors' requests are for pages; at peak, bots ask for them.
    let mut assets = shop().strata;
    assets.iter_mut().for_each(|stratum| stratum.requests.value *= 100.0);
    site.strata.extend(assets);
    let dear =
        [PAGE_WAYS[0], PAGE_WAYS[1], Way("server/gzip:9", WayKind::OnTheFly, Some("gzip"), 160e3, 50.0, 0.8)];
    let method = |site: &Site| decide_on(site, &[page_report(&dear)]).0.rules[0].method.clone();
    assert_eq!(method(&site), "server/gzip:9");
    site.visitors.php_peak = Some(Figure::counted(1400.0));
    assert_eq!(method(&site), "server/gzip:1");
}

#[test]
fn with_too_few_rounds_nothing_else_is_called_worse() {
    let site = pages("server/gzip:6");
    let reports = [report_of("page", &PAGES, &[PAGE_WAYS[0], PAGE_WAYS[2], PAGE_WAYS[1]], 3, &calm)];
    let (decision, decided) = decide_on(&site, &reports);
    assert!(decision.keep && !decided.policy.unsettled.is_empty(), "{decided:?}");
    let shown = crate::format::terminal::text(&document(&decided, &site), &Default::default());
    assert!(
        shown.contains("Change nothing so far")
            && shown.contains("Not settled for pages: some settings have 3 of 5 rounds"),
        "{shown}"
    );
}

const ARCHIVES: [File; 2] = [("application/zip", 500_000, 1.0), ("application/pdf", 300_000, 1.0)];

/// A site of downloads in two folders.
fn downloads(today: &str) -> Site {
    let mut site = site(&ARCHIVES, &[5_000.0, 3_000.0], today);
    site.today[0].kind = Kind::Download;
    for (stratum, folder) in site.strata.iter_mut().zip(["files", "reports"]) {
        stratum.kind = Kind::Download;
        stratum.sample[0].path = format!("{folder}/a");
    }
    site
}

/// Methods of downloads with their CPU nanoseconds.
fn download_report(ways: &[(&'static str, WayKind, f64)]) -> Report {
    let ways: Vec<Way> = ways.iter().map(|(way, kind, cpu)| Way(way, *kind, None, *cpu, 0.1, 1.0)).collect();
    report_of("download", &ARCHIVES, &ways, 9, &calm)
}

/// The workers of 8 that slow clients keep busy with each method.
fn slow_report(ways: &[(&'static str, WayKind, u32)]) -> Report {
    let mut lab = Lab::new("slow", "Slow clients").payload("file-0", "application/zip", 500_000);
    lab.plan.payloads[0].sha256 = digest(0);
    let stand = CellSpec {
        subject: "download",
        payload: "file-0",
        server: "nginx",
        runtime: NO_PHP,
        transport: Transport::Http,
        connections: 1,
    };
    for (way, kind, busy) in ways {
        let watched = Watched { clients: 8, busy: *busy, answered: 190, seconds: 0.001, written: 0 };
        lab = lab.watched(stand, way, *kind, watched);
    }
    lab.end().report()
}

#[test]
fn a_server_that_sends_downloads_keeps_doing_it() {
    let by_php = [("php/readfile", WayKind::Plain, 300e3), ("php/x-accel-redirect", WayKind::Offload, 150e3)];
    let site = downloads("server/plain");
    // Whether its own way was measured or not, whatever it costs.
    for more in [&[][..], &[("server/transparent", WayKind::Transparent, 900e3)]] {
        let report = download_report(&[&by_php[..], more].concat());
        let decided = decide_by(&site, "", &links(), &[report], (Objective::Time, NOT_ENCODED)).0;
        assert!(decided.policy.decisions.iter().all(|one| one.keep), "{:?}", decided.policy.decisions);
        assert_eq!(decided.policy.decisions.len(), more.len());
    }
    // Nor is anything advised where it is not known who sends them.
    let mut unknown = site.clone();
    unknown.today.clear();
    let (decision, _) = decide_on(&unknown, &[download_report(&by_php)]);
    assert!(decision.keep && decision.method.is_none(), "{decision:?}");
    assert!(decision.text.contains("whether PHP or the server sends them"), "{}", decision.text);
}

#[test]
fn what_slow_clients_do_to_workers_decides_on_downloads_of_all_folders() {
    let ways = [("php/readfile", WayKind::Plain, 150e3), ("php/x-accel-redirect", WayKind::Offload, 160e3)];
    let (kept, freed) = (("php/readfile", WayKind::Plain, 8), ("php/x-accel-redirect", WayKind::Offload, 0));
    let site = downloads("php/readfile");
    let method = |slow: &[(&'static str, WayKind, u32)]| {
        let other = ("php/fpassthru", WayKind::Plain, 100e3);
        let reports = [download_report(&[&ways[..], &[other]].concat()), slow_report(slow)];
        let (decision, _) = decide_on(&site, &reports);
        (!decision.keep).then_some((decision.method.unwrap(), decision.change.worker_hours))
    };
    // A method whose effect on workers was not measured is none.
    let (chosen, workers) = method(&[kept, freed]).unwrap();
    assert_eq!(chosen, "php/x-accel-redirect", "though it takes more CPU time");
    assert!(workers.before > 0.0 && workers.after == 0.0, "{workers:?}");
    assert_eq!(method(&[("php/readfile", WayKind::Plain, 0), freed]), None);
    // Without the study of slow clients the CPU time decides.
    assert_eq!(method(&[]).unwrap().0, "php/fpassthru");
}

/// Rows of native codecs that take this many nanoseconds to decode a byte.
fn decoding(report: &mut Report, codec: &str, ns: f64) {
    let mut row = report.rows[0].clone();
    (row.cell.delivery, row.cell.serializer) = (None, None);
    row.cell.setting.codec = codec.into();
    let figure = |value| Estimate { value, ..Estimate::default() };
    row.values.insert(DECODE.into(), figure(ns * 1e6));
    row.values.insert(DECODED.into(), figure(1e6));
    report.rows.push(row);
}

#[test]
fn the_speed_of_devices_is_a_figure_of_the_site_and_has_its_flip() {
    let mut site = pages("server/gzip:6");
    let mut report = page_report(&PAGE_WAYS);
    for row in PAGES.iter().enumerate().map(|(at, _)| format!("file-{at}")).collect::<Vec<_>>() {
        let mut one = page_report(&PAGE_WAYS);
        one.rows.retain(|own| own.cell.payload == row);
        let before = one.rows.len();
        decoding(&mut one, "brotli", 6.0);
        decoding(&mut one, "zlib", 2.0);
        report.rows.extend(one.rows.split_off(before));
    }
    let reports = [report];
    let (decision, _) = decide_on(&site, &reports);
    assert_eq!(codings(&decision), ["br", "gzip"]);
    assert!(flips_on(&decision, "visitors' devices took").is_some(), "{:?}", decision.flips);
    site.visitors.slower_devices = Figure::assumed(400.0);
    assert!(decide_on(&site, &reports).0.keep);
}

#[test]
fn a_log_without_a_configuration_changes_nothing_and_says_what_is_missing() {
    let mut site = pages("server/plain");
    site.today.clear();
    for stratum in &mut site.strata {
        stratum.sent_bytes = Some(Figure::counted(1e9));
    }
    let (decision, decided) = decide_on(&site, &[page_report(&PAGE_WAYS)]);
    assert!(decision.keep && decision.rules.is_empty() && decision.needs.is_empty(), "{decision:?}");
    assert_eq!(decision.change, Change::default());
    assert!(decision.text.contains("--server-config or --url"), "{}", decision.text);
    assert!(decision.text.contains("Best of what was measured: Send pages with"), "{}", decision.text);
    let shown = crate::format::terminal::text(&document(&decided, &site), &Default::default());
    assert!(shown.trim_start().starts_with("No advice"), "{shown}");
}

#[test]
fn what_failed_today_is_not_known_and_stays() {
    let mut site = pages("server/config");
    site.visitors.accept = vec![class(&["zstd", "br", "gzip"], 1.0)];
    let mut reports = [page_report(&PAGE_WAYS), own("zstd, br, gzip", Some("gzip"), 6.0, 1.15)];
    assert!(!decide_on(&site, &reports).0.keep);
    let fault = |at: usize| FaultRow {
        cell: format!("file-{at}/nginx/-/http/server/config (zstd, br, gzip)"),
        round: 2,
        fault: Fault { kind: FaultKind::Codec, message: "502".into(), remedy: None },
    };
    reports[1].faults = vec![fault(0), fault(1)];
    let (decision, decided) = decide_on(&site, &reports);
    assert!(
        decision.keep && decision.text.contains("requests for what is sent today failed"),
        "{decision:?}"
    );
    assert_eq!(decided.policy.coverage[0].gaps[0].reason, Reason::TodayFailed);
}

#[test]
fn small_content_keeps_its_gzip() {
    let files = [("application/json", 300, 0.6), ("text/xml", 800, 0.5), ("application/json", 40_000, 0.2)];
    let on_the_fly = [WAYS[0], WAYS[1], WAYS[2]];
    let reports = [report(&files, &on_the_fly, 9, &calm)];
    let mut site = site(&files, &[90_000.0, 50_000.0, 10.0], "server/plain");
    let least = |site: &Site| decide_on(site, &reports).0.rules[0].min_bytes;
    // What was not measured as worse is encoded from 256 B on.
    assert!(least(&site) <= 256, "{}", least(&site));
    site.strata.remove(0);
    site.strata.remove(0);
    assert_eq!(least(&site), 256, "the smallest file that was measured has 40 KB");
    // The present smallest size is kept where it is smaller.
    let files = [("text/html", 120, 0.9), ("text/html", 40_000, 0.2)];
    let ways = [WAYS[0], WAYS[1], Way("server/gzip:6", WayKind::OnTheFly, Some("gzip"), 40e3, 10.0, 0.8)];
    let reports = [report(&files, &ways, 9, &calm)];
    let mut site = super::site(&files, &[50_000.0, 50_000.0], "server/gzip:1");
    let (decision, _) = decide_on(&site, &reports);
    assert!(!decision.keep && decision.rules.iter().all(|rule| rule.min_bytes <= 120), "{decision:?}");
    // Where nothing is encoded today and small files are worse for it, a larger one is taken.
    site.today[0].method = "server/plain".into();
    site.strata[0].sample[0].bytes = 500;
    site.strata[0].to_bytes = Some(1000);
    let dear = [WAYS[0], Way("server/gzip:6", WayKind::OnTheFly, Some("gzip"), 5e6, 10.0, 1.0)];
    let (decision, _) = decide_on(&site, &[report(&files, &dear, 9, &calm)]);
    assert_eq!(decision.rules[0].min_bytes, 1000, "{decision:?}");
}

#[test]
fn gzip_stands_beside_everything_else_whoever_asks() {
    let mut site = shop();
    for accept in [vec![class(&["zstd", "br", "gzip"], 1.0)], vec![class(&["br"], 0.9), class(&[], 0.1)]] {
        site.visitors.accept = accept;
        let (decision, _) = decide_on(&site, &[report(&FILES, &WAYS, 9, &calm)]);
        assert!(codings(&decision).contains(&"gzip"), "{decision:?}");
    }
    // A network in front asks for br and gzip, whoever visits.
    let mut site = pages("server/gzip:1");
    site.sources.front = Some("cloudflare".into());
    let (decision, decided) = decide_on(&site, &[page_report(&PAGE_WAYS)]);
    assert_eq!(codings(&decision), ["br", "gzip"]);
    assert!(decided.notes.iter().any(|note| note.contains("cloudflare is in front")), "{:?}", decided.notes);
}

#[test]
fn every_type_that_is_worth_it_is_precompressed_measured_or_not() {
    let mut site = shop();
    let mut other = |format: &str, saving: f64| {
        let stratum = Stratum { format: format.into(), saving: Some(saving), ..site.strata[1].clone() };
        let sample = vec![Sample { sha256: digest(77), ..stratum.sample[0].clone() }];
        site.strata.push(Stratum { sample, ..stratum });
    };
    other("image/svg+xml", 0.6);
    other("font/woff2", 0.0);
    let (decision, _) = decide_on(&site, &[report(&FILES, &WAYS, 9, &calm)]);
    for rule in &decision.rules {
        assert_eq!(rule.types, ["text/javascript", "text/css", "image/svg+xml"], "{decision:?}");
    }
    // On the fly it costs time for each response: what was not measured stays as it is.
    let (decision, _) = decide_on(&site, &[report(&FILES, &WAYS[..4], 9, &calm)]);
    assert!(decision.rules.iter().all(|rule| rule.types == ["text/javascript", "text/css"]), "{decision:?}");
}

/// A script of PHP that sends a style sheet has no file that could be packed.
#[test]
fn nothing_is_made_beforehand_of_what_a_program_makes() {
    let mut site = shop();
    let format = site.strata[0].format.clone();
    site.strata[0].sample[0].path = "site-sample/made/001-css.php.css".into();
    let (decision, _) = decide_on(&site, &[report(&FILES, &WAYS, 9, &calm)]);
    assert!(decision.rules.iter().any(|rule| rule.by == Encoder::Beforehand), "{decision:?}");
    let [before, after] =
        decision.parts.iter().find(|part| part.content.starts_with(&format)).unwrap().gb_out;
    assert!((after / before - 1.0).abs() < 1e-9, "{decision:?}");
    assert!(decision.change.gb_out.share().unwrap() < -0.01, "{decision:?}");
}

#[test]
fn no_type_loses_its_coding() {
    // XML is dear to encode for what that saves.
    let files = [("text/xml", 2_000, 0.97), ("text/html", 90_000, 0.2)];
    let gzip = |way, size| Way(way, WayKind::OnTheFly, Some("gzip"), 400e3, 2.0, size);
    let ways = [WAYS[0], gzip("server/gzip:1", 1.0), gzip("server/gzip:6", 0.95)];
    let reports = [report(&files, &ways, 9, &calm)];
    let mut site = site(&files, &[50_000.0, 50_000.0], "server/gzip:1");
    let chosen = |site: &Site| {
        let rule = decide_on(site, &reports).0.rules[0].clone();
        (rule.method, rule.types)
    };
    assert_eq!(chosen(&site), ("server/gzip:6".into(), Vec::new()), "of all types");
    site.today[0].method = "server/plain".into();
    assert_eq!(chosen(&site), ("server/gzip:6".into(), vec!["text/html".into()]));
}

#[test]
fn a_type_of_which_today_is_not_known_stays_as_it_is() {
    let mut site = shop();
    site.today.clear();
    for stratum in &mut site.strata {
        if stratum.format != "text/css" {
            let accept = site.visitors.accept.iter().map(|client| Sent {
                accept: client.codings.clone(),
                coding: "identity".into(),
                bytes: stratum.sample[0].bytes,
                method: None,
                vary: false,
                cache_control: None,
            });
            stratum.sample[0].sent = accept.collect();
        }
    }
    let (decision, _) = decide_on(&site, &[report(&FILES, &WAYS, 9, &calm)]);
    assert!(!decision.keep, "{decision:?}");
    assert!(decision.rules.iter().all(|rule| rule.types == ["text/javascript"]), "{decision:?}");
}

#[test]
fn every_assumed_figure_that_decides_has_its_flip() {
    let mut site = shop();
    site.visitors.tls = true;
    let reports = [report(&FILES, &WAYS[..4], 9, &calm)];
    let decision =
        decide_by(&site, "", &links(), &reports, (Objective::Money, NOT_ENCODED)).0.policy.decisions[0]
            .clone();
    for what in ["a core-hour cost", "a GB of traffic cost"] {
        assert!(flips_on(&decision, what).is_some(), "{what}: {:?}", decision.flips);
    }
}
