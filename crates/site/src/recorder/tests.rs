//! Graphs of loads that are written down here.

use super::*;
use weigh_rig::browser::{Initiator, LargestSeen, Timing};

const MARKUP: &str = "<!doctype html><link rel=stylesheet href=a.css><script src=a.js></script><body><p>Hello</p><img src=b.png>";

/// A request that was wanted, sent, answered and done at these milliseconds.
fn request(
    name: &str,
    kind: &str,
    by: (&str, &str),
    [wanted, sent, first, done]: [f64; 4],
) -> RecordedRequest {
    let url = |name: &str| format!("http://localhost/{name}");
    RecordedRequest {
        id: name.into(),
        url: url(name),
        initiator: Initiator { kind: by.0.into(), url: Some(url(by.1)) },
        kind: kind.into(),
        priority: "High".into(),
        last_priority: "High".into(),
        wanted_ms: wanted,
        timing: Some(Timing { sent_ms: sent, first_byte_ms: first }),
        done_ms: Some(done),
        status: 200,
        protocol: "http/1.1".into(),
        body_bytes: 1_000.0,
        ..RecordedRequest::default()
    }
}

fn load() -> RecordedLoad {
    let parser = ("parser", "");
    RecordedLoad {
        url: "http://localhost/".into(),
        requests: vec![
            RecordedRequest {
                kind: "Document".into(),
                ..request("", "Document", ("other", ""), [1.0, 5.0, 8.0, 10.0])
            },
            request("a.css", "Stylesheet", parser, [30.0, 31.0, 33.0, 34.0]),
            request("a.js", "Script", parser, [30.5, 31.0, 33.0, 33.5]),
            request("b.css", "Stylesheet", ("parser", "a.css"), [36.0, 37.0, 38.0, 39.0]),
            request("own.woff2", "Font", ("parser", "b.css"), [45.0, 46.0, 47.0, 48.0]),
            request("b.png", "Image", parser, [31.0, 32.0, 33.0, 34.0]),
            request("c.json", "Fetch", ("script", "a.js"), [41.0, 42.0, 43.0, 44.0]),
        ],
        fcp_ms: Some(60.0),
        largest: Some(LargestSeen {
            at_ms: 70.0,
            url: Some("http://localhost/b.png".into()),
            ..LargestSeen::default()
        }),
        load_ms: Some(65.0),
        hiding_fonts: vec!["http://localhost/own.woff2".into()],
        markup: MARKUP.into(),
        picture: None,
        frames: Vec::new(),
        cut: None,
    }
}

#[test]
fn a_graph_says_who_asked_for_what_and_what_was_the_browser_s_own_time() {
    let graph = graph(&[load()]).unwrap();
    let end = |text: &str| (MARKUP.find(text).unwrap() + text.len()) as f64 / MARKUP.len() as f64;
    let found: Vec<Found> = graph.resources.iter().map(|one| one.found).collect();
    let wanted = [
        Found::Navigation,
        Found::Markup(end("href=a.css>")),
        Found::Markup(end("src=a.js>")),
        Found::After(1),
        Found::Layout(3),
        Found::Markup(1.0),
        Found::After(2),
    ];
    assert_eq!(found, wanted);
    assert_eq!((graph.start_ms, graph.resources[0].server_ms), (5.0, 3.0));
    // The document's part with the style sheet came 0.89 ms after its first byte; the first request of all, 22 ms later.
    let arrived = 8.0 + 2.0 * end("href=a.css>");
    assert_eq!(
        graph.commit_ms,
        ((31.0 - 10.0_f64).min(30.0 - arrived).min(30.5 - 8.0 - 2.0 * end("src=a.js>")) * 100.0).round()
            / 100.0
    );
    // The import after its style sheet; what the script asks for after the script, which waited for both sheets.
    assert_eq!((graph.resources[3].delay_ms, graph.resources[6].delay_ms), (2.0, 2.0));
    // A font after the layout, which waits for the last sheet.
    assert_eq!(graph.resources[4].delay_ms, 6.0);
    assert_eq!((graph.first.fonts.as_slice(), graph.largest.image), ([4].as_slice(), Some(5)));
    let blocks: Vec<bool> = graph.resources.iter().map(|one| one.blocks_render).collect();
    assert_eq!(blocks, [false, true, true, true, false, false, false]);
    let waited: Vec<bool> = graph.resources.iter().map(|one| one.blocks_load).collect();
    assert_eq!(waited, [false, true, true, true, true, true, false]);
    // What is simulated without a link is what was recorded.
    let link = LinkSpec::parse("10gbit/0ms").unwrap();
    let setup =
        LoadSetup { link: &link, protocol: Protocol::Http1, tls: false, paced: false, visit: Visit::First };
    let again = simulate(&graph, &setup);
    for (simulated, recorded) in [(again.fcp_ms, 60.0), (again.lcp_ms, 70.0), (again.load_ms, 65.0)] {
        assert!((simulated - recorded).abs() < 0.1, "{simulated} {recorded}");
    }
}

