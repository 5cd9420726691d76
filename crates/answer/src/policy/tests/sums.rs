//! Sums that agree: every class of clients with what it gets today, what was not measured, what a log counted.

use proptest::prelude::*;
use weigh_model::policy::{Reason, Rule, Trial, Withheld};
use weigh_model::site::{Front, Sent};

use super::*;
use crate::money::GB;
use crate::policy::decide::decide_by;
use crate::report::Report;

/// What the site's own configuration sends to a class of clients: the Accept-Encoding, the coding, and its bytes ÷ those of gzip 6.
type Class = (&'static str, Option<&'static str>, f64);

/// A run with the site's own configuration, asked as each of these classes.
fn configured(classes: &[Class]) -> Vec<Report> {
    let of = |(accept, coding, size): &Class| {
        let own = Way("server/config", WayKind::OnTheFly, *coding, 40e3, 40.0, *size);
        let mut report = report(&FILES, &[own], 9, &calm);
        for row in &mut report.rows {
            row.cell.id = format!("{} ({accept})", row.cell.id);
            if let Some(delivery) = &mut row.cell.delivery {
                delivery.accept = (*accept).to_owned();
            }
        }
        report
    };
    classes.iter().map(of).collect()
}

fn client(codings: &[&str], share: f64) -> Accept {
    Accept { codings: codings.iter().map(|one| (*one).to_owned()).collect(), share, from: From::Counted }
}

/// The site that compresses by its own configuration, with two classes of clients.
fn caddy() -> Site {
    let mut site = shop();
    site.today[0].method = "server/config".into();
    site.visitors.accept = vec![client(&["zstd", "br", "gzip"], 0.6), client(&["gzip"], 0.4)];
    site
}

/// Bytes of a file's body as the run above has it.
fn body(at: usize, coding: bool, size: f64) -> f64 {
    let (_, bytes, share) = FILES[at];
    let encoded = if coding && share < 1.0 { share * size } else { 1.0 };
    ((bytes as f64 * encoded.min(1.02)) as u64 + 20) as f64
}

/// Bytes of a response before its body.
const HEAD: f64 = 300.0;

/// GB per month of the site's responses with bodies of these bytes.
fn gigabytes(site: &Site, of: impl Fn(usize) -> f64) -> f64 {
    site.strata.iter().enumerate().map(|(at, one)| one.requests.value * (of(at) + HEAD)).sum::<f64>() / GB
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} {b}");
}

fn decided_of(site: &Site, reports: &[Report]) -> Decided {
    decide_by(site, &digest(0), &links(), reports, (Objective::Time, NOT_ENCODED)).0
}

