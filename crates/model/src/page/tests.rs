//! Loads whose times are computed by hand. The link has 8 Mbit/s, so that a full packet of 1,500 bytes takes 1.5 ms, and a round trip of 100 ms; what goes up
//! takes no time of its own. Responses have no head unless one is given.

use proptest::prelude::*;

use super::*;
use crate::link::LinkSpec;
use crate::transfer::{Connection, Path};

/// Bytes of a full packet's payload.
const FULL: f64 = 1_448.0;

fn link() -> LinkSpec {
    LinkSpec::parse("8mbit:unlimited/100ms").unwrap()
}

fn resource(kind: ResourceKind, found: Found, body_bytes: f64) -> Resource {
    let is_script = kind == ResourceKind::Script;
    Resource {
        url: "/".into(),
        origin: 0,
        kind,
        found,
        delay_ms: 0.0,
        priority: if kind == ResourceKind::Image { Priority::Low } else { Priority::VeryHigh },
        raised: None,
        blocks_render: kind == ResourceKind::Style || is_script,
        blocks_load: kind != ResourceKind::Document,
        run: is_script.then_some(Run::Blocking),
        head_bytes: 0.0,
        body_bytes,
        plain_bytes: Some(body_bytes),
        request_bytes: 0.0,
        server_ms: 0.0,
        work_ms: 0.0,
        repeat: Repeat::Fresh,
    }
}

/// A document of one packet with 1,000 bytes, whose visible part begins at 0.9 of it, and further resources.
fn page(more: &[Resource]) -> PageGraph {
    let document =
        Resource { repeat: Repeat::Validate, ..resource(ResourceKind::Document, Found::Navigation, 1_000.0) };
    PageGraph {
        schema: PageGraph::SCHEMA,
        protocol: None,
        resources: [&[document], more].concat(),
        inline_scripts: Vec::new(),
        body_at: 0.9,
        first: Paint { at: 1.0, ..Paint::default() },
        largest: LargestElement { image: None, paint: Paint { at: 1.0, ..Paint::default() } },
        start_ms: 0.0,
        commit_ms: 0.0,
        load_ms: 0.0,
    }
}

fn load(graph: &PageGraph, protocol: Protocol, visit: Visit) -> PageLoad {
    graph.check().unwrap();
    let tls = protocol != Protocol::Http1;
    simulate(graph, &LoadSetup { link: &link(), protocol, tls, paced: false, visit })
}

fn first(graph: &PageGraph) -> PageLoad {
    load(graph, Protocol::Http1, Visit::First)
}

fn is_near(ms: f64, wanted: f64) {
    assert!((ms - wanted).abs() < 1e-6, "{ms} ms, {wanted} by hand");
}

fn done(load: &PageLoad, number: usize) -> f64 {
    load.resources[number].unwrap().done_ms
}

/// TCP's handshake until 100 ms, the request at the server at 150 ms, a packet of 1,052 bytes.
#[test]
fn a_document_takes_its_round_trips_and_its_packet() {
    let load = first(&page(&[]));
    is_near(load.fcp_ms, 201.052);
    assert_eq!(
        (load.lcp_ms, load.load_ms, load.requests, load.bytes),
        (load.fcp_ms, load.fcp_ms, 1, 1_000.0)
    );
}

/// The browser's and the server's own times, and bytes of heads and requests, where they belong.
#[test]
fn own_times_are_added_where_they_fall() {
    let mut graph = page(&[resource(ResourceKind::Style, Found::Markup(0.5), 948.0)]);
    (graph.start_ms, graph.commit_ms, graph.load_ms) = (7.0, 20.0, 3.0);
    (graph.first.paint_ms, graph.largest.paint.paint_ms) = (11.0, 13.0);
    graph.resources[0].server_ms = 40.0;
    graph.resources[0].head_bytes = 200.0;
    graph.resources[1].delay_ms = 5.0;
    graph.resources[1].work_ms = 2.0;
    let load = first(&graph);
    // 7 + 200 + 40 + 1.252 for the document; 20 until it is looked at, 5 until the request, 100 + 1 for the sheet, and 2 to apply it.
    let applied = 248.252 + 20.0 + 5.0 + 101.0 + 2.0;
    is_near(load.fcp_ms, applied + 11.0);
    is_near(load.lcp_ms, applied + 13.0);
    is_near(load.load_ms, applied + 3.0);
}

