//! Servers that send without end what brings no response on, or brings it on a byte at a time: every run ends in its time, and says
//! what was done to it.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use weigh_load::fault::FaultKind;
use weigh_load::plan::{Length, Limits, LoadPlan, Protocol};
use weigh_load::run;

use crate::bad_servers::load::verify;
use crate::bad_servers::server::{Server, Step, chunked, response};
use crate::plans::{self, counts};

/// Requests of the preflight.
const PREFLIGHT: usize = 3;
/// A flood ends here at the latest, so that a client without bounds fails a test and not the machine.
const MOST: usize = 1 << 30;
/// What a run may take beside its own limits, on a busy machine.
const BESIDE: Duration = Duration::from_secs(4);

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// What a server does with a request, by the number of its stream: bytes once, and bytes again and again.
type Answer = dyn Fn(u32) -> (Vec<u8>, Vec<u8>) + Send + Sync;

/// A server that speaks HTTP/2 frame by frame: the first requests are answered well, and the others as it is told.
struct Raw {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl Raw {
    fn start(good: usize, answer: Box<Answer>) -> Raw {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, answer) = (is_over.clone(), Arc::new(answer));
        let number = Arc::new(AtomicUsize::new(0));
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let (over, answer, number) = (over.clone(), answer.clone(), number.clone());
                thread::spawn(move || attend(stream, &over, good, &number, &*answer));
            }
        });
        Raw { address, is_over }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

fn attend(
    mut stream: TcpStream,
    is_over: &AtomicBool,
    good: usize,
    number: &AtomicUsize,
    answer: &Answer,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.read_exact(&mut [0; 24])?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[]))?;
    loop {
        let mut header = [0; 9];
        stream.read_exact(&mut header)?;
        let [a, b, c, kind, flags, id @ ..] = header;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        stream.read_exact(&mut payload)?;
        let id = u32::from_be_bytes(id);
        match kind {
            SETTINGS if flags & ACK == 0 => stream.write_all(&frame(SETTINGS, ACK, 0, &[]))?,
            HEADERS if number.fetch_add(1, Ordering::SeqCst) < good => {
                stream.write_all(&frame(HEADERS, END_HEADERS, id, &[0x88]))?;
                stream.write_all(&frame(DATA, END_STREAM, id, b"ok"))?;
            }
            HEADERS => {
                let (once, again) = answer(id);
                stream.write_all(&once)?;
                if again.is_empty() {
                    continue;
                }
                // What the client has to say to it is read and forgotten.
                let mut reader = stream.try_clone()?;
                thread::spawn(move || io::copy(&mut reader, &mut io::sink()));
                let portion = again.repeat((64 << 10) / again.len());
                for _ in 0..MOST / portion.len() {
                    if is_over.load(Ordering::SeqCst) || stream.write_all(&portion).is_err() {
                        break;
                    }
                }
                return stream.shutdown(Shutdown::Both);
            }
            _ => {}
        }
    }
}

/// A second of load with a second for each answer and a half for the end.
fn plan(address: SocketAddr, protocol: Protocol) -> LoadPlan {
    LoadPlan {
        length: Length { requests: None, seconds: Some(1.0) },
        limits: Limits { request_seconds: 1.0, drain_seconds: 0.5, ..Limits::default() },
        check: verify(),
        ..plans::gets(protocol, &format!("http://{address}/page"), 1)
    }
}

/// The kinds of faults that a load has come to, and how long it took.
fn kinds(plan: &LoadPlan) -> (Vec<FaultKind>, Duration) {
    let begun = Instant::now();
    let result = run(plan, &mut |_| {}, &AtomicBool::new(false));
    let kinds = match result {
        Ok(result) => result.faults.iter().map(|fault| fault.kind).collect(),
        Err(refusal) => {
            let text = refusal.to_string();
            let word = text.split(": ").nth(1).unwrap_or_default();
            vec![serde_json::from_value(word.into()).unwrap_or_else(|_| panic!("{text}"))]
        }
    };
    (kinds, begun.elapsed())
}

/// What is sent on a stream of this number again and again, and the faults that may come of it.
type Kind = (&'static str, fn(u32) -> Vec<u8>, Vec<FaultKind>);

fn floods() -> Vec<Kind> {
    use FaultKind::{Flood, Informational, Timeout};
    vec![
        ("ping", |_| frame(PING, 0, 0, &[7; 8]), vec![Flood]),
        ("ping acknowledged", |_| frame(PING, ACK, 0, &[7; 8]), vec![Flood]),
        ("window update", |_| frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]), vec![Flood]),
        ("window update of the stream", |id| frame(WINDOW_UPDATE, 0, id, &[0, 0, 0, 1]), vec![Flood]),
        ("priority", |id| frame(PRIORITY, 0, id, &[0, 0, 0, 0, 1]), vec![Flood]),
        ("settings", |_| frame(SETTINGS, 0, 0, &[]), vec![Flood]),
        ("unknown", |_| frame(0xee, 0, 0, b"what is it"), vec![Flood]),
        ("informational", |id| frame(HEADERS, END_HEADERS, id, b"\x08\x03103"), vec![Informational, Flood]),
        ("empty data", |id| frame(DATA, 0, id, &[]), vec![Flood, FaultKind::Http2]),
        ("data of a byte", |id| frame(DATA, 0, id, b"x"), vec![Timeout]),
    ]
}

