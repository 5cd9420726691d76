//! Pages that vary between responses legitimately, and wrong responses among them.

use weigh_codec::{Params, codecs};
use weigh_load::engine::preflights;
use weigh_load::fault::HttpFaultKind;
use weigh_load::plan::LoadPlan;
use weigh_load::result::{Checked, LoadResult};

use crate::bad_servers::load::{counts, load, plan, verify};
use crate::server::{Server, Step, response};

const REQUESTS: u64 = 200;
/// The request of the load with the wrong response.
const BAD: u64 = 77;

/// The page at a request by number, counting the preflight's.
type Page = fn(u64) -> String;

/// Pages of typical applications. The clock stands still during the preflight, as a clock with minutes does.
const PAGES: [(&str, Page, Checked); 5] = [
    ("clock", |n| shop(&format!("It is 09:59:{:02} o'clock", n / 4 % 60), ""), Checked::Parts),
    ("nonce", |n| shop(&format!("<input name=\"nonce\" value=\"{:016x}\">", mixed(n)), ""), Checked::Parts),
    ("banner", |n| shop("Welcome", &banner(mixed(n) % 5)), Checked::Parts),
    ("variants", |n| [shop("Welcome", ""), other()][(mixed(n) % 2) as usize].clone(), Checked::Bytes),
    ("counter", |n| shop(&format!("You are visitor {}", n + 5), ""), Checked::Parts),
];

fn mixed(n: u64) -> u64 {
    (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) >> 8
}

fn shop(varying: &str, banner: &str) -> String {
    let rows: String = (0..30).map(|i| format!("<tr><td>Article {i}</td><td>{i}.50</td></tr>\n")).collect();
    format!(
        "<html><head><title>Shop</title></head>\n<body><p>{varying}</p>\n<table>\n{rows}</table>\n{banner}\
         <footer>All prices with taxes.</footer></body></html>\n"
    )
}

fn banner(which: u64) -> String {
    let words = ["tea", "fresh coffee", "cocoa", "a glass of water", "lemonade with ice"][which as usize];
    format!("<aside><a href=\"/ads/{which}\">Today: {words}</a></aside>\n").repeat(1 + which as usize % 2)
}

/// The other variant of an A/B test: it has almost nothing in common with the first.
fn other() -> String {
    let items: String = (0..60).map(|i| format!("<li class=\"b{i}\">Thing no. {i}, new</li>")).collect();
    format!("<!doctype html><main><ul>{items}</ul></main>")
}

fn gzip(body: &str) -> Vec<u8> {
    let codec = codecs::find("zlib").expect("it is one of ours");
    let mut wire = Vec::new();
    codec.coder(&Params::level(6)).expect("a level").encode(body.as_bytes(), &mut wire).expect("it encodes");
    wire
}

fn sent(wire: &[u8], coded: bool) -> Vec<u8> {
    let coding = if coded { "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n" } else { "" };
    response(&format!("Content-Type: text/html; charset=utf-8\r\n{coding}"), wire)
}

fn page(page: Page, number: u64, coded: bool) -> Vec<u8> {
    let body = page(number);
    if coded { gzip(&body) } else { body.into_bytes() }
}

/// Loads a server that answers each request by its number with these pages.
fn loaded(answer: impl Fn(u64) -> Vec<u8> + Send + Sync + 'static) -> LoadResult {
    let server = Server::start(move |number| vec![Step::Send(answer(number))]);
    let mut plan = LoadPlan { again_seconds: 0.01, ..plan(server.address, verify()) };
    plan.length.requests = Some(REQUESTS);
    load(&plan).expect("a good preflight")
}

