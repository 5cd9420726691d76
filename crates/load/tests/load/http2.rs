//! HTTP/2 of the engine, with a scripted server.

mod server;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use h2::Reason;
use weigh_load::fault::HttpFaultKind;
use weigh_load::plan::{Check, LoadPlan, Protocol};
use weigh_load::result::{Framing, LoadResult};

use crate::identity::Identity;
use crate::plans::{self, counts, run};
use server::{Deed, Server};

/// Requests of the preflight: three of each.
const PREFLIGHT: usize = 3;

fn plan(server: &Server, requests: u64, connections: u32, streams: u32) -> LoadPlan {
    let mut plan = plans::gets(Protocol::Http2, &format!("http://{}/page", server.address), requests);
    plan.streams[0].connections = connections;
    plan.streams[0].streams_per_connection = streams;
    plan
}

/// The only kind of failure, its number, and its message.
fn fault(result: &LoadResult) -> (HttpFaultKind, u64, String) {
    assert_eq!(result.faults.len(), 1, "{:?}", result.faults);
    let fault = &result.faults[0];
    (fault.kind, fault.count, fault.example.message.clone())
}

/// Applies `deed` to one request of the load, number `at` from 0, and sends `ok` otherwise.
fn but_for(at: usize, deed: Deed) -> server::Script {
    Arc::new(move |number, _| match number {
        _ if number == at + PREFLIGHT => deed.clone(),
        _ => Deed::Send(Bytes::from_static(b"ok"), &[]),
    })
}

fn noise(length: usize) -> Bytes {
    plans::noise(length).into()
}

#[test]
fn a_hundred_streams_share_a_connection() {
    let body = noise(1000);
    let sent = body.clone();
    let server =
        Server::start(200, None, Arc::new(move |_, _| Deed::Send(sent.clone(), &[("server", "script")])));
    let result = run(&plan(&server, 5000, 1, 100));
    let counts = counts(&result);
    assert_eq!((counts.completed, counts.faulted, counts.connections), (5000, 0, 1));
    assert_eq!((counts.compared, counts.body_bytes, counts.decoded_bytes), (5000, 5_000_000, 5_000_000));
    assert_eq!(server.seen.most_at_once.load(Ordering::Relaxed), 100);
    let preflight = &result.preflights[0];
    assert_eq!((preflight.version.as_str(), preflight.framing), ("HTTP/2", Framing::Frames));
    assert_eq!(preflight.server.as_deref(), Some("script"));
    // A head in a frame or two, shorter than without compression; a body in one frame and an empty one.
    assert!((10 * 5000..40 * 5000).contains(&counts.head_bytes), "{}", counts.head_bytes);
    let framing = counts.wire_bytes - counts.head_bytes - counts.body_bytes;
    assert!((9 * 5000..20 * 5000).contains(&framing), "{framing}");
    assert!((10 * 5000..100 * 5000).contains(&counts.sent_bytes), "{}", counts.sent_bytes);
}

#[test]
fn a_server_may_allow_fewer_streams_than_asked_for() {
    let server = Server::start(7, None, but_for(usize::MAX - PREFLIGHT, Deed::Echo));
    let result = run(&plan(&server, 700, 2, 100));
    assert_eq!((counts(&result).completed, counts(&result).faulted, counts(&result).retried), (700, 0, 0));
    assert_eq!(server.seen.most_at_once.load(Ordering::Relaxed), 7);
}

#[test]
fn large_bodies_come_whole_under_flow_control() {
    let body = noise(3 << 20);
    let sent = body.clone();
    let server = Server::start(100, None, Arc::new(move |_, _| Deed::Send(sent.clone(), &[])));
    let result = run(&plan(&server, 60, 1, 20));
    assert_eq!((counts(&result).completed, counts(&result).compared), (60, 60));
    assert_eq!(counts(&result).body_bytes, 60 * (3 << 20));
    let discarding = LoadPlan { check: Check::Discard, ..plan(&server, 60, 1, 20) };
    let result = run(&discarding);
    assert_eq!((counts(&result).completed, counts(&result).body_bytes), (60, 60 * (3 << 20)));
}

