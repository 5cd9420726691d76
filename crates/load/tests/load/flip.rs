//! A server that always sends one body, and in one response one wrong byte.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The error of the server.
#[derive(Clone, Copy, Debug)]
pub struct Flip {
    /// In which response, over all connections, from 0; the preflight's count, too.
    pub response: u64,
    /// At which byte of the body.
    pub offset: usize,
    /// The byte is combined with this (exclusive or); not 0.
    pub mask: u8,
}

impl Flip {
    /// Bytes of the body from the flipped one on, in hexadecimal: correct, and as sent.
    pub fn bytes(&self, body: &[u8]) -> (String, String) {
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let wrong = flipped(body, self);
        (hex(&body[self.offset..]), hex(&wrong[self.offset..]))
    }
}

/// A listening server. Its threads end with their connections.
pub struct FlipServer {
    /// Where it listens.
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl FlipServer {
    /// Starts it on a free port.
    pub fn start(body: Vec<u8>, flip: Flip) -> std::io::Result<FlipServer> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (stop, counted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let stopped = Arc::clone(&stop);
        let (right, wrong) = (Arc::new(response(&body)), Arc::new(response(&flipped(&body, &flip))));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let (right, wrong, counted) = (Arc::clone(&right), Arc::clone(&wrong), Arc::clone(&counted));
                std::thread::spawn(move || {
                    // The client ends the connection whenever it likes.
                    let _ = talk(stream, || {
                        let number = counted.fetch_add(1, Ordering::Relaxed);
                        if number == flip.response { &wrong[..] } else { &right[..] }
                    });
                });
            }
        });
        Ok(FlipServer { address, stop })
    }
}

impl Drop for FlipServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

fn talk<'a>(mut stream: TcpStream, mut next: impl FnMut() -> &'a [u8]) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut head, mut filled) = ([0; 4096], 0);
    loop {
        match stream.read(&mut head[filled..])? {
            0 => return Ok(()),
            n => filled += n,
        }
        // One request at a time: nothing follows an empty line.
        if head[..filled].ends_with(b"\r\n\r\n") {
            stream.write_all(next())?;
            filled = 0;
        }
    }
}

fn response(body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn flipped(body: &[u8], flip: &Flip) -> Vec<u8> {
    let mut wrong = body.to_vec();
    wrong[flip.offset] ^= flip.mask;
    wrong
}
