//! The built-in target of the calibration, over real sockets.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use weigh_load::calibrate::target::{LARGEST, pattern, serve};

/// A target that ends with the test.
pub struct Target {
    pub address: std::net::SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Target {
    pub fn start() -> Target {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = Some(std::thread::spawn(move || serve(listener, &stopped)));
        Target { address, stop, thread }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream
    }

    /// All bytes of the response until the connection ends.
    fn whole(&self, request: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(request).unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        String::from_utf8_lossy(&all).into_owned()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let served = self.thread.take().unwrap().join().unwrap();
        if !std::thread::panicking() {
            served.unwrap();
        }
    }
}

fn get(stream: &mut TcpStream, path: &str) -> Vec<u8> {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    response(stream).1
}

/// Head and body of one response with a Content-Length.
fn response(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.split_once("Content-Length: ").unwrap().1.split_once("\r\n").unwrap().0;
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    (head, body)
}

#[test]
fn bodies_have_their_lengths_and_the_pattern_over_one_kept_connection() {
    let target = Target::start();
    let mut stream = target.connect();
    let pattern = pattern();
    for (path, length) in
        [("/1k", 1024), ("/16k", 16384), ("/500k", 512_000), ("/bytes/0", 0), ("/bytes/77", 77)]
    {
        assert!(get(&mut stream, path) == pattern[..length], "{path}");
    }
    // Longer than the pattern and than any socket's buffer: writes are resumed, and the pattern repeats.
    let longest = get(&mut stream, &format!("/bytes/{LARGEST}"));
    assert_eq!(longest.len(), LARGEST);
    assert!(longest.chunks(pattern.len()).all(|part| *part == *pattern));
}

#[test]
fn a_request_may_come_in_pieces_and_two_at_once() {
    let target = Target::start();
    let mut stream = target.connect();
    stream.set_nodelay(true).unwrap();
    for byte in b"GET /bytes/3 HTTP/1.1\r\nHost: localhost\r\n\r\n" {
        stream.write_all(&[*byte]).unwrap();
    }
    assert_eq!(response(&mut stream).1.len(), 3);
    stream.write_all(b"GET /bytes/5 HTTP/1.1\r\n\r\nGET /bytes/6 HTTP/1.1\r\n\r\n").unwrap();
    assert_eq!(response(&mut stream).1.len(), 5);
    assert_eq!(response(&mut stream).1.len(), 6);
}

#[test]
fn connections_end_when_the_client_asks_for_it() {
    let target = Target::start();
    let closed = target.whole(b"GET /bytes/4 HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert!(
        closed.starts_with("HTTP/1.1 200 OK\r\n") && closed.contains("\r\nConnection: close\r\n"),
        "{closed}"
    );
    let old = target.whole(b"GET /bytes/4 HTTP/1.0\r\n\r\n");
    assert!(old.starts_with("HTTP/1.1 200 OK\r\n") && !old.contains("Connection"), "{old}");
    let mut stream = target.connect();
    for _ in 0..2 {
        stream.write_all(b"GET /bytes/4 HTTP/1.0\r\nconnection: Keep-Alive\r\n\r\n").unwrap();
        assert!(response(&mut stream).0.contains("Connection: keep-alive"));
    }
}

#[test]
fn what_is_not_understood_is_refused_and_ends_the_connection() {
    let target = Target::start();
    let too_long = format!("/bytes/{}", LARGEST + 1);
    for (request, status) in [
        (format!("GET {too_long} HTTP/1.1\r\n\r\n"), "404"),
        ("GET /bytes/+5 HTTP/1.1\r\n\r\n".into(), "404"),
        ("GET / HTTP/1.1\r\n\r\n".into(), "404"),
        ("POST /1k HTTP/1.1\r\n\r\n".into(), "405"),
        ("GET /1k HTTP/2.0\r\n\r\n".into(), "400"),
        ("\r\n\r\n".into(), "400"),
        ("x".repeat(4096), "431"),
    ] {
        let seen = target.whole(request.as_bytes());
        assert!(seen.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {seen}");
        assert!(seen.ends_with("Connection: close\r\nContent-Length: 0\r\n\r\n"), "{request}: {seen}");
    }
    // Others are still served.
    assert_eq!(get(&mut target.connect(), "/1k").len(), 1024);
}

#[test]
fn clients_that_leave_in_mid_body_leave_the_others_alone() {
    let target = Target::start();
    for _ in 0..20 {
        let mut stream = target.connect();
        stream.write_all(b"GET /bytes/16000000 HTTP/1.1\r\n\r\n").unwrap();
        stream.read_exact(&mut [0; 100]).unwrap();
    }
    let mut all: Vec<TcpStream> = (0..50).map(|_| target.connect()).collect();
    for stream in &mut all {
        assert_eq!(get(stream, "/16k").len(), 16384);
    }
}

#[test]
fn a_client_that_ends_its_side_is_answered_and_let_go() {
    let target = Target::start();
    for (request, bytes) in [("GET /bytes/7 HTTP/1.1\r\n\r\n", 7), ("GET /by", 0)].repeat(50) {
        let mut stream = target.connect();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut all = Vec::new();
        // Without an end this would run into the time limit.
        stream.read_to_end(&mut all).unwrap();
        assert_eq!(all.len().min(7), bytes);
    }
}

#[test]
fn only_this_machine_is_served() {
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let refused = serve(listener, &AtomicBool::new(false)).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::InvalidInput);
    assert!(refused.to_string().contains("not a loopback address"), "{refused}");
}
