use weigh_model::link::LinkSpec;
use weigh_model::page::{
    Found, LargestElement, PageLoad, Paint, Priority, Protocol, Repeat, Resource, simulate,
};
use weigh_model::site::{Figure, LoadedPage, SCHEMA, Sample, Visitors};

use weigh_model::policy::{Change, ContentChange, Decision, Objective};

use super::*;
use crate::policy::NOT_ENCODED;

fn resource(url: &str, kind: ResourceKind, found: Found, plain_bytes: f64) -> Resource {
    let is_sheet = kind == ResourceKind::Style;
    Resource {
        url: format!("http://shop.test{url}"),
        origin: 0,
        kind,
        found,
        delay_ms: 0.0,
        priority: Priority::VeryHigh,
        raised: None,
        blocks_render: is_sheet,
        blocks_load: kind != ResourceKind::Document,
        run: None,
        head_bytes: 200.0,
        // As gzip leaves it.
        body_bytes: plain_bytes * 0.3,
        plain_bytes: Some(plain_bytes),
        request_bytes: 300.0,
        server_ms: 5.0,
        work_ms: 2.0,
        repeat: if is_sheet { Repeat::Fresh } else { Repeat::Again },
    }
}

/// A page with a style sheet that it waits for, and two that nothing painted waits for.
fn graph() -> PageGraph {
    let late = |url| Resource {
        blocks_render: false,
        ..resource(url, ResourceKind::Other, Found::Layout(0), 30_000.0)
    };
    let graph = PageGraph {
        schema: PageGraph::SCHEMA,
        protocol: None,
        resources: vec![
            resource("/", ResourceKind::Document, Found::Navigation, 40_000.0),
            resource("/css/app.css?v=3", ResourceKind::Style, Found::Markup(0.1), 300_000.0),
            resource("/css/print.css", ResourceKind::Style, Found::Markup(0.2), 20_000.0),
            late("/late.json"),
        ],
        inline_scripts: Vec::new(),
        body_at: 0.5,
        first: Paint { at: 1.0, ..Paint::default() },
        largest: LargestElement { image: None, paint: Paint { at: 1.0, ..Paint::default() } },
        start_ms: 1.0,
        commit_ms: 4.0,
        load_ms: 1.0,
    };
    graph.check().unwrap();
    graph
}

fn stratum(kind: Kind, format: &str, from_bytes: u64, path: &str, requests: f64) -> Stratum {
    let sample = Sample {
        path: path.into(),
        bytes: from_bytes + 1,
        sha256: "0".repeat(64),
        share: 1.0,
        sent: Vec::new(),
    };
    Stratum {
        kind,
        format: format.into(),
        from_bytes,
        to_bytes: None,
        files: Figure::counted(1.0),
        bytes: Figure::counted(from_bytes as f64 + 1.0),
        requests: Figure::counted(requests),
        not_modified: None,
        ranges: None,
        sent_bytes: None,
        writes: None,
        made_ms: None,
        saving: None,
        sample: vec![sample],
    }
}

/// A thousand views, of which these many load style sheets.
fn site(first: f64) -> Site {
    Site {
        schema: SCHEMA,
        name: "shop".into(),
        looked: "2026-01-02".into(),
        sources: Default::default(),
        visitors: Visitors { tls: false, slower_devices: Figure::counted(1.0), ..Visitors::default() },
        store_link: Default::default(),
        prices: Default::default(),
        limits: Default::default(),
        today: Vec::new(),
        strata: vec![
            stratum(Kind::Page, "text/html", 10_000, "shop-sample/pages/001.html", 1000.0),
            stratum(Kind::Asset, "text/css", 100_000, "css/app.css", first),
            stratum(Kind::Asset, "text/css", 10_000, "css/other.css", first),
            stratum(Kind::Asset, "image/png", 10_000, "logo.png", 500.0),
            stratum(Kind::Page, "application/json", 1_000, "shop-sample/pages/002.json", 50.0),
        ],
        page_cache: Vec::new(),
        cacheable: Vec::new(),
        page_php: Vec::new(),
        worker: None,
        loaded: vec![LoadedPage {
            page: "/".into(),
            file: "shop-sample/loads/001.json".into(),
            bytes: 1,
            sha256: "0".repeat(64),
            share: 1.0,
            graph: Some(graph()),
        }],
    }
}