/// 20 packets: the window of 10 is sent from 251.052 ms on; the first is acknowledged at 352.552 ms, from when on the line is never idle: another 15 ms, and 50 ms
/// on the way.
#[test]
fn a_style_sheet_holds_the_first_paint() {
    let load = first(&page(&[resource(ResourceKind::Style, Found::Markup(0.5), 20.0 * FULL)]));
    is_near(load.fcp_ms, 417.552);
}

/// Two connections are open with the navigation. They take the first two images and become free at 302.552 and 304.052 ms. Four more connections are open at
/// 301.052 ms. Their four packets arrive in the order of the line from 402.552 ms on, 1.5 ms apart; behind them the seventh and the eighth image. The last four
/// follow a round trip later.
#[test]
fn six_connections_carry_twelve_images() {
    let images: Vec<Resource> =
        (0..12).map(|_| resource(ResourceKind::Image, Found::Markup(0.95), FULL)).collect();
    let mut graph = page(&images);
    graph.body_at = 0.0;
    let load = first(&graph);
    let by_hand = [
        302.552, 304.052, 402.552, 404.052, 405.552, 407.052, 408.552, 410.052, 504.052, 505.552, 507.052,
        508.552,
    ];
    for (number, wanted) in by_hand.into_iter().enumerate() {
        is_near(done(&load, number + 1), wanted);
    }
    is_near(load.load_ms, 508.552);
    is_near(load.fcp_ms, 201.052);
}

/// TCP until 100 ms; a hello of one packet, 1,252 bytes, until 201.252 ms; then requests at once over one connection: 31 bytes of a record for each body.
#[test]
fn one_connection_carries_all_with_http_2() {
    let images: Vec<Resource> =
        (0..9).map(|_| resource(ResourceKind::Image, Found::Markup(0.95), 1_417.0)).collect();
    let mut graph = page(&images);
    graph.body_at = 0.0;
    let loaded = load(&graph, Protocol::Http2, Visit::First);
    is_near(loaded.fcp_ms, 302.335);
    // A packet of 1,500 bytes each, one behind the other.
    is_near(done(&loaded, 1), 302.335 + 100.0 + 1.5);
    is_near(loaded.load_ms, 302.335 + 100.0 + 9.0 * 1.5);
    // QUIC has its handshake in one round trip.
    let quic = load(&graph, Protocol::Http3, Visit::First);
    is_near(quic.fcp_ms, loaded.fcp_ms - 100.0);
}

/// The image is asked for first. What the kernel has of it, and one window on the way, goes before the style sheet, and no more.
#[test]
fn the_more_important_response_comes_first_with_http_2() {
    let image = resource(ResourceKind::Image, Found::Markup(0.5), 200.0 * FULL);
    let sheet = resource(ResourceKind::Style, Found::Markup(0.6), 20.0 * FULL);
    let both = load(&page(&[image, sheet]), Protocol::Http2, Visit::First);
    assert!(done(&both, 2) < done(&both, 1) - 150.0, "{} {}", done(&both, 2), done(&both, 1));
    let alone = load(
        &page(&[resource(ResourceKind::Style, Found::Markup(0.6), 20.0 * FULL)]),
        Protocol::Http2,
        Visit::First,
    );
    assert!(done(&both, 2) > done(&alone, 1));
}

