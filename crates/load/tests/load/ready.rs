//! The engine with servers that always have more data: whatever they send, over TCP or TLS, each way to end a run ends
//! it in time. `endless` checks the drives of one connection in the same way.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use weigh_load::plan::{Length, Limits, LoadPlan, Protocol};
use weigh_load::run;

use crate::endless::any_frame;
use crate::frames::{answer, data, head};
use crate::identity::Identity;
use crate::plans;
use crate::server::{Manner, RequestSeen, Server, Step, response};

/// Requests with good responses before the load can start: one of the preflight, and two.
const GOOD: u64 = 3;
/// Extra time of a run on a busy machine, in addition to its limits.
const BESIDE: Duration = Duration::from_secs(60);
/// The limits that should end a run, and those that should not.
const SHORT: f64 = 0.3;
const LONG: f64 = 600.0;

/// The bytes of a server from some request on.
#[derive(Clone, Debug)]
struct Bytes {
    is_http2: bool,
    is_secure: bool,
    begin: Vec<u8>,
    /// In parts: frames, or one.
    again: Vec<Vec<u8>>,
}

impl Bytes {
    /// The bytes for the request on this stream.
    fn steps(&self, stream: u32) -> Vec<Step> {
        let begin = if self.is_http2 { head(stream) } else { self.begin.clone() };
        let again = self.again.iter().map(|part| if self.is_http2 { of(stream, part) } else { part.clone() });
        vec![Step::Send(begin), Step::Flood(again.collect::<Vec<_>>().concat())]
    }
}

/// A frame of stream 1, moved to another stream.
fn of(stream: u32, frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    if frame[5..9] == 1u32.to_be_bytes() {
        frame[5..9].copy_from_slice(&stream.to_be_bytes());
    }
    frame
}

/// What should end a run.
#[derive(Clone, Copy, Debug)]
enum End {
    /// `-d`, during the load.
    Seconds,
    /// `-n`, with a limit per response, during the load.
    Requests,
    /// `--timeout`, during the preflight.
    Timeout,
    /// An interrupt during the load, and during the preflight.
    Interrupt,
    InterruptAtOnce,
}

impl End {
    fn good(self) -> u64 {
        match self {
            End::Seconds | End::Requests | End::Interrupt => GOOD,
            End::Timeout | End::InterruptAtOnce => 0,
        }
    }

    fn plan(self, bytes: &Bytes, port: u16, identity: &Identity) -> LoadPlan {
        let (protocol, scheme) = (
            if bytes.is_http2 { Protocol::Http2 } else { Protocol::Http11 },
            if bytes.is_secure { "https" } else { "http" },
        );
        let (requests, seconds, answer) = match self {
            End::Seconds => (None, SHORT, LONG),
            End::Requests => (Some(GOOD + 2), LONG, SHORT),
            End::Timeout => (None, LONG, SHORT),
            End::Interrupt | End::InterruptAtOnce => (None, LONG, LONG),
        };
        LoadPlan {
            length: Length { requests, seconds: Some(seconds) },
            limits: Limits {
                connect_seconds: LONG,
                request_seconds: answer,
                drain_seconds: SHORT,
                informational: u32::MAX,
                ..Limits::default()
            },
            preflights: 1,
            tls: identity.trusted(),
            ..plans::gets(protocol, &format!("{scheme}://127.0.0.1:{port}/page"), 1)
        }
    }
}

fn server(bytes: &Bytes, good: u64, identity: &Identity) -> Server {
    let tls = bytes.is_secure.then(|| Arc::clone(&identity.config));
    let (is_http2, bytes) = (bytes.is_http2, bytes.clone());
    let answers = move |RequestSeen { number, stream }| match is_http2 {
        true if number < good => vec![Step::Send(answer(stream, b"ok"))],
        false if number < good => vec![Step::Send(response("", b"ok"))],
        _ => bytes.steps(stream),
    };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a local port");
    let (greetings, answers) = (Box::new(|_| None), Box::new(answers));
    Server::with(listener, Manner { is_http2, tls, greetings, answers })
}