fn links() -> Vec<Weighted> {
    vec![(LinkSpec::parse("8mbit/100ms").unwrap(), 0.75), (LinkSpec::parse("1.6mbit/150ms").unwrap(), 0.25)]
}

/// The mean over links of a load.
fn load(graph: &PageGraph, visit: Visit, of: fn(&PageLoad) -> f64) -> f64 {
    let over = |(link, share): &Weighted| {
        share
            * of(&simulate(
                graph,
                &LoadSetup { link, protocol: Protocol::Http1, tls: false, paced: false, visit },
            ))
            / 1e3
    };
    links().iter().map(over).sum()
}

fn seconds(waits: &PageWaits, site: &Site, stratum: &Stratum, part: f64) -> Option<f64> {
    waits.seconds((site, &links(), &waits.shared(site, &links())), stratum, part)
}

fn near(a: f64, b: f64) {
    assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
}

#[test]
fn parts_add_up_to_the_loads_of_first_and_repeated_visits() {
    for first in [1000.0, 400.0] {
        let (site, links) = (site(first), links());
        let waits = PageWaits::new(&site, &links, Moment::LargestPaint).unwrap();
        let whole = |number: usize| {
            let stratum = &site.strata[number];
            seconds(&waits, &site, stratum, 0.3).unwrap() * stratum.requests.value
        };
        // Today each body is 0.3 of its content, between two simulated parts.
        let ours: f64 = (0..3).map(whole).sum();
        let lcp = |visit| load(&graph(), visit, |load| load.lcp_ms);
        let theirs = first * lcp(Visit::First) + (1000.0 - first) * lcp(Visit::Repeat);
        assert!((ours / theirs - 1.0).abs() < 0.05, "{first}: {ours} {theirs}");
    }
}

#[test]
fn what_less_of_a_style_sheet_changes_is_what_a_simulation_says() {
    let (site, links) = (site(1000.0), links());
    for (moment, of) in [
        (Moment::LargestPaint, (|load: &PageLoad| load.lcp_ms) as fn(&PageLoad) -> f64),
        (Moment::FirstPaint, |load| load.fcp_ms),
        (Moment::Load, |load| load.load_ms),
    ] {
        let waits = PageWaits::new(&site, &links, moment).unwrap();
        let wait = |part| seconds(&waits, &site, &site.strata[1], part).unwrap();
        let with = |part: f64| {
            let mut graph = graph();
            graph.resources[1].body_bytes = 300_000.0 * part;
            load(&graph, Visit::First, of)
        };
        near(wait(1.0) - wait(0.2), with(1.0) - with(0.2));
        assert!(wait(0.0) == 0.0 && wait(0.3) < wait(0.35), "{moment:?}");
    }
}

#[test]
fn what_no_page_loads_waits_for_its_response_and_requests_beside_pages_for_nothing() {
    let (mut site, links) = (site(1000.0), links());
    let waits = PageWaits::new(&site, &links, Moment::LargestPaint).unwrap();
    for number in [3, 4] {
        assert_eq!(seconds(&waits, &site, &site.strata[number], 1.0), None);
    }
    let in_all =
        |site: &Site| seconds(&waits, site, &site.strata[1], 1.0).unwrap() * site.strata[1].requests.value;
    let before = in_all(&site);
    site.strata[1].requests.value = 5000.0;
    near(in_all(&site), before);
    assert!(PageWaits::new(&Site { loaded: Vec::new(), ..site }, &links, Moment::default()).is_none());
}

/// A decision that sends this many times the bytes of a stratum.
fn decision(kind: Kind, stratum: &Stratum, times: f64) -> Decision {
    let part = ContentChange {
        content: stratum.name(),
        wait_hours: [0.0; 2],
        core_hours: [0.0; 2],
        gb_out: [2.0, 2.0 * times],
        gb_stored: [0.0; 2],
    };
    Decision {
        kind,
        keep: false,
        text: String::new(),
        today: String::new(),
        rules: Vec::new(),
        method: None,
        needs: Vec::new(),
        change: Change::default(),
        parts: vec![part],
        at_rate: None,
        flips: Vec::new(),
    }
}