/// An import is known when its style sheet is there: one round trip and a packet later.
#[test]
fn an_import_takes_another_round_trip() {
    let sheet = resource(ResourceKind::Style, Found::Markup(0.5), FULL);
    let import = resource(ResourceKind::Style, Found::After(1), FULL);
    let load = first(&page(&[sheet.clone(), import]));
    is_near(load.fcp_ms, 201.052 + 2.0 * 101.5);
    is_near(first(&page(&[sheet])).fcp_ms, 201.052 + 101.5);
}

/// A script in the head waits for the style sheet before it, also where it is there before; what stands behind it is found by the scanner meanwhile.
#[test]
fn a_blocking_script_waits_for_style_sheets_and_hides_nothing_from_the_scanner() {
    let mut sheet = resource(ResourceKind::Style, Found::Markup(0.2), FULL);
    sheet.server_ms = 300.0;
    let mut script = resource(ResourceKind::Script, Found::Markup(0.4), FULL);
    script.work_ms = 10.0;
    let behind = resource(ResourceKind::Image, Found::Markup(0.95), FULL);
    let load = first(&page(&[sheet.clone(), script.clone(), behind]));
    let sheet_done = 201.052 + 101.5 + 300.0;
    is_near(load.fcp_ms, sheet_done + 10.0);
    assert!(load.resources[3].unwrap().found_ms < 202.0);
    // Without a sheet it runs when it is there; deferred, it holds nothing but the load event.
    let alone = first(&page(std::slice::from_ref(&script)));
    is_near(alone.fcp_ms, 201.052 + 101.5 + 10.0);
    let deferred = Resource { run: Some(Run::Deferred), blocks_render: false, ..script };
    let load = first(&page(&[deferred]));
    is_near(load.fcp_ms, 201.052);
    is_near(load.load_ms, 201.052 + 101.5 + 10.0);
    // A script of the document's own waits as well.
    let mut own = page(&[Resource { blocks_render: false, ..sheet.clone() }]);
    own.inline_scripts = vec![0.5];
    is_near(first(&own).fcp_ms, 201.052);
    let mut own = page(&[sheet]);
    own.inline_scripts = vec![0.5];
    is_near(first(&own).fcp_ms, sheet_done);
}

/// In the head, unimportant requests wait while two are on their way.
#[test]
fn images_wait_while_the_parser_is_in_the_head() {
    let mut script = resource(ResourceKind::Script, Found::Markup(0.1), FULL);
    script.server_ms = 1_000.0;
    let sheet = Resource { server_ms: 2_000.0, ..resource(ResourceKind::Style, Found::Markup(0.05), FULL) };
    let image = resource(ResourceKind::Image, Found::Markup(0.95), FULL);
    let load = first(&page(&[sheet, script, image]));
    let times = load.resources[3].unwrap();
    assert!(times.found_ms < 202.0);
    // The script is there, and with it one of the two; the sheet still holds the parser.
    is_near(times.requested_ms.unwrap(), done(&load, 2));
}

/// Text waits for its font, three seconds at most; a late image is the largest paint.
#[test]
fn fonts_and_late_images_hold_paints() {
    let sheet = resource(ResourceKind::Style, Found::Markup(0.5), FULL);
    let font = Resource { blocks_render: false, ..resource(ResourceKind::Font, Found::Layout(1), FULL) };
    let mut graph = page(&[sheet, font]);
    let laid_out = 201.052 + 101.5;
    is_near(first(&graph).fcp_ms, laid_out);
    graph.first.fonts = vec![2];
    is_near(first(&graph).fcp_ms, laid_out + 101.5);
    graph.resources[2].server_ms = 5_000.0;
    is_near(first(&graph).fcp_ms, laid_out + 3_000.0);
    // An image that a script adds.
    let script =
        Resource { blocks_render: false, ..resource(ResourceKind::Script, Found::Markup(0.95), FULL) };
    let mut graph = page(&[script, resource(ResourceKind::Image, Found::After(1), FULL)]);
    graph.largest.image = Some(2);
    let load = first(&graph);
    is_near(load.lcp_ms, 201.052 + 2.0 * 101.5);
    is_near(load.load_ms, load.lcp_ms);
}