/// Loads a page with one wrong response; returns the kind of the only failure.
fn one_wrong(
    name: &str,
    of: Page,
    coded: bool,
    wrong: impl Fn(Vec<u8>) -> Vec<u8> + Send + Sync + 'static,
) -> HttpFaultKind {
    let preflights = u64::from(preflights(&LoadPlan { again_seconds: 1.0, ..LoadPlan::default() }));
    let result = loaded(move |number| {
        let good = page(of, number, coded);
        if number == preflights + BAD { wrong(good) } else { sent(&good, coded) }
    });
    let counts = counts(&result);
    assert_eq!(
        (counts.completed, counts.faulted),
        (REQUESTS - 1, 1),
        "{name}, coded {coded}: {:?}",
        result.faults
    );
    result.faults[0].kind
}

#[test]
fn pages_that_vary_as_they_should_have_no_fault_and_say_how_they_are_checked() {
    for (name, of, checked) in PAGES {
        for coded in [true, false] {
            let result = loaded(move |number| sent(&page(of, number, coded), coded));
            let counts = counts(&result);
            assert_eq!(
                (counts.completed, counts.faulted),
                (REQUESTS, 0),
                "{name}, coded {coded}: {:?}",
                result.faults
            );
            assert_eq!(counts.compared + counts.decoded, REQUESTS, "{name}: every body is looked at");
            assert_eq!(result.preflights[0].checked, checked, "{name}: {:?}", result.preflights[0].notes);
        }
    }
}

#[test]
fn a_truncated_response_among_them_is_found() {
    for (name, of, _) in PAGES {
        // Its framing does not show it.
        let half = |wire: Vec<u8>| wire[..wire.len() / 2].to_vec();
        let kind = one_wrong(name, of, true, move |wire| sent(&half(wire), true));
        assert_eq!(kind, HttpFaultKind::Corrupt, "{name}");
        let kind = one_wrong(name, of, false, move |wire| sent(&half(wire), false));
        assert!(matches!(kind, HttpFaultKind::Mismatch | HttpFaultKind::Length), "{name}: {kind:?}");
    }
}

#[test]
fn a_flipped_byte_in_a_coded_body_among_them_is_found() {
    for (name, of, _) in PAGES {
        let kind = one_wrong(name, of, true, |mut wire| {
            let at = wire.len() / 2;
            wire[at] ^= 0x10;
            sent(&wire, true)
        });
        assert_eq!(kind, HttpFaultKind::Corrupt, "{name}");
    }
}

#[test]
fn a_foreign_response_among_them_is_found() {
    let error = "<html><body><h1>Error establishing a database connection</h1></body></html>";
    for (name, of, _) in PAGES {
        for coded in [true, false] {
            let kind = one_wrong(name, of, coded, move |_| {
                sent(&if coded { gzip(error) } else { error.into() }, coded)
            });
            assert!(matches!(kind, HttpFaultKind::Mismatch | HttpFaultKind::Length), "{name}: {kind:?}");
        }
    }
}

#[test]
fn another_media_type_is_named_where_bodies_vary() {
    let (name, of, _) = PAGES[1];
    let kind = one_wrong(name, of, false, |wire| response("Content-Type: application/json\r\n", &wire));
    assert_eq!(kind, HttpFaultKind::ContentType);
}

#[test]
fn bodies_without_anything_in_common_are_decoded_and_have_a_plausible_length() {
    let noise: Page = |n| (0..100).map(|i| format!("{:x} ", mixed(n * 1000 + i))).collect();
    let result = loaded(move |number| sent(&page(noise, number, true), true));
    assert_eq!((counts(&result).faulted, result.preflights[0].checked), (0, Checked::Samples));
    let kind = one_wrong("noise", noise, true, |_| sent(&gzip("no"), true));
    assert_eq!(kind, HttpFaultKind::Length);
}

#[test]
fn a_short_answer_that_tells_the_time_has_no_fault() {
    // Two seconds that the preflight sees, and those of the load.
    let second = |number: u64| if number < 3 { 1 } else { 2 + number.saturating_sub(7) / 50 };
    let result =
        loaded(move |number| sent(format!("<p>Second {} of this day</p>", second(number)).as_bytes(), false));
    let counts = counts(&result);
    assert_eq!((counts.completed, counts.faulted), (REQUESTS, 0), "{:?}", result.faults);
    assert_eq!(result.preflights[0].checked, Checked::Samples, "{:?}", result.preflights[0].notes);
}

