//! A server that does as it is told: for each connection, and for each request, a list of steps.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use socket2::SockRef;

/// What the server does next on a connection.
#[derive(Clone, Debug)]
pub enum Step {
    /// Sends these bytes, in one piece as far as the kernel lets it.
    Send(Vec<u8>),
    /// Sends these bytes one by one, with a pause after each.
    Drip(Vec<u8>, Duration),
    /// Sends these bytes again and again until the connection breaks.
    Flood(Vec<u8>),
    Wait(Duration),
    /// Closes the connection in order.
    Close,
    /// Resets the connection.
    Reset,
    /// Accepts no further connection: whoever tries is refused. Those that stand go on.
    Retire,
    /// Accepts no further connection, and keeps them waiting.
    Stall,
}

/// A flood ends here at the latest, so that a client without bounds fails a test and not the machine.
const FLOOD: usize = 256 << 20;

type Script = Box<dyn Fn(u64) -> Vec<Step> + Send + Sync>;

/// A running server. It ends with the value.
pub struct Server {
    pub address: SocketAddr,
    stage: Arc<Stage>,
}

struct Stage {
    /// By the number of the connection, before anything is read from it.
    greetings: Script,
    /// By the number of the request, over all connections.
    answers: Script,
    requests: AtomicU64,
    connections: AtomicU64,
    is_over: AtomicBool,
    is_stalled: AtomicBool,
    /// Nothing listens any more.
    is_gone: AtomicBool,
}

impl Server {
    /// One that answers the request of each number with these steps. Unless they end the connection it stays open.
    pub fn start(answers: impl Fn(u64) -> Vec<Step> + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a local port");
        Server::on(listener, answers)
    }

    /// One behind a listener.
    pub fn on(listener: TcpListener, answers: impl Fn(u64) -> Vec<Step> + Send + Sync + 'static) -> Server {
        Server::greeting(listener, |_| Vec::new(), answers)
    }

    /// One that does something with the connection of each number before it reads from it.
    pub fn greeting(
        listener: TcpListener,
        greetings: impl Fn(u64) -> Vec<Step> + Send + Sync + 'static,
        answers: impl Fn(u64) -> Vec<Step> + Send + Sync + 'static,
    ) -> Server {
        let address = listener.local_addr().expect("it is bound");
        let stage = Arc::new(Stage {
            greetings: Box::new(greetings),
            answers: Box::new(answers),
            requests: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
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
            // An error is the client's leave; whether that was right is for the test to say.
            thread::spawn(move || own.attend(stream, number));
        }
    }

    fn attend(&self, mut stream: TcpStream, number: u64) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut request = Vec::new();
        let mut steps = (self.greetings)(number);
        loop {
            for step in steps {
                match step {
                    Step::Close => return Ok(()),
                    Step::Reset => return SockRef::from(&stream).set_linger(Some(Duration::ZERO)),
                    Step::Retire => self.retire(&stream)?,
                    Step::Stall => self.is_stalled.store(true, Ordering::SeqCst),
                    step => send(&mut stream, step)?,
                }
            }
            if !read_request(&mut stream, &mut request)? {
                return Ok(());
            }
            steps = (self.answers)(self.requests.fetch_add(1, Ordering::SeqCst));
        }
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

fn send(stream: &mut TcpStream, step: Step) -> io::Result<()> {
    match step {
        Step::Send(bytes) => stream.write_all(&bytes)?,
        Step::Drip(bytes, pause) => {
            for byte in bytes {
                stream.write_all(&[byte])?;
                thread::sleep(pause);
            }
        }
        Step::Flood(bytes) => {
            let many = bytes.repeat(1 + (16 << 10) / bytes.len());
            for _ in 0..FLOOD / many.len() {
                stream.write_all(&many)?;
            }
        }
        Step::Wait(pause) => thread::sleep(pause),
        Step::Close | Step::Reset | Step::Retire | Step::Stall => unreachable!("they are no bytes"),
    }
    Ok(())
}

/// Reads one request with its body; false: the client closed between two.
fn read_request(stream: &mut TcpStream, kept: &mut Vec<u8>) -> io::Result<bool> {
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
        match stream.read(&mut buffer)? {
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