/// What is fresh is not asked for; the document is, and answered by a head of 148 bytes: a packet of 200.
#[test]
fn a_repeated_visit_asks_for_what_is_stale() {
    let sheet = resource(ResourceKind::Style, Found::Markup(0.5), 20.0 * FULL);
    let image =
        Resource { repeat: Repeat::Again, ..resource(ResourceKind::Image, Found::Markup(0.95), FULL) };
    let mut graph = page(&[sheet, image]);
    graph.resources[0].head_bytes = 148.0;
    let load = load(&graph, Protocol::Http1, Visit::Repeat);
    is_near(load.fcp_ms, 200.2);
    is_near(load.load_ms, 200.2 + 101.5);
    assert_eq!((load.requests, load.bytes), (2, 148.0 + FULL));
    assert_eq!(load.resources[1].unwrap().requested_ms, None);
}

#[test]
fn a_graph_that_cannot_be_is_refused() {
    let sheet = |found| page(&[resource(ResourceKind::Style, found, 1.0)]);
    let refused = |graph: &PageGraph| format!("{:#}", graph.check().unwrap_err());
    for found in [Found::After(1), Found::Layout(7)] {
        assert_eq!(refused(&sheet(found)), "resource 1: who asks for it does not stand before it");
    }
    assert_eq!(refused(&sheet(Found::Markup(1.5))), "resource 1: its place is outside of the document");
    assert_eq!(refused(&sheet(Found::Navigation)), "resource 1: it is asked for by nobody");
    let mut graph = page(&[]);
    graph.largest.image = Some(1);
    assert_eq!(refused(&graph), "a resource is named that is not there");
    graph.largest.image = None;
    graph.start_ms = f64::NAN;
    assert_eq!(refused(&graph), "a time that is none");
    graph.start_ms = 0.0;
    graph.resources[0].body_bytes = f64::INFINITY;
    assert_eq!(refused(&graph), "resource 0: its size is none");
    graph.resources.clear();
    assert!(refused(&graph).starts_with("0 resources"));
}

fn any_found(number: usize) -> impl Strategy<Value = Found> {
    prop_oneof![
        (0.0..=1.0).prop_map(Found::Markup),
        (0..number).prop_map(Found::After),
        (0..number).prop_map(Found::Layout),
    ]
}

fn any_resource(number: usize) -> impl Strategy<Value = Resource> {
    let kinds = [ResourceKind::Style, ResourceKind::Script, ResourceKind::Font, ResourceKind::Image];
    let runs = [None, Some(Run::Blocking), Some(Run::Deferred), Some(Run::Async)];
    (any_found(number), 0..kinds.len(), 0..runs.len(), 0.0..2e5_f64, 0.0..50.0_f64, any::<bool>()).prop_map(
        move |(found, kind, run, bytes, own, blocks)| Resource {
            run: runs[run].filter(|_| kinds[kind] == ResourceKind::Script),
            blocks_render: blocks,
            delay_ms: own,
            work_ms: own,
            server_ms: own,
            ..resource(kinds[kind], found, bytes.round())
        },
    )
}

fn paced(graph: &PageGraph, link: &LinkSpec, tls: bool) -> PageLoad {
    let protocol = if tls { Protocol::Http2 } else { Protocol::Http1 };
    simulate(graph, &LoadSetup { link, protocol, tls, paced: true, visit: Visit::First })
}