#[test]
fn request_bodies_are_sent() {
    let server = Server::start(100, None, Arc::new(|_, _| Deed::Echo));
    let mut plan = plan(&server, 20, 1, 10);
    plan.requests[0].method = "POST".into();
    plan.requests[0].body = noise(300_000).to_vec();
    let result = run(&plan);
    assert_eq!((counts(&result).completed, counts(&result).compared), (20, 20));
    assert_eq!(counts(&result).body_bytes, 20 * 300_000);
    assert!(counts(&result).sent_bytes > 20 * 300_000);
}

#[test]
fn coded_bodies_are_decoded() {
    // gzip of `hello`, with a stored block.
    let gzip =
        b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x05\x00\xfa\xffhello\x86\xa6\x10\x36\x05\x00\x00\x00";
    let server = Server::start(
        100,
        None,
        Arc::new(|_, _| Deed::Send(Bytes::from_static(gzip), &[("content-encoding", "gzip")])),
    );
    let result = run(&plan(&server, 100, 1, 10));
    assert_eq!(result.preflights[0].content_encoding.as_deref(), Some("gzip"));
    assert_eq!(result.preflights[0].decoded_bytes, Some(5));
    assert_eq!((counts(&result).completed, counts(&result).decoded_bytes), (100, 500));
}

#[test]
fn a_reset_stream_leaves_the_others_intact() {
    let server = Server::start(100, None, but_for(50, Deed::Reset(Reason::INTERNAL_ERROR)));
    let result = run(&plan(&server, 500, 1, 20));
    let (kind, count, message) = fault(&result);
    assert_eq!((kind, count), (HttpFaultKind::Http2, 1));
    assert_eq!(message, "the server reset the stream before the first byte: INTERNAL_ERROR");
    assert_eq!((counts(&result).completed, counts(&result).connections), (499, 1));
}

#[test]
fn a_stream_reset_inside_its_body_says_so() {
    let server = Server::start(100, None, but_for(50, Deed::ResetInside(Reason::ENHANCE_YOUR_CALM)));
    let (kind, _, message) = fault(&run(&plan(&server, 500, 1, 20)));
    assert_eq!(kind, HttpFaultKind::Http2);
    assert_eq!(message, "the server reset the stream inside the body: ENHANCE_YOUR_CALM");
}

#[test]
fn a_refused_stream_is_sent_again() {
    let server = Server::start(100, None, but_for(50, Deed::Reset(Reason::REFUSED_STREAM)));
    let result = run(&plan(&server, 500, 1, 20));
    assert_eq!((counts(&result).completed, counts(&result).faulted, counts(&result).retried), (500, 0, 1));
    assert_eq!(counts(&result).connections, 1);
}

#[test]
fn a_request_may_be_refused_several_times() {
    let script: server::Script = Arc::new(|number, _| match number {
        10..=12 => Deed::Reset(Reason::REFUSED_STREAM),
        _ => Deed::Send(Bytes::from_static(b"ok"), &[]),
    });
    let result = run(&plan(&Server::start(100, None, script), 30, 1, 1));
    assert_eq!((counts(&result).completed, counts(&result).sent, counts(&result).retried), (30, 30, 3));
}

#[test]
fn after_goaway_the_rest_goes_over_a_new_connection() {
    let server = Server::start(100, None, but_for(50, Deed::GoAway));
    let result = run(&plan(&server, 500, 1, 20));
    assert_eq!((counts(&result).completed, counts(&result).faulted), (500, 0), "{:?}", result.faults);
    assert_eq!(counts(&result).connections, 2);
}

#[test]
fn a_connection_closed_inside_bodies_is_a_fault_of_each() {
    let server = Server::start(100, None, but_for(50, Deed::Close));
    let result = run(&plan(&server, 500, 1, 20));
    let truncated = result.faults.iter().find(|f| f.kind == HttpFaultKind::Truncated).unwrap();
    assert_eq!(truncated.example.message, "closed 90 bytes before the end of the body");
    assert_eq!(truncated.count, 1);
    assert!(
        result.faults.iter().all(|f| matches!(f.kind, HttpFaultKind::Truncated | HttpFaultKind::EmptyReply))
    );
    assert_eq!(counts(&result).completed + counts(&result).faulted, 500);
    assert_eq!(counts(&result).connections, 2);
}

#[test]
fn informational_responses_are_passed_over_up_to_the_limit() {
    let server =
        Server::start(100, None, Arc::new(|number, _| Deed::Inform(if number == 9 { 17 } else { 2 })));
    let result = run(&plan(&server, 20, 1, 1));
    assert_eq!((fault(&result).0, fault(&result).1), (HttpFaultKind::Informational, 1));
    assert_eq!(counts(&result).completed, 19);
}

