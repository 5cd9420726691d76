//! The built-in target: an HTTP/1.1 server that costs as little as one can, so that the generator shows its ceiling.
//!
//! One thread, edge-triggered readiness, one vectored write a response. It knows `GET` of `/1k`, `/16k`, `/500k` and `/bytes/N`,
//! and serves on loopback alone. It refuses to be a web server: no bodies in requests, no ranges, no content codings.

mod connection;
mod request;

use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mio::event::Event;
use mio::{Events, Interest, Poll, Token};

use connection::Connection;
pub use request::LARGEST;

/// Bytes of the pattern that bodies are made of: longer bodies repeat it. All bodies of the calibration are shorter.
const PATTERN: usize = 1 << 20;
/// The listener's token; connections have their index in the table.
const LISTENER: Token = Token(usize::MAX);
/// How often a wait looks at `stop`.
const GLANCE: Duration = Duration::from_millis(100);
/// Events taken at once.
const EVENTS: usize = 1024;

/// Serves until `stop` is set, which is looked at ten times a second. What a client does wrong ends its connection, never the
/// server.
///
/// # Errors
/// The listener is not on a loopback address, or the system has no more files or memory for it.
pub fn serve(listener: TcpListener, stop: &AtomicBool) -> io::Result<()> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        let why =
            format!("{address} is not a loopback address; the built-in target serves this machine alone");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    listener.set_nonblocking(true)?;
    let mut server = Server::new(mio::net::TcpListener::from_std(listener))?;
    let mut events = Events::with_capacity(EVENTS);
    while !stop.load(Ordering::Relaxed) {
        match server.poll.poll(&mut events, Some(GLANCE)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
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

/// The bytes of every body from its start, and again from its end on: printable and not, equal on every machine.
pub fn pattern() -> Box<[u8]> {
    // xorshift64 (Marsaglia, 2003): bytes that no shift or repetition of a few bytes leaves equal.
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
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // The client has gone while it was waiting.
                Err(e)
                    if matches!(e.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted) =>
                {
                    continue;
                }
                Err(e) => return Err(e),
            };
            // Else the end of a long body would wait for an acknowledgement.
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
            // Closing takes it out of the poll.
            *slot = None;
            self.free.push(at);
        }
    }
}