fn ends(bytes: &Bytes, end: End) -> Result<(), TestCaseError> {
    let identity = Identity::new(if bytes.is_http2 { &[b"h2"] } else { &[] });
    let server = server(bytes, end.good(), &identity);
    let plan = end.plan(bytes, server.address.port(), &identity);
    let stop = Arc::new(AtomicBool::new(false));
    let (tell, told) = channel();
    let (begun, own) = (Instant::now(), Arc::clone(&stop));
    thread::spawn(move || tell.send(run(&plan, &mut |_| {}, &own).is_ok()));
    if matches!(end, End::Interrupt | End::InterruptAtOnce) {
        thread::sleep(Duration::from_secs_f64(SHORT));
        stop.store(true, Ordering::SeqCst);
    }
    // Each takes at most twice the short limit: a load and its drain, or two requests.
    let most = Duration::from_secs_f64(3.0 * SHORT) + BESIDE;
    let is_over = told.recv_timeout(most.saturating_sub(begun.elapsed()));
    stop.store(true, Ordering::SeqCst);
    prop_assert!(is_over.is_ok(), "it goes on after {most:?}");
    Ok(())
}

/// Endless responses, the start of one, and arbitrary bytes.
fn http1() -> impl Strategy<Value = Bytes> {
    let chunks = ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", &b"1\r\nx\r\n"[..]);
    let length = ("HTTP/1.1 200 OK\r\nContent-Length: 9999999999999\r\n\r\n", &b"hello"[..]);
    let known = prop_oneof![
        Just(chunks),
        Just(length),
        Just(("HTTP/1.1 200 OK\r\n\r\n", &b"hello"[..])),
        Just(("", &b"HTTP/1.1 103 Early Hints\r\n\r\n"[..])),
        Just(("HTTP/1.1 200 OK\r\n", &b"X: y\r\n"[..])),
    ];
    let known = known.prop_map(|(begin, again)| (begin.as_bytes().to_vec(), again.to_vec()));
    let noise = prop::collection::vec(any::<u8>(), 1..100).prop_map(|noise| (Vec::new(), noise));
    prop_oneof![known, noise].prop_map(|(begin, again)| Bytes {
        is_http2: false,
        is_secure: false,
        begin,
        again: vec![again],
    })
}

/// Takes END_STREAM from a frame of data or headers: with it, the response would be complete, and the load could go on.
fn stay_open(frame: &mut [u8]) {
    if let [_, _, _, 0 | 1, flags, ..] = frame {
        *flags &= !1;
    }
}

/// Frames of all kinds, with bytes of a body between them or alone: these advance a response, but never complete it.
fn http2() -> impl Strategy<Value = Bytes> {
    (prop::collection::vec(any_frame(), 0..5), any::<bool>()).prop_map(|(mut again, has_body)| {
        again.iter_mut().for_each(|frame| stay_open(frame));
        if has_body || again.is_empty() {
            again.push(data(1, b"x"));
        }
        Bytes { is_http2: true, is_secure: false, begin: Vec::new(), again }
    })
}

fn bytes() -> impl Strategy<Value = Bytes> {
    (prop_oneof![http1(), http2()], any::<bool>()).prop_map(|(bytes, is_secure)| Bytes { is_secure, ..bytes })
}

proptest! {
    // Each case takes up to a second, so a failing one is hardly shrunk.
    #![proptest_config(ProptestConfig { cases: 16, max_shrink_iters: 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn its_length_in_seconds_ends_a_run(bytes in bytes()) {
        ends(&bytes, End::Seconds)?;
    }

    #[test]
    fn its_length_in_requests_ends_a_run(bytes in bytes()) {
        ends(&bytes, End::Requests)?;
    }

    #[test]
    fn the_limit_of_an_answer_ends_a_preflight(bytes in bytes()) {
        ends(&bytes, End::Timeout)?;
    }

    #[test]
    fn an_interrupt_ends_a_run(bytes in bytes()) {
        ends(&bytes, End::Interrupt)?;
    }

    #[test]
    fn an_interrupt_ends_a_preflight(bytes in bytes()) {
        ends(&bytes, End::InterruptAtOnce)?;
    }
}

#[test]
fn a_preflight_says_that_it_goes_on_and_an_interrupt_ends_it() {
    let server = Server::start(|_| vec![Step::Wait(Duration::from_secs(300))]);
    let mut plan = plans::gets(Protocol::Http11, &format!("http://{}/page", server.address), 1);
    plan.limits.request_seconds = LONG;
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    let mut told = 0;
    let refusal = run(
        &plan,
        &mut |progress| {
            assert!(progress.is_preflight);
            told += 1;
            stop.store(told == 2, Ordering::SeqCst);
        },
        &stop,
    )
    .expect_err("nothing is ever answered");
    assert!(begun.elapsed() < Duration::from_secs(2) + BESIDE, "{:?}", begun.elapsed());
    assert_eq!(refusal.0, "the preflight was interrupted; nothing was measured");
}