#[test]
fn a_flood_over_http2_is_named_and_ends_in_its_time() {
    for (name, flood, expected) in floods() {
        for good in [0, PREFLIGHT + 5] {
            let begins = matches!(name, "empty data" | "data of a byte");
            let answer = move |id| {
                let head = if begins { frame(HEADERS, END_HEADERS, id, &[0x88]) } else { Vec::new() };
                (head, flood(id))
            };
            let server = Raw::start(good, Box::new(answer));
            let (kinds, took) = kinds(&plan(server.address, Protocol::Http2));
            assert!(
                !kinds.is_empty() && kinds.iter().all(|kind| expected.contains(kind)),
                "{name}: {kinds:?}"
            );
            assert!(took < Duration::from_millis(2500) + BESIDE, "{name} after {good}: {took:?}");
        }
    }
}

#[test]
fn chunks_of_a_byte_end_by_the_clock() {
    let good = response("", b"good");
    let endless = [
        Step::Send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec()),
        Step::Flood(b"1\r\nx\r\n".repeat(1000)),
    ];
    assert!(chunked(&["x"]).ends_with(b"1\r\nx\r\n0\r\n\r\n"), "so are chunks written");
    let server = Server::start(
        move |number| if number < 9 { vec![Step::Send(good.clone())] } else { endless.to_vec() },
    );
    let (kinds, took) = kinds(&plan(server.address, Protocol::Http11));
    assert!(!kinds.is_empty(), "a chunked body in place of one of four bytes is wrong or late");
    assert!(took < Duration::from_millis(2500) + BESIDE, "{took:?}");
}

#[test]
fn an_interrupt_ends_a_run_under_a_flood_that_has_begun() {
    let answer = |id| (frame(HEADERS, END_HEADERS, id, &[0x88]), frame(DATA, 0, id, b"x"));
    let server = Raw::start(PREFLIGHT + 5, Box::new(answer));
    let mut plan = plan(server.address, Protocol::Http2);
    plan.length.seconds = Some(600.0);
    plan.limits.request_seconds = 600.0;
    let stop = AtomicBool::new(false);
    let begun = Instant::now();
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(500));
            stop.store(true, Ordering::SeqCst);
        });
        run(&plan, &mut |_| {}, &stop).unwrap()
    });
    assert!(begun.elapsed() < Duration::from_secs(1) + BESIDE, "{:?}", begun.elapsed());
    assert_eq!(counts(&result).completed, 5);
}

#[test]
fn one_connection_under_a_flood_does_not_keep_the_others_from_their_answers() {
    // The sixth of the load is the one that is never answered; others go on over the other connection.
    let answer = |id| (frame(HEADERS, END_HEADERS, id, &[0x88]), frame(DATA, 0, id, b"x"));
    let bad = AtomicUsize::new(0);
    let answer = move |id| match bad.fetch_add(1, Ordering::SeqCst) {
        0 => answer(id),
        _ => (
            [frame(HEADERS, END_HEADERS, id, &[0x88]), frame(DATA, END_STREAM, id, b"ok")].concat(),
            Vec::new(),
        ),
    };
    let server = Raw::start(PREFLIGHT + 5, Box::new(answer));
    let mut plan = plan(server.address, Protocol::Http2);
    plan.streams[0].connections = 2;
    let result = run(&plan, &mut |_| {}, &AtomicBool::new(false)).unwrap();
    let all = counts(&result);
    // Five are answered before the flood; how many after it is the machine's affair.
    assert!(all.completed > 10 && (1..=2).contains(&all.faulted), "{all:?}");
}

#[test]
fn a_server_that_takes_no_stream_is_named() {
    // SETTINGS_MAX_CONCURRENT_STREAMS (3) of 0, behind an answer.
    let none = || frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 0]);
    let answer = move |id| {
        let answer = [frame(HEADERS, END_HEADERS, id, &[0x88]), frame(DATA, END_STREAM, id, b"ok")];
        ([none(), answer.concat()].concat(), Vec::new())
    };
    for (requests, seconds, arrival) in
        [(Some(8), None, "closed"), (None, Some(0.6), "closed"), (None, Some(0.6), "constant:100")]
    {
        let server = Raw::start(PREFLIGHT + 5, Box::new(answer));
        let mut plan = plan(server.address, Protocol::Http2);
        plan.length = Length { requests, seconds };
        plan.streams[0].arrival = arrival.into();
        plan.limits.request_seconds = 0.3;
        let begun = Instant::now();
        let result = run(&plan, &mut |_| {}, &AtomicBool::new(false)).unwrap();
        let all = counts(&result);
        assert!(begun.elapsed() < Duration::from_secs(3) + BESIDE, "{:?}", begun.elapsed());
        assert!(all.faulted > 0 && all.dropped == 0, "{arrival}: {all:?}");
        let said = &result.faults[0].example.message;
        assert!(said.contains("SETTINGS_MAX_CONCURRENT_STREAMS is 0"), "{said}");
    }
}