/// A part of the page changes once, like a nonce of the day at midnight, or repeatedly, like a clock with minutes.
#[test]
fn a_page_that_changes_while_the_load_runs_has_no_fault_and_it_is_said() {
    let daily: Page = |n| shop("Welcome", if n < 100 { "" } else { "<p>A new day, with new offers.</p>\n" });
    let minutes: Page = |n| shop(&format!("It is {}:{:02} o'clock", 9 + n / 150, 59 - n / 60 % 60), "");
    for (name, of) in [("daily", daily), ("minutes", minutes)] {
        for coded in [true, false] {
            let result = loaded(move |number| sent(&page(of, number, coded), coded));
            assert_eq!(counts(&result).faulted, 0, "{name}, coded {coded}: {:?}", result.faults);
            assert_eq!(
                counts(&result).compared + counts(&result).decoded,
                REQUESTS,
                "every body is looked at"
            );
            let notes = &result.preflights[0].notes;
            assert!(notes.iter().any(|note| note.contains("changed during the load")), "{notes:?}");
            let half = move |wire: Vec<u8>| sent(&wire[..wire.len() / 2], coded);
            one_wrong(name, of, coded, half);
            let other = move |wire: Vec<u8>| {
                let (mut body, at) = if coded {
                    (page(of, BAD, false), 900)
                } else {
                    let at = wire.len() / 2;
                    (wire, at)
                };
                body[at] ^= 1;
                sent(&if coded { gzip(&String::from_utf8(body).unwrap()) } else { body }, coded)
            };
            one_wrong(name, of, coded, other);
        }
    }
}

#[test]
fn a_response_with_a_validator_must_not_change() {
    let answer = |number: u64| {
        let body = shop("Welcome", if number < 100 { "" } else { "<p>A new day.</p>\n" });
        response("Content-Type: text/html\r\nETag: \"a\"\r\n", body.as_bytes())
    };
    let result = loaded(answer);
    assert_eq!(counts(&result).faulted, REQUESTS + 8 - 100, "{:?}", result.faults);
}

/// Responses of many megabytes would fill the memory for changed pages: there, a wrong byte is found when it arrives.
#[test]
fn a_long_response_is_compared_as_it_comes() {
    let answer = |number: u64| {
        let mut body = vec![b'a'; 5 << 20];
        body[4 << 20] ^= u8::from(number >= 8);
        response("Content-Type: application/octet-stream\r\n", &body)
    };
    let server = Server::start(move |number| vec![Step::Send(answer(number))]);
    let mut plan = LoadPlan { again_seconds: 0.01, ..plan(server.address, verify()) };
    plan.length.requests = Some(30);
    plan.streams[0].connections = 10;
    let result = load(&plan).expect("a good preflight");
    assert_eq!((counts(&result).completed, counts(&result).faulted), (0, 30), "{:?}", result.faults);
}

#[test]
fn a_wrong_byte_in_the_preflight_does_not_lower_the_check() {
    let page = shop("Welcome", "");
    for odd in [0, 4, 7] {
        let page = page.clone();
        let result = loaded(move |number| {
            let mut bytes = page.clone().into_bytes();
            if number == odd || number == 8 + BAD {
                bytes[40] ^= 1;
            }
            sent(&bytes, false)
        });
        let seen = &result.preflights[0];
        assert_eq!(seen.checked, Checked::Bytes, "{odd}: {:?}", seen.notes);
        assert!(
            seen.notes.iter().any(|note| note.contains("had another body than the others")),
            "{:?}",
            seen.notes
        );
        assert_eq!(
            (counts(&result).completed, counts(&result).faulted),
            (REQUESTS - 1, 1),
            "{odd}: the same byte later is a fault"
        );
    }
}