#[test]
fn a_response_from_a_kernel_that_paces_takes_what_was_measured() {
    for (mbit, round_trip_ms, measured) in crate::transfer::tests::PACED {
        let link = LinkSpec::parse(&format!("{mbit}mbit:unlimited/{round_trip_ms}ms")).unwrap();
        for (kilobytes, ms) in measured {
            let mut graph = page(&[]);
            graph.resources[0].body_bytes = kilobytes * 1e3 + 240.0;
            let load = paced(&graph, &link, false);
            assert!(
                (load.load_ms / ms - 1.0).abs() < 0.03,
                "{kilobytes} KB over {mbit} Mbit/s: {}",
                load.load_ms
            );
        }
    }
}

/// Handshake, document and sheet grow bbr's window by what is confirmed of them, and small responses do not make it slow.
#[test]
fn a_kernel_that_paces_has_room_for_what_comes_after_small_responses() {
    let sheet = resource(ResourceKind::Style, Found::Markup(0.5), 13.0 * FULL);
    let load = paced(&page(&[sheet]), &link(), true);
    // Packets of the sheet: what goes at once, as the link takes them, and no round trip between them.
    let times = load.resources[1].unwrap();
    assert!(times.done_ms - times.first_byte_ms < 60.0, "{times:?}");
    assert!((load.load_ms - 400.0).abs() < 60.0, "{}", load.load_ms);
}

/// A font of a style sheet that came last is asked for by the layout, after the load event; beside a script that is still on its way it is waited for.
#[test]
fn the_load_event_waits_for_what_was_asked_for() {
    let sheet = resource(ResourceKind::Style, Found::Markup(0.5), FULL);
    let font = Resource {
        blocks_render: false,
        delay_ms: 5.0,
        ..resource(ResourceKind::Font, Found::Layout(1), FULL)
    };
    let laid_out = 201.052 + 101.5;
    let load = first(&page(&[sheet.clone(), font.clone()]));
    is_near(load.load_ms, laid_out);
    assert_eq!(load.requests, 3);
    let mut script = resource(ResourceKind::Script, Found::Markup(0.95), FULL);
    (script.blocks_render, script.run, script.server_ms) = (false, Some(Run::Async), 50.0);
    let load = first(&page(&[sheet, font, script]));
    is_near(load.load_ms, done(&load, 2));
    assert!(done(&load, 2) > done(&load, 3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A document alone takes what the model of one transfer says, whatever its size.
    #[test]
    fn a_response_alone_takes_what_a_transfer_takes(bytes in 1.0..3e5_f64) {
        let bytes = bytes.round();
        let mut graph = page(&[]);
        graph.resources[0].body_bytes = bytes;
        let alone = Path::shared(8.0, 100.0, 1.0).call_ns(bytes, Connection::New, false) / 1e6;
        prop_assert!((first(&graph).load_ms - alone).abs() < 1e-6, "{} {}", first(&graph).load_ms, alone);
    }

    /// Any graph ends, loads what it loads once, and paints in order.
    #[test]
    fn any_load_ends(resources in (1..12_usize).prop_flat_map(|count| (1..=count).map(any_resource).collect::<Vec<_>>()), (repeated, paced, round_trip) in (any::<bool>(), any::<bool>(), any::<bool>())) {
        let graph = page(&resources);
        let visit = if repeated { Visit::Repeat } else { Visit::First };
        for protocol in [Protocol::Http1, Protocol::Http2, Protocol::Http3] {
            graph.check().unwrap();
            let link = if round_trip { link() } else { LinkSpec::parse("8mbit:unlimited/0ms").unwrap() };
            let tls = protocol != Protocol::Http1;
            let load = simulate(&graph, &LoadSetup { link: &link, protocol, tls, paced, visit });
            prop_assert!(load.fcp_ms.is_finite() && load.lcp_ms >= load.fcp_ms && load.load_ms.is_finite());
            prop_assert!(load.requests <= graph.resources.len());
            for times in load.resources.iter().flatten() {
                prop_assert!(times.found_ms <= times.first_byte_ms && times.first_byte_ms <= times.done_ms);
            }
        }
    }
}
