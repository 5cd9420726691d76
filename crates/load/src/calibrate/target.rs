//! The built-in target: an HTTP/1.1 server with the least possible cost, so that the generator shows its ceiling.
//!
//! One thread, edge-triggered readiness, one vectored write per response. It supports `GET` of `/1k`, `/16k`, `/500k`
//! and `/bytes/N`, on loopback only. It is not a web server: it has no request bodies, ranges or content codings.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memchr::memmem;
use mio::event::Event;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

/// Length of the pattern that fills bodies: longer bodies repeat it. All bodies of the calibration are shorter.
const PATTERN: usize = 1 << 20;
/// The listener's token; a connection's token is its index in the table.
const LISTENER: Token = Token(usize::MAX);
/// How often a wait checks `stop`.
const GLANCE: Duration = Duration::from_millis(100);
/// Events per poll.
const EVENTS: usize = 1024;

/// Serves until `stop` is set; it is checked ten times per second. A client's error ends its connection, never the
/// server.
///
/// # Errors
/// The listener is not on a loopback address, or the system has no more files or memory for it.
pub fn serve(listener: TcpListener, stop: &AtomicBool) -> io::Result<()> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        let why =
            format!("{address} is not a loopback address; the built-in target only serves this machine");
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    listener.set_nonblocking(true)?;
    let mut server = Server::new(mio::net::TcpListener::from_std(listener))?;
    let mut events = Events::with_capacity(EVENTS);
    while !stop.load(Ordering::Relaxed) {
        match server.poll.poll(&mut events, Some(GLANCE)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            polled => polled?,
        }
        for event in &events {
            if event.token() == LISTENER {
                server.accept()?;
            } else {
                server.drive(event);
            }
        }
    }
    Ok(())
}

/// The bytes of every body, repeated if the body is longer: printable and other bytes, the same on every machine.
pub fn pattern() -> Box<[u8]> {
    // xorshift64 (Marsaglia, 2003): no shift or repetition of a few bytes leaves the pattern unchanged.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(next).flatten().take(PATTERN).collect()
}

struct Server {
    poll: Poll,
    listener: mio::net::TcpListener,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    pattern: Box<[u8]>,
}

impl Server {
    fn new(mut listener: mio::net::TcpListener) -> io::Result<Server> {
        let poll = Poll::new()?;
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Server { poll, listener, connections: Vec::new(), free: Vec::new(), pattern: pattern() })
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let mut stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                // The client was gone before it was accepted.
                Err(e) if matches!(e.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {
                    continue;
                }
                Err(e) => return Err(e),
            };
            // Without it, the end of a long body would wait for an acknowledgement.
            stream.set_nodelay(true)?;
            let at = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() - 1
            });
            let both = Interest::READABLE | Interest::WRITABLE;
            self.poll.registry().register(&mut stream, Token(at), both)?;
            self.connections[at] = Some(Connection::new(stream));
        }
    }

    fn drive(&mut self, event: &Event) {
        let at = event.token().0;
        // An event of a connection that ended in the same batch.
        let Some(slot) = self.connections.get_mut(at) else { return };
        let Some(connection) = slot else { return };
        if !connection.drive(event.is_readable(), event.is_read_closed(), &self.pattern) {
            // Closing also removes it from the poll.
            *slot = None;
            self.free.push(at);
        }
    }
}

/// The longest head of a request, in bytes.
const HEAD: usize = 4096;

struct Connection {
    stream: TcpStream,
    input: Box<[u8; HEAD]>,
    filled: usize,
    /// The response being sent; its memory is reused.
    answer: Answer,
    /// Bytes of the response that were sent, head and body.
    sent: usize,
    /// The socket may have data: edge-triggered readiness is reported once.
    readable: bool,
}

/// The state of a response.
enum Written {
    All,
    Blocked,
    Gone,
}

impl Connection {
    fn new(stream: TcpStream) -> Connection {
        Connection {
            stream,
            input: Box::new([0; HEAD]),
            filled: 0,
            answer: Answer::default(),
            sent: 0,
            readable: false,
        }
    }

    /// Reads and writes what is possible. False: the connection has ended.
    fn drive(&mut self, readable: bool, closed: bool, pattern: &[u8]) -> bool {
        self.readable |= readable;
        loop {
            match self.write(pattern) {
                Written::Blocked => return true,
                Written::Gone => return false,
                Written::All if self.answer.close => return false,
                Written::All => {}
            }
            if let Some(at) = memmem::find(&self.input[..self.filled], b"\r\n\r\n") {
                self.take(at + 4);
            } else if self.filled == HEAD {
                self.refuse("431 Request Header Fields Too Large");
            } else if !self.readable {
                return true;
            } else if !self.read(closed) {
                return false;
            }
        }
    }