/// Another load of the same page, in which something else held the browser up.
#[test]
fn own_times_are_those_of_a_browser_that_is_not_held_up() {
    let mut slow = load();
    slow.requests[3].timing = Some(Timing { sent_ms: 37.0, first_byte_ms: 337.0 });
    (slow.fcp_ms, slow.load_ms) = (Some(400.0), Some(420.0));
    slow.largest.as_mut().unwrap().at_ms = 410.0;
    let alone = graph(&[load()]).unwrap();
    assert_eq!(graph(&[slow, load(), load()]).unwrap(), alone);
}

/// Over one connection the sheet came before the script in both loads, in each of which the browser was late once. By the shortest times alone the script
/// would come first.
#[test]
fn answers_keep_the_order_in_which_they_came() {
    let late = |sheet: [f64; 2], script: [f64; 2]| {
        let mut load = load();
        load.requests.iter_mut().for_each(|request| request.protocol = "h2".into());
        for (number, [sent_ms, first_byte_ms]) in [(1, sheet), (2, script)] {
            load.requests[number].timing = Some(Timing { sent_ms, first_byte_ms });
        }
        load
    };
    let loads = [late([31.0, 33.0], [31.2, 33.1]), late([31.0, 33.0], [32.8, 33.1])];
    let graph = graph(&loads).unwrap();
    let at = |number: usize| graph.resources[number].delay_ms + graph.resources[number].server_ms;
    assert_eq!(graph.resources[1].server_ms, 2.0);
    assert!(at(2) > at(1) && at(2) < at(1) + 0.1, "{} {}", at(1), at(2));
}

#[test]
fn what_caches_do_follows_from_the_head() {
    let of = |control: Option<&str>, has_validator| {
        let cache_control = control.map(str::to_owned);
        repeat(&RecordedRequest { cache_control, has_validator, ..RecordedRequest::default() })
    };
    assert_eq!(of(Some("public, max-age=60"), true), Repeat::Fresh);
    assert_eq!(of(Some("max-age=60, no-cache"), true), Repeat::Validate);
    assert_eq!(of(Some("No-Store, max-age=60"), true), Repeat::Again);
    assert_eq!(of(Some("max-age=0"), false), Repeat::Again);
    assert_eq!(of(None, true), Repeat::Validate);
    assert_eq!(of(Some("max-age=\"60\""), false), Repeat::Fresh);
}

#[test]
fn loads_that_say_nothing_are_refused_and_wild_times_are_bounded() {
    let mut wild = load();
    wild.requests[1].done_ms = Some(f64::INFINITY);
    wild.requests[2].wanted_ms = -1e9;
    wild.requests[5].timing = None;
    assert!(graph(std::slice::from_ref(&wild)).is_ok());
    let without = |change: fn(&mut RecordedLoad)| {
        let mut load = load();
        change(&mut load);
        graph(&[load]).unwrap_err().to_string()
    };
    assert!(without(|load| load.fcp_ms = None).ends_with("nothing was painted"));
    assert!(without(|load| load.largest = None).ends_with("nothing was painted"));
    assert!(without(|load| load.load_ms = None).ends_with("no load event"));
    assert!(without(|load| load.cut = Some("more than 300 requests".into())).ends_with("300 requests"));
    wild.requests.clear();
    assert_eq!(graph(std::slice::from_ref(&wild)).unwrap_err().to_string(), "the page was not loaded");
}