#[test]
fn loads_are_those_of_all_changes_at_once_without_those_that_were_taken_back() {
    let (site, links) = (site(1000.0), links());
    let mut policy =
        crate::policy::decide(&site, "", &links, Vec::new(), Default::default(), NOT_ENCODED).unwrap().policy;
    policy.decisions =
        vec![decision(Kind::Page, &site.strata[0], 0.5), decision(Kind::Asset, &site.strata[1], 0.8)];
    let after = |document: f64, sheet: f64| {
        let mut graph = graph();
        graph.resources[0].body_bytes *= document;
        graph.resources[1].body_bytes *= sheet;
        graph
    };
    let check = |policy: &Policy, after: &PageGraph| {
        let loads = loads(policy, &site, &links);
        assert_eq!(loads.len(), 2);
        for (change, (link, _)) in loads.iter().zip(&links) {
            let setup =
                LoadSetup { link, protocol: Protocol::Http1, tls: false, paced: false, visit: Visit::First };
            assert_eq!(change.lcp_ms, [simulate(&graph(), &setup).lcp_ms, simulate(after, &setup).lcp_ms]);
        }
        assert!(loads[0].lcp_ms[1] < loads[0].lcp_ms[0] && loads[0].fcp_ms[1] < loads[0].fcp_ms[0]);
    };
    check(&policy, &after(0.5, 0.8));
    policy.keep_as_it_is(Kind::Page, "It is worse.");
    check(&policy, &after(1.0, 0.8));
}

#[test]
fn what_has_no_known_size_is_of_no_stratum() {
    let (mut site, links) = (site(1000.0), links());
    let mut unknown = graph();
    unknown.resources[1].plain_bytes = None;
    site.loaded[0].graph = Some(unknown);
    let waits = PageWaits::new(&site, &links, Moment::LargestPaint).unwrap();
    assert_eq!(seconds(&waits, &site, &site.strata[1], 1.0), None);
    assert!(seconds(&waits, &site, &site.strata[2], 1.0).is_some());
}

/// What paints last is an image of a slow style sheet: no load shows the document's bytes, of which the site pays for most of its traffic.
#[test]
fn what_no_load_shows_is_encoded_for_its_price() {
    use crate::policy::tests::{File, WAYS, calm, decided, report_of, site as site_of};
    let files: [File; 1] = [("text/html", 40_000, 0.2)];
    let mut ways = [WAYS[0], WAYS[2]];
    ways[0].0 = "php/none";
    let reports = [report_of("page", &files, &ways, 9, &calm)];
    let mut own = site_of(&files, &[100_000.0], "server/plain");
    (own.today[0].kind, own.strata[0].kind) = (Kind::Page, Kind::Page);
    let mut graph = graph();
    let image = Resource {
        blocks_render: false,
        ..resource("/logo.svg", ResourceKind::Image, Found::Layout(1), 9_000.0)
    };
    graph.resources = vec![graph.resources[0].clone(), graph.resources[1].clone(), image];
    graph.resources[0].body_bytes = 40_000.0;
    (graph.resources[1].found, graph.resources[1].server_ms) = (Found::Markup(0.01), 400.0);
    graph.first.at = 0.5;
    graph.largest = LargestElement { image: Some(2), paint: Paint { at: 0.5, ..Paint::default() } };
    graph.check().unwrap();
    let page = site(1.0).loaded.remove(0);
    own.loaded = vec![LoadedPage { graph: Some(graph), ..page }];
    let pages = |site: &Site| decided(site, &reports, Objective::Time).decisions.remove(0);
    let decision = pages(&own);
    assert!(!decision.keep && decision.text.contains("gzip 6"), "{}", decision.text);
    assert!(decision.flips.iter().all(|flip| !decision.text.starts_with(&flip.then)), "{:?}", decision.flips);
    let wait = decision.change.wait_hours;
    assert!((wait.after / wait.before - 1.0).abs() < 0.01, "{wait:?}");
    // Where bytes cost nothing, there is no reason.
    own.prices.gb_out = Figure::assumed(0.0);
    assert!(pages(&own).keep);
}