#[test]
fn wrong_bytes_are_found_among_many_streams() {
    let (right, mut wrong) = (noise(40_000), noise(40_000).to_vec());
    wrong[30_000] ^= 1;
    let wrong = Bytes::from(wrong);
    let script =
        move |number, _: &str| Deed::Send(if number == 77 { wrong.clone() } else { right.clone() }, &[]);
    let result = run(&plan(&Server::start(100, None, Arc::new(script)), 200, 1, 20));
    assert_eq!((fault(&result).0, fault(&result).1), (HttpFaultKind::Mismatch, 1));
    assert_eq!(result.faults[0].example.difference.as_ref().unwrap().offset, 30_000);
    assert_eq!(counts(&result).completed, 199);
}

#[test]
fn a_server_of_http1_is_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1000]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
        }
    });
    let plan = plans::gets(Protocol::Http2, &format!("http://{address}/"), 10);
    let refusal = weigh_load::run(&plan, &mut |_| {}, &AtomicBool::new(false)).unwrap_err().to_string();
    assert!(
        refusal.contains("the server does not speak HTTP/2: it started with `HTTP/1.1 400 Bad Request"),
        "{refusal}"
    );
}

#[test]
fn over_tls_it_is_agreed_upon_by_alpn() {
    let identity = Identity::new(&[b"h2", b"http/1.1"]);
    let body = noise(100_000);
    let server = Server::start(
        100,
        Some(identity.config.clone()),
        Arc::new(move |_, _| Deed::Send(body.clone(), &[])),
    );
    let url = format!("https://localhost:{}/page", server.address.port());
    let mut plan = plans::gets(Protocol::Http2, &url, 500);
    plan.tls = identity.trusted();
    plan.streams[0].streams_per_connection = 20;
    let result = run(&plan);
    assert_eq!((counts(&result).completed, counts(&result).compared), (500, 500));
    assert_eq!((counts(&result).connections, result.classes[0].times.tls.count()), (2, 2));
}

#[test]
fn a_tls_server_without_http2_is_told_apart() {
    let identity = Identity::new(&[]);
    let script: server::Script = Arc::new(|_, _| Deed::Echo);
    let server = Server::start(100, Some(identity.config.clone()), script);
    let url = format!("https://localhost:{}/page", server.address.port());
    let mut plan = plans::gets(Protocol::Http2, &url, 10);
    plan.tls = identity.trusted();
    let refusal = weigh_load::run(&plan, &mut |_| {}, &AtomicBool::new(false)).unwrap_err().to_string();
    assert!(refusal.contains("it did not choose `h2` by ALPN"), "{refusal}");
}

#[test]
fn without_keepalive_every_request_has_its_connection() {
    let server = Server::start(100, None, but_for(usize::MAX - PREFLIGHT, Deed::Echo));
    let mut plan = plan(&server, 50, 4, 10);
    plan.streams[0].keepalive = false;
    let result = run(&plan);
    assert_eq!((counts(&result).completed, counts(&result).connections), (50, 50));
    assert_eq!(
        server.seen.connections.load(Ordering::Relaxed),
        50 + PREFLIGHT,
        "each question of the preflight too"
    );
}

#[test]
fn a_stream_over_its_time_is_given_up_alone() {
    let server = Server::start(100, None, but_for(50, Deed::Hang));
    let mut plan = plan(&server, 500, 1, 20);
    plan.limits.request_seconds = 2.0;
    let result = run(&plan);
    assert_eq!((fault(&result).0, fault(&result).1), (HttpFaultKind::Timeout, 1));
    assert_eq!((counts(&result).completed, counts(&result).connections), (499, 1));
}

#[test]
fn abandoned_downloads_reset_their_streams() {
    let body = noise(3 << 20);
    let server = Server::start(100, None, Arc::new(move |_, _| Deed::Send(body.clone(), &[])));
    let mut plan = plan(&server, 40, 1, 10);
    plan.streams[0].abandon_after = Some(100_000);
    let result = run(&plan);
    assert_eq!((counts(&result).abandoned, counts(&result).completed, counts(&result).faulted), (40, 0, 0));
    assert_eq!(counts(&result).connections, 1);
}
