//! The barest client that keeps connections busy: it sends a request, reads as many bytes as the first response had, and sends the next.
//! It reads no head, keeps no time of a response and compares nothing: what it costs is what the kernel takes to carry the same bytes,
//! and what another client costs beyond it is that client's own.
//!
//! It is a process of its own, as every tool is: this program, called with [`NAME`].

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

/// The first argument that asks for it; connections, seconds and URL follow.
pub const NAME: &str = "bare-client";
/// Bytes of the read buffer, as the engine's.
const BUFFER: usize = 256 << 10;
/// A server that says nothing for so long is broken.
const PATIENCE: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// One connection, and how many bytes of its response have come.
struct Conn {
    stream: TcpStream,
    come: usize,
}

/// Carries out what the arguments after [`NAME`] say, and prints how many responses came.
///
/// # Errors
/// They say nothing of the kind, or the server does not answer each request with as many bytes as the first.
pub fn main(arguments: &[String]) -> Result<()> {
    let [connections, seconds, url] = arguments else { bail!("{NAME} takes connections, seconds and a URL") };
    let (host, path) = url.strip_prefix("http://").and_then(|u| u.split_once('/')).context("the URL")?;
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: bare\r\nAccept: */*\r\n\r\n");
    let time = Duration::from_secs(seconds.parse().context("the seconds")?);
    let connections = connections.parse().context("the connections")?;
    let responses = busy(host, request.as_bytes(), connections, time)?;
    println!("{responses} requests in {seconds}s");
    Ok(())
}

/// Keeps this many connections busy for that long; how many responses came.
fn busy(host: &str, request: &[u8], connections: usize, time: Duration) -> Result<u64> {
    let connect = || TcpStream::connect(host).context("the server cannot be reached");
    let mut buffer = vec![0; BUFFER];
    let whole = length(&mut connect()?, request, &mut buffer)?;
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    let mut conns = Vec::with_capacity(connections);
    for at in 0..connections as u64 {
        let stream = connect()?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        epoll::add(&epoll, &stream, EventData::new_u64(at), EventFlags::IN | EventFlags::ET)?;
        conns.push(Conn { stream, come: 0 });
    }
    for conn in &mut conns {
        conn.stream.write_all(request)?;
    }
    let mut events = Vec::with_capacity(1024);
    let mut responses = 0;
    let began = Instant::now();
    while began.elapsed() < time {
        events.clear();
        epoll::wait(&epoll, spare_capacity(&mut events), Some(&PATIENCE))?;
        ensure!(!events.is_empty(), "the server has said nothing for {} s", PATIENCE.tv_sec);
        for event in &events {
            let conn = &mut conns[event.data.u64() as usize];
            if conn.read(whole, &mut buffer)? {
                responses += 1;
                conn.stream.write_all(request)?;
            }
        }
    }
    Ok(responses)
}

impl Conn {
    /// Reads what is there; whether the response is whole.
    fn read(&mut self, whole: usize, buffer: &mut [u8]) -> Result<bool> {
        loop {
            let read = match self.stream.read(buffer) {
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                other => other?,
            };
            self.come += read;
            ensure!(read > 0 && self.come <= whole, "a response is not as long as the first");
            if self.come == whole {
                self.come = 0;
                return Ok(true);
            }
            if read < buffer.len() {
                return Ok(false);
            }
        }
    }
}

/// Bytes of the response to a request, with its head.
fn length(stream: &mut TcpStream, request: &[u8], buffer: &mut [u8]) -> Result<usize> {
    stream.write_all(request)?;
    let read = stream.read(buffer)?;
    let head = std::str::from_utf8(&buffer[..read.min(1024)]).context("the head is no text")?;
    let (head, _) = head.split_once("\r\n\r\n").context("the head did not come at once")?;
    let body =
        head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).context("no Content-Length")?;
    Ok(head.len() + 4 + body.parse::<usize>().context("the Content-Length")?)
}