    /// Answers a request with a head of this length.
    fn take(&mut self, length: usize) {
        answer(&self.input[..length], &mut self.answer);
        self.input.copy_within(length..self.filled, 0);
        self.filled -= length;
        self.sent = 0;
    }

    fn refuse(&mut self, status: &str) {
        self.answer.refuse(status);
        self.sent = 0;
    }

    fn read(&mut self, closed: bool) -> bool {
        match self.stream.read(&mut self.input[self.filled..]) {
            Ok(0) => return false,
            Ok(n) => {
                self.filled += n;
                // After a short read the socket is empty, see epoll(7); but an end that was reported before is not
                // reported again.
                self.readable = closed || self.filled == HEAD;
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => self.readable = false,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
        true
    }

    fn write(&mut self, pattern: &[u8]) -> Written {
        let head = self.answer.head.len();
        let total = head + self.answer.body;
        while self.sent < total {
            let at = self.sent.saturating_sub(head);
            let from = at % pattern.len();
            let to = pattern.len().min(from + self.answer.body - at);
            let parts =
                [IoSlice::new(&self.answer.head[self.sent.min(head)..]), IoSlice::new(&pattern[from..to])];
            match self.stream.write_vectored(&parts) {
                Ok(n) => self.sent += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Written::Blocked,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Written::Gone,
            }
        }
        Written::All
    }
}

/// The largest body in bytes.
pub const LARGEST: usize = 16 << 20;

/// A response: its head, and the length of its body, which comes from the pattern.
#[derive(Debug, Default)]
struct Answer {
    head: Vec<u8>,
    body: usize,
    /// The connection ends after it.
    close: bool,
}

impl Answer {
    /// A response without a body that ends the connection.
    fn refuse(&mut self, status: &str) {
        self.close = true;
        self.body = 0;
        self.write(status, "Connection: close\r\n");
    }

    fn write(&mut self, status: &str, connection: &str) {
        self.head.clear();
        let length = self.body;
        let kind = "Content-Type: application/octet-stream\r\n";
        // Writing to a vector cannot fail.
        let _ = write!(self.head, "HTTP/1.1 {status}\r\n{kind}{connection}Content-Length: {length}\r\n\r\n");
    }
}

/// Writes the response to a request's head, which ends with an empty line.
fn answer(head: &[u8], answer: &mut Answer) {
    let mut lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let mut words = lines.next().unwrap_or_default().split(|&b| b == b' ');
    let (method, path, version) = (words.next(), words.next(), words.next());
    let old = match version {
        Some(b"HTTP/1.1") => false,
        Some(b"HTTP/1.0") => true,
        _ => return answer.refuse("400 Bad Request"),
    };
    if method != Some(b"GET") {
        return answer.refuse("405 Method Not Allowed");
    }
    let Some(body) = path.and_then(length) else { return answer.refuse("404 Not Found") };
    let mut says =
        |token: &[u8]| lines.any(|line| connection(line).is_some_and(|v| v.eq_ignore_ascii_case(token)));
    answer.body = body;
    if old {
        answer.close = !says(b"keep-alive");
        answer.write("200 OK", if answer.close { "" } else { "Connection: keep-alive\r\n" });
    } else {
        answer.close = says(b"close");
        answer.write("200 OK", if answer.close { "Connection: close\r\n" } else { "" });
    }
}

/// The length of the body at a path.
fn length(path: &[u8]) -> Option<usize> {
    match path {
        b"/1k" => Some(1 << 10),
        b"/16k" => Some(16 << 10),
        b"/500k" => Some(500 << 10),
        _ => {
            let digits = std::str::from_utf8(path.strip_prefix(b"/bytes/")?).ok()?;
            // `parse` would accept a sign.
            let all = digits.bytes().all(|b| b.is_ascii_digit());
            digits.parse().ok().filter(|n| all && *n <= LARGEST)
        }
    }
}

/// The value of a `Connection` header.
fn connection(line: &[u8]) -> Option<&[u8]> {
    let (name, value) = line.split_at_checked(b"connection:".len())?;
    name.eq_ignore_ascii_case(b"connection:").then(|| value.trim_ascii())
}
