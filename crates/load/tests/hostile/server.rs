//! A server that follows a script, over TCP or TLS, in HTTP/1 or HTTP/2: a list of steps for each connection and each
//! request.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustls::ServerConfig;

use crate::frames::{ACK, HEADERS, SETTINGS, frame};
use crate::wire::{Change, Wire};

/// The next step of the server on a connection.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sends these bytes, in one piece if the kernel allows.
    Send(Vec<u8>),
    /// Sends these bytes one by one, with a pause after each.
    Drip(Vec<u8>, Duration),
    /// Sends these bytes repeatedly until the connection breaks.
    Flood(Vec<u8>),
    /// Reads once, and discards the bytes.
    Hear,
    Wait(Duration),
    /// Closes the connection normally.
    Close,
    /// Closes the connection without TLS's close_notify.
    Cut,
    /// Resets the connection.
    Reset,
    /// Closes only its own side.
    Finish,
    /// Accepts no further connection: further clients are refused. Established connections go on.
    Retire,
    /// Accepts no further connection, and keeps them waiting.
    Stall,
    /// The TLS handshake, if another step comes before it; otherwise it is the first step.
    Shake,
    /// The server's first flight of the TLS handshake, changed; the rest is not read.
    Fly(Change),
    /// Carries out a step on TCP below TLS.
    Beneath(Box<Step>),
    /// Sends these records this many times, encrypted like those of the session.
    Seal(Vec<(u8, Vec<u8>)>, usize),
}

/// A flood ends here at the latest, so that a client without limits fails a test rather than the machine.
const FLOOD: u64 = 16 << 30;
/// Bytes of a flood that are sent at a time.
const PORTION: usize = 64 << 10;

/// A request to the server.
#[derive(Clone, Copy, Debug)]
pub struct RequestSeen {
    /// The number of the request, over all connections.
    pub number: u64,
    /// Its stream, in HTTP/2.
    pub stream: u32,
}

type Greetings = Box<dyn Fn(u64) -> Option<Vec<Step>> + Send + Sync>;
type Answers = Box<dyn Fn(RequestSeen) -> Vec<Step> + Send + Sync>;

/// The script of a server.
pub struct Manner {
    pub is_http2: bool,
    pub tls: Option<Arc<ServerConfig>>,
    /// By the number of the connection, before anything is read from it; none: the protocol's default.
    pub greetings: Greetings,
    pub answers: Answers,
}

/// A running server. It ends with the value.
pub struct Server {
    pub address: SocketAddr,
    stage: Arc<Stage>,
}

struct Stage {
    manner: Manner,
    requests: AtomicU64,
    connections: AtomicU64,
    is_over: AtomicBool,
    /// The value was dropped.
    is_dropped: AtomicBool,
    is_stalled: AtomicBool,
    /// Nothing listens any more.
    is_gone: AtomicBool,
}

impl Server {
    /// A server that answers each request by its number with these steps, in HTTP/1. Unless they end the connection it
    /// stays open.
    pub fn start(answers: impl Fn(u64) -> Vec<Step> + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a local port");
        Server::on(listener, answers)
    }

    /// One behind a listener.
    pub fn on(listener: TcpListener, answers: impl Fn(u64) -> Vec<Step> + Send + Sync + 'static) -> Server {
        let answers = Box::new(move |asked: RequestSeen| answers(asked.number));
        Server::with(listener, Manner { is_http2: false, tls: None, greetings: Box::new(|_| None), answers })
    }

    /// One that speaks HTTP/2 with prior knowledge.
    pub fn http2(answers: impl Fn(RequestSeen) -> Vec<Step> + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a local port");
        let answers = Box::new(answers);
        Server::with(listener, Manner { is_http2: true, tls: None, greetings: Box::new(|_| None), answers })
    }

    /// A server with any script.
    pub fn with(listener: TcpListener, manner: Manner) -> Server {
        let address = listener.local_addr().expect("it is bound");
        let stage = Arc::new(Stage {
            manner,
            requests: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            is_dropped: AtomicBool::new(false),
            is_stalled: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
        });
        let own = Arc::clone(&stage);
        thread::spawn(move || {
            own.serve(&listener);
            drop(listener);
            own.is_gone.store(true, Ordering::SeqCst);
        });
        Server { address, stage }
    }

    /// Connections so far.
    pub fn connections(&self) -> u64 {
        self.stage.connections.load(Ordering::SeqCst)
    }

    /// Requests so far.
    pub fn requests(&self) -> u64 {
        self.stage.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stage.is_dropped.store(true, Ordering::SeqCst);
        self.stage.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts, if there still is one.
        let _ = TcpStream::connect(self.address);
    }
}

