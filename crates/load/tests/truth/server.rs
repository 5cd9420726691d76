//! A server with known delays that records when each response left: the other side of every response time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\ntruth";
const LISTENER: Token = Token(usize::MAX);
/// The server spins for this time before an instant: a wait alone is exact only to the millisecond.
const SPIN: Duration = Duration::from_millis(1);

/// The behaviour of the server.
#[derive(Clone, Copy)]
pub struct Script {
    /// The delay of a request by its number, in the order of arrival.
    pub delay: fn(usize) -> Duration,
    /// From the arrival of that request on, no response leaves for this time.
    pub stall: Option<(usize, Duration)>,
}

/// A request, as the server recorded it.
#[derive(Clone, Debug)]
pub struct Note {
    /// When its request was read.
    pub arrived: Instant,
    /// When its response left: after the start, when it was passed to the system, and before the end, when the system
    /// had accepted it. None: never.
    pub left: Option<Range<Instant>>,
}

/// A server in a thread of its own.
pub struct Server {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Note>>,
}

impl Server {
    /// On one processor, if it has one to itself.
    pub fn start(script: Script, cpu: Option<u32>) -> Server {
        let mut listener = TcpListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let poll = Poll::new().unwrap();
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE).unwrap();
        let hall = Hall {
            script,
            poll,
            listener,
            guests: Vec::new(),
            notes: Vec::new(),
            due: BinaryHeap::new(),
            held: Instant::now(),
        };
        let thread = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                if let Some(cpu) = cpu {
                    weigh_load::sys::pin(cpu).unwrap();
                }
                hall.serve(&stop)
            }
        });
        Server { address, stop, thread }
    }

    /// Ends it, and returns its records in the order of arrival.
    pub fn end(self) -> Vec<Note> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

struct Hall {
    script: Script,
    poll: Poll,
    listener: TcpListener,
    guests: Vec<Guest>,
    notes: Vec<Note>,
    /// The time, the request, and its connection.
    due: BinaryHeap<Reverse<(Instant, usize, usize)>>,
    /// No response leaves before this time.
    held: Instant,
}

struct Guest {
    stream: TcpStream,
    /// Bytes of the end of a head that have arrived.
    matched: usize,
}

impl Hall {
    fn serve(mut self, stop: &AtomicBool) -> Vec<Note> {
        let mut events = Events::with_capacity(1024);
        while !stop.load(Ordering::Relaxed) {
            let wait = self.write(Instant::now());
            self.poll.poll(&mut events, Some(wait)).unwrap();
            for event in &events {
                match event.token() {
                    LISTENER => self.accept(),
                    Token(guest) => self.read(guest),
                }
            }
        }
        self.notes
    }

    fn accept(&mut self) {
        while let Ok((mut stream, _)) = self.listener.accept() {
            stream.set_nodelay(true).unwrap();
            self.poll.registry().register(&mut stream, Token(self.guests.len()), Interest::READABLE).unwrap();
            self.guests.push(Guest { stream, matched: 0 });
        }
    }

    fn read(&mut self, guest: usize) {
        let mut buffer = [0; 4096];
        loop {
            let bytes = match self.guests[guest].stream.read(&mut buffer) {
                Ok(0) => return,
                Ok(n) => &buffer[..n],
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            let now = Instant::now();
            for byte in bytes {
                let matched = &mut self.guests[guest].matched;
                *matched = match byte {
                    byte if *byte == b"\r\n\r\n"[*matched] => *matched + 1,
                    b'\r' => 1,
                    _ => 0,
                };
                if *matched == 4 {
                    *matched = 0;
                    self.arrived(guest, now);
                }
            }
        }
    }

    fn arrived(&mut self, guest: usize, now: Instant) {
        let number = self.notes.len();
        self.notes.push(Note { arrived: now, left: None });
        if let Some((at, length)) = self.script.stall
            && at == number
        {
            self.held = now + length;
        }
        self.due.push(Reverse((now + (self.script.delay)(number), number, guest)));
    }

    /// Writes what is due, and returns the time until the next response.
    fn write(&mut self, mut now: Instant) -> Duration {
        while let Some(Reverse((due, number, guest))) = self.due.peek().copied() {
            let at = due.max(self.held);
            if at > now {
                return (at - now).saturating_sub(SPIN);
            }
            self.due.pop();
            now = Instant::now();
            // A client that is gone needs no response.
            let _ = self.guests[guest].stream.write(RESPONSE);
            self.notes[number].left = Some(now..Instant::now());
        }
        Duration::from_millis(10)
    }
}