fn shown(decided: &Decided, site: &Site) -> String {
    let options = crate::output::Options { width: 1000, ..crate::output::Options::default() };
    let text = crate::format::terminal::text(&document(decided, site), &options);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn each_class_of_clients_is_compared_with_what_it_gets_today() {
    let site = caddy();
    let classes = [("gzip, deflate, br, zstd", Some("zstd"), 0.95), ("gzip", Some("gzip"), 1.0)];
    let mut reports = configured(&classes);
    reports.push(report(&FILES, &[WAYS[0], WAYS[2]], 9, &calm));
    let policy = decided(&site, &reports, Objective::Time);
    let before = gigabytes(&site, |at| 0.6 * body(at, true, 0.95) + 0.4 * body(at, true, 1.0));
    near(policy.decisions[0].change.gb_out.before, before);
    // gzip for everybody would be more bytes for those who get zstd.
    assert!(policy.decisions[0].keep, "{:?}", policy.decisions);
    assert_eq!((policy.coverage[0].requests, policy.coverage[0].bytes), (1.0, 1.0));
}

#[test]
fn clients_of_which_today_is_not_known_are_no_part_of_a_gain() {
    let mut site = caddy();
    let mut reports = configured(&[("gzip, deflate, br, zstd", Some("br"), 0.95)]);
    reports.push(report(&FILES, &WAYS, 9, &calm));
    let found = decided_of(&site, &reports);
    let change = &found.policy.decisions[0].change;
    let static_gzip = |at: usize| body(at, FILES[at].0 != "image/png", 0.98);
    near(change.gb_out.before, gigabytes(&site, |at| 0.6 * body(at, true, 0.95) + 0.4 * static_gzip(at)));
    let coverage = &found.policy.coverage[0];
    near(coverage.requests, 0.6);
    assert_eq!(coverage.gaps[0].reason, Reason::TodayUnknown);
    let text = shown(&found, &site);
    assert!(
        text.contains("(40% of the requests) not compared, because it is not known what is sent today"),
        "{text}"
    );
    // It was to be measured, and did not fit into the budget.
    for report in &mut reports {
        report.unmeasured = (0..5).map(|at| format!("file-{at}/nginx/-/http/server/config (gzip)")).collect();
    }
    assert_eq!(
        decided(&site, &reports, Objective::Time).coverage[0].gaps[0].reason,
        Reason::TodayNotMeasured
    );
    // What is sent in gzip to those who accept more is sent to those who accept it.
    let mut reports = configured(&[("gzip, deflate, br, zstd", Some("gzip"), 1.0)]);
    reports.push(report(&FILES, &WAYS, 9, &calm));
    let policy = decided(&site, &reports, Objective::Time);
    near(policy.decisions[0].change.gb_out.before, gigabytes(&site, |at| body(at, true, 1.0)));
    near(policy.coverage[0].requests, 1.0);
    // Those who accept nothing get files as they are, and a site that sends br may send anything to those who do not accept it.
    site.today[0].method = "server/brotli_static".into();
    site.visitors.accept = vec![client(&["br", "gzip"], 0.5), client(&["gzip"], 0.3), client(&[], 0.2)];
    let policy = decided(&site, &reports[1..], Objective::Time);
    near(policy.coverage[0].requests, 0.7);
}

#[test]
fn what_the_site_answered_is_what_it_sends() {
    let mut site = caddy();
    site.today.clear();
    let sent = |accept: &[&str], coding: &str, bytes, method: Option<&str>| Sent {
        accept: client(accept, 0.0).codings,
        coding: coding.into(),
        bytes,
        method: method.map(str::to_owned),
        vary: true,
        cache_control: None,
    };
    for stratum in &mut site.strata {
        stratum.sample[0].sent = vec![
            sent(&["gzip", "br", "zstd"], "br", 111, Some("server/brotli:5")),
            sent(&["gzip"], "identity", 222, None),
        ];
    }
    let reports = [report(&FILES, &WAYS, 9, &calm)];
    let of = |site: &Site| {
        let policy = decided(site, &reports, Objective::Time);
        (policy.decisions[0].change.gb_out.before, policy.coverage[0].requests)
    };
    let (before, requests) = of(&site);
    near(requests, 1.0);
    near(before, gigabytes(&site, |_| 0.6 * 111.0 + 0.4 * 222.0));
    // gzip in a length that no method makes.
    site.strata[2].sample[0].sent[1] = sent(&["gzip"], "gzip", 333, None);
    let (_, requests) = of(&site);
    near(requests, 1.0 - 0.4 * 60_000.0 / 310_000.0);
}

#[test]
fn a_stratum_of_which_nothing_was_measured_keeps_its_bytes() {
    let whole = report(&FILES, &WAYS, 9, &calm);
    let mut part = whole.clone();
    part.rows.retain(|row| !row.id().starts_with("file-2/"));
    let mut site = shop();
    let change = |site: &Site, report: &Report| {
        let decided = decided_of(site, std::slice::from_ref(report));
        (decided.policy.decisions[0].change.gb_out, decided)
    };
    let mut few = shop();
    few.strata.remove(2);
    let (alone, _) = change(&few, &whole);
    // Without a log, the bytes of the content are the most that they can be.
    let (amount, decided) = change(&site, &part);
    let most = 60_000.0 * 200_000.0 / GB;
    near(amount.before, alone.before + most);
    near(amount.after, alone.after + most);
    near(decided.policy.total.gb_out.before, amount.before);
    let gap = &decided.policy.coverage[0].gaps[0];
    assert_eq!((gap.reason, gap.strata, gap.at_most), (Reason::NotMeasured, 1, true));
    near(gap.requests, 60_000.0 / 310_000.0);
    let text = shown(&decided, &site);
    assert!(
        text.contains("not decided, because nothing of these was measured: text/javascript, from 100 KB"),
        "{text}"
    );
    // As counted.
    site.strata[2].sent_bytes = Some(Figure::counted(5e9));
    let (amount, decided) = change(&site, &part);
    near(amount.before, alone.before + 5.0);
    assert!(!decided.policy.coverage[0].gaps[0].at_most);
    // Without any sample of it, that is the reason.
    site.strata[2].sample.clear();
    let (_, decided) = change(&site, &part);
    assert_eq!(decided.policy.coverage[0].gaps[0].reason, Reason::NoSample);
}

#[test]
fn bytes_of_what_was_not_measured_follow_from_what_rules_make_of_its_sample() {
    let whole = report(&FILES, &WAYS, 9, &calm);
    let mut part = whole.clone();
    part.rows.retain(|row| !row.id().starts_with("file-2/"));
    let mut few = shop();
    few.strata.remove(2);
    let alone = decided_of(&few, &[whole]).policy.decisions[0].change.gb_out;
    let mut site = shop();
    let classes = site.classes();
    let has = |client: &Accept, coding: &str| client.codings.iter().any(|own| own == coding);
    let today = |client: &Accept| if has(client, "gzip") { 69_000 } else { 200_000 };
    let sent = |client: &Accept| Sent {
        accept: client.codings.clone(),
        coding: if has(client, "gzip") { "gzip" } else { "identity" }.into(),
        bytes: today(client),
        method: None,
        vary: true,
        cache_control: None,
    };
    site.strata[2].sample[0].sent = classes.iter().map(sent).collect();
    let made = |rule: &Rule| if rule.coding == "br" { 50_000 } else { 59_000 };
    let of = |encoded: Encoded| {
        let (objective, links) = ((Objective::Time, encoded), links());
        decide_by(&site, &digest(0), &links, std::slice::from_ref(&part), objective).0
    };
    let decided = of(&|_, _, rule| Some(made(rule)));
    let decision = &decided.policy.decisions[0];
    assert_eq!(decision.rules[0].coding, "br");
    let gb = |of: &dyn Fn(&Accept) -> u64| {
        60_000.0 * classes.iter().map(|client| client.share * of(client) as f64).sum::<f64>() / GB
    };
    let with = |client: &Accept| {
        let rule = decision.rules.iter().find(|rule| has(client, &rule.coding));
        rule.map_or(200_000, made)
    };
    near(decision.change.gb_out.before, alone.before + gb(&today));
    near(decision.change.gb_out.after, alone.after + gb(&with));
    near(decided.policy.total.gb_out.after, decision.change.gb_out.after);
    let (low, high) = decision.change.gb_out.low.zip(decision.change.gb_out.high).unwrap();
    assert!((low..=high).contains(&decision.change.gb_out.share().unwrap()));
    assert!(!decision.parts.iter().any(|part| part.content == site.strata[2].name()), "no proof measures it");
    let gap = &decided.policy.coverage[0].gaps[0];
    assert_eq!((gap.reason, gap.strata), (Reason::EncodedOnly, 1));
    let text = shown(&decided, &site);
    assert!(
        text.contains("counted by their bytes alone, because these were encoded and not measured"),
        "{text}"
    );
    // What nothing is known of stays as it is.
    let unknown = of(NOT_ENCODED);
    near(unknown.policy.decisions[0].change.gb_out.after, alone.after + gb(&today));
    assert_eq!(unknown.policy.coverage[0].gaps[0].reason, Reason::NotMeasured);
}

#[test]
fn a_method_that_a_small_part_of_the_content_lacks_stays_in_the_choice() {
    let without = |file: &str| {
        let mut report = report(&FILES, &WAYS, 9, &calm);
        let is_left = |id: &str| id.starts_with(file) && id.ends_with("server/brotli_static");
        report.unmeasured =
            report.rows.iter().map(|row| row.id().to_owned()).filter(|id| is_left(id)).collect();
        assert_eq!(report.unmeasured.len(), 1);
        report.rows.retain(|row| !is_left(row.id()));
        decided_of(&shop(), &[report]).policy
    };
    let methods = |policy: &Policy| -> Vec<String> {
        policy.decisions[0].rules.iter().map(|rule| rule.method.clone()).collect()
    };
    let small = without("file-3/");
    assert!(methods(&small).contains(&"server/brotli_static".to_owned()), "{:?}", methods(&small));
    let gap = &small.coverage[0].gaps[0];
    assert_eq!((gap.reason, gap.content.len()), (Reason::NotMeasured, 1));
    assert!(gap.content[0].starts_with("text/css"), "{gap:?}");
    // It is none where most of the content lacks it.
    let large = without("file-2/");
    assert!(!methods(&large).contains(&"server/brotli_static".to_owned()), "{:?}", methods(&large));
}

#[test]
fn files_that_were_not_measured_count_by_their_bytes() {
    let mut site = shop();
    let mut larger = site.strata[1].sample[0].clone();
    (larger.bytes, larger.sha256, larger.share) = (40_000, digest(99), 0.5);
    site.strata[1].sample[0].share = 0.5;
    site.strata[1].sample.push(larger);
    let reports = [report(&FILES, &WAYS, 9, &calm)];
    let of = |site: &Site| decided(site, &reports, Objective::Time).decisions[0].change.gb_out.before;
    let own = 90_000.0 * body(1, true, 1.15) / GB;
    near(of(&site), of(&shop()) + 0.5 * own);
}

#[test]
fn nothing_is_claimed_where_today_is_not_known() {
    let mut site = shop();
    site.today.clear();
    let found = decided_of(&site, &[report(&FILES, &WAYS, 9, &calm)]);
    let decision = &found.policy.decisions[0];
    assert_eq!((decision.keep, &decision.change, &decision.rules[..]), (true, &Change::default(), &[][..]));
    assert_eq!(found.policy.total, Change::default());
    assert!(!found.policy.coverage[0].in_total && found.policy.coverage[0].requests == 0.0);
    let text = shown(&found, &site);
    assert!(!text.contains('%') && !text.contains("Together"), "{text}");
    assert!(text.contains("Leave assets as they are: what is sent today is not known"), "{text}");
}

#[test]
fn what_a_log_counted_is_compared_before_any_gain() {
    let reports = [report(&FILES, &WAYS, 9, &calm)];
    let mut site = shop();
    for (at, stratum) in site.strata.iter_mut().enumerate() {
        stratum.sent_bytes = Some(Figure::counted((stratum.requests.value * body(at, true, 1.15)).round()));
    }
    let found = decided_of(&site, &reports);
    let coverage = &found.policy.coverage[0];
    near(coverage.computed_gb.unwrap(), coverage.counted_gb.unwrap());
    assert!(coverage.differences.is_empty() && !shown(&found, &site).contains("Before any change"));
    // Visitors get three times as much of the style sheet.
    let sheet = site.strata[3].sent_bytes.as_mut().unwrap();
    sheet.value *= 3.0;
    let extra = 2.0 / 3.0 * sheet.value / GB;
    let found = decided_of(&site, &reports);
    let coverage = &found.policy.coverage[0];
    near(coverage.counted_gb.unwrap() - coverage.computed_gb.unwrap(), extra);
    assert_eq!(coverage.differences.len(), 1);
    let text = shown(&found, &site);
    let (line, gain) = (text.find("Before any change").unwrap(), text.find("Visitors wait").unwrap());
    assert!(
        line < gain
            && text[line..].contains("text/css, from 10 KB: 13.8 KB a response computed, 41.5 KB counted"),
        "{text}"
    );
}

#[test]
fn change_nothing_is_said_of_what_was_looked_at() {
    let ways = [WAYS[0], WAYS[1]];
    // Without the image, for which today's gzip is time spent for nothing.
    let files = &FILES[..4];
    let site = site(files, &[40_000.0, 90_000.0, 60_000.0, 30_000.0], "server/gzip:1");
    let mut part = report(files, &ways, 9, &calm);
    let text = |report: &Report| shown(&decided_of(&site, std::slice::from_ref(report)), &site);
    let said = text(&part);
    assert!(said.contains("Change nothing: no other setting is better."), "{said}");
    // What was better is withheld, for the trial found that it makes something worse.
    let mut found = decided_of(&site, std::slice::from_ref(&part));
    let withheld = Withheld { file: "nginx/encoding.conf".into(), answers: 1, worse: Vec::new() };
    found.policy.trial = Some(Trial { answers: 9, withheld: vec![withheld], ..Trial::default() });
    let said = shown(&found, &site);
    assert!(said.contains("Change nothing: the files of what was better make answers"), "{said}");
    part.rows.retain(|row| !row.id().starts_with("file-2/"));
    let said = text(&part);
    assert!(said.contains("Change nothing of what was measured: no other setting is better."), "{said}");
}

#[test]
fn over_plain_http_no_rule_is_for_what_browsers_do_not_accept_there() {
    let mut site = shop();
    site.visitors.tls = false;
    let found = decided_of(&site, &[report(&FILES, &WAYS, 9, &calm)]);
    let rules: Vec<&str> = found.policy.decisions[0].rules.iter().map(|rule| rule.coding.as_str()).collect();
    assert_eq!(rules, ["gzip"]);
    near(found.policy.decisions[0].change.gb_out.before, gigabytes(&site, |at| body(at, true, 1.15)));
    assert!(found.notes.iter().any(|note| note.contains("plain HTTP")), "{:?}", found.notes);
    // A proxy in front may speak HTTPS.
    site.sources.front = Some("a proxy".into());
    let found = decided_of(&site, &[report(&FILES, &WAYS, 9, &calm)]);
    assert_eq!(found.policy.decisions[0].rules.len(), 2);
    assert!(
        found.notes.iter().any(|note| note.contains("What it does to answers is not known")),
        "{:?}",
        found.notes
    );
}

#[test]
fn what_a_known_front_asks_for_is_decided_on() {
    let mut site = shop();
    site.sources.front = Some("Varnish".into());
    let found = decided_of(&site, &[report(&FILES, &WAYS, 9, &calm)]);
    let rules: Vec<&str> = found.policy.decisions[0].rules.iter().map(|rule| rule.coding.as_str()).collect();
    assert_eq!(rules, ["gzip"]);
    let front = Front::named("Varnish").unwrap();
    assert!(found.notes.iter().any(|note| note.contains(front.source)), "{:?}", found.notes);
    let own = site.classes();
    assert_eq!((own.len(), own[0].codings.as_slice()), (1, &["gzip".to_owned()][..]));
    near(own[0].share, 1.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_is_covered_and_what_is_not_are_all(
        files in prop::collection::vec((0.0..1e6f64, any::<bool>(), any::<bool>(), prop::option::of(0.0..1e10f64)), 5),
        is_known in any::<bool>(),
    ) {
        let mut report = report(&FILES, &WAYS, 6, &calm);
        let mut site = shop();
        if !is_known {
            site.today.clear();
        }
        for (at, (requests, is_sampled, is_measured, sent)) in files.iter().enumerate() {
            site.strata[at].requests.value = *requests;
            site.strata[at].sent_bytes = sent.map(Figure::counted);
            if !is_sampled {
                site.strata[at].sample.clear();
            }
            let name = format!("file-{at}/");
            report.rows.retain(|row| *is_measured || !row.id().starts_with(&name));
        }
        let policy = decided_of(&site, &[report]).policy;
        for one in &policy.coverage {
            prop_assert!((0.0..=1.0).contains(&one.requests) && (0.0..=1.0).contains(&one.bytes), "{one:?}");
            let gaps = one.gaps.iter().fold((0.0, 0.0), |sum, gap| (sum.0 + gap.requests, sum.1 + gap.bytes));
            prop_assert!((one.requests + gaps.0 - 1.0).abs() < 0.003 && (one.bytes + gaps.1 - 1.0).abs() < 0.003, "{one:?}");
        }
        // The total is the sum of its parts: decisions, and what has none.
        if let [decision] = &policy.decisions[..] {
            let total = if is_known { &decision.change } else { &Change::default() };
            prop_assert_eq!(&policy.total.gb_out.before, &total.gb_out.before);
            prop_assert_eq!(&policy.total.wait_hours.after, &total.wait_hours.after);
        }
    }
}