impl Stage {
    fn serve(self: &Arc<Stage>, listener: &TcpListener) {
        listener.set_nonblocking(false).expect("it blocks");
        while !self.is_over.load(Ordering::SeqCst) {
            let Ok((stream, _)) = listener.accept() else {
                thread::sleep(Duration::from_millis(1));
                continue;
            };
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            while self.is_stalled.load(Ordering::SeqCst) && !self.is_over.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(5));
            }
            let number = self.connections.fetch_add(1, Ordering::SeqCst);
            let own = Arc::clone(self);
            // An error means that the client is gone; the test decides whether that was correct.
            thread::spawn(move || own.attend(stream, number));
        }
    }

    fn attend(&self, stream: TcpStream, number: u64) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let greeting = (self.manner.greetings)(number);
        let greets_itself = greeting.is_some();
        let Some(mut wire) = self.go(Wire::Plain(stream), greeting.unwrap_or_default())? else {
            return Ok(());
        };
        if let Some(config) = self.manner.tls.as_ref().filter(|_| !wire.is_secure()) {
            wire = wire.shake(config)?;
        }
        if self.manner.is_http2 { self.http2(wire, greets_itself) } else { self.http1(wire) }
    }

    fn http1(&self, mut wire: Wire) -> io::Result<()> {
        let mut request = Vec::new();
        while read_request(&mut wire, &mut request)? {
            let number = self.requests.fetch_add(1, Ordering::SeqCst);
            let Some(same) = self.go(wire, (self.manner.answers)(RequestSeen { number, stream: 0 }))? else {
                break;
            };
            wire = same;
        }
        Ok(())
    }

    fn http2(&self, mut wire: Wire, is_greeted: bool) -> io::Result<()> {
        wire.read_exact(&mut [0; 24])?;
        if !is_greeted {
            wire.write_all(&frame(SETTINGS, 0, 0, &[]))?;
        }
        loop {
            let mut header = [0; 9];
            wire.read_exact(&mut header)?;
            let [a, b, c, kind, flags, stream @ ..] = header;
            let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
            wire.read_exact(&mut payload)?;
            if kind == SETTINGS && flags & ACK == 0 {
                wire.write_all(&frame(SETTINGS, ACK, 0, &[]))?;
            } else if kind == HEADERS {
                let number = self.requests.fetch_add(1, Ordering::SeqCst);
                let asked = RequestSeen { number, stream: u32::from_be_bytes(stream) };
                let Some(same) = self.go(wire, (self.manner.answers)(asked))? else { return Ok(()) };
                wire = same;
            }
        }
    }

    /// Carries out steps; none: they ended the connection.
    fn go(&self, mut wire: Wire, steps: Vec<Step>) -> io::Result<Option<Wire>> {
        for step in steps {
            match step {
                Step::Close => return wire.close().map(|()| None),
                Step::Cut => return Ok(None),
                Step::Reset => return wire.reset().map(|()| None),
                Step::Flood(bytes) => return self.flood(wire, &bytes).map(|()| None),
                Step::Retire => self.retire(wire.tcp())?,
                Step::Stall => self.is_stalled.store(true, Ordering::SeqCst),
                Step::Finish => wire.finish()?,
                Step::Shake => wire = wire.shake(self.config()?)?,
                Step::Fly(change) => wire.fly(self.config()?, change)?,
                Step::Beneath(step) => {
                    let beneath = Wire::Plain(wire.tcp().try_clone()?);
                    if self.go(beneath, vec![*step])?.is_none() {
                        return Ok(None);
                    }
                }
                Step::Seal(records, times) => return self.seal(wire, &records, times).map(|()| None),
                Step::Hear => drop(wire.read(&mut [0; 16 << 10])?),
                Step::Wait(pause) => thread::sleep(pause),
                Step::Send(bytes) => wire.write_all(&bytes)?,
                Step::Drip(bytes, pause) => {
                    for byte in bytes {
                        wire.write_all(&[byte])?;
                        thread::sleep(pause);
                    }
                }
            }
        }
        Ok(Some(wire))
    }

    fn config(&self) -> io::Result<&Arc<ServerConfig>> {
        self.manner.tls.as_ref().ok_or_else(|| io::Error::other("a server without TLS"))
    }

    fn flood(&self, mut wire: Wire, bytes: &[u8]) -> io::Result<()> {
        if let Wire::Plain(tcp) = &wire {
            read_on(tcp)?;
        }
        let portion = bytes.repeat(1 + PORTION / bytes.len());
        for _ in 0..FLOOD / portion.len() as u64 {
            if self.is_dropped.load(Ordering::SeqCst) || wire.write_all(&portion).is_err() {
                break;
            }
        }
        wire.tcp().shutdown(Shutdown::Both)
    }

    /// Sends sealed records, and then leaves the connection as it is until the client goes.
    fn seal(&self, wire: Wire, records: &[(u8, Vec<u8>)], times: usize) -> io::Result<()> {
        let (mut tcp, mut sealer) = wire.sealer()?;
        let mut reader = tcp.try_clone()?;
        let reading = thread::spawn(move || io::copy(&mut reader, &mut io::sink()));
        let mut sealed = Vec::new();
        for _ in 0..times {
            for (typ, payload) in records {
                sealed.extend(sealer.seal(*typ, payload)?);
            }
            if sealed.len() > PORTION {
                tcp.write_all(&sealed)?;
                sealed.clear();
            }
            if self.is_dropped.load(Ordering::SeqCst) {
                return Ok(());
            }
        }
        tcp.write_all(&sealed)?;
        reading.join().map_or(Ok(()), |read| read.map(drop))
    }

    fn retire(&self, stream: &TcpStream) -> io::Result<()> {
        self.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(stream.local_addr()?);
        while !self.is_gone.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// The client's bytes during a flood are read and discarded.
fn read_on(tcp: &TcpStream) -> io::Result<()> {
    let mut reader = tcp.try_clone()?;
    thread::spawn(move || io::copy(&mut reader, &mut io::sink()));
    Ok(())
}

/// Reads one request with its body; false: the client closed between two.
fn read_request(wire: &mut Wire, kept: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        if let Some(end) = kept.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&kept[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            let whole = end + 4 + length.unwrap_or(0);
            if kept.len() >= whole {
                kept.drain(..whole);
                return Ok(true);
            }
        }
        let mut buffer = [0; 16 << 10];
        match wire.read(&mut buffer)? {
            0 => return Ok(false),
            read => kept.extend_from_slice(&buffer[..read]),
        }
    }
}

/// A response with a body of known length, kept alive.
pub fn response(fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// A chunked response, kept alive: one chunk for each part.
pub fn chunked(parts: &[&str]) -> Vec<u8> {
    let chunks: String = parts.iter().map(|part| format!("{:x}\r\n{part}\r\n", part.len())).collect();
    format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n").into_bytes()
}
