//! A connection to a store: lines and blocks of bytes, bounded in length and time. The `redis` crate reads answers of any length, and
//! this program has to hold against servers that send them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::budget::Budget;
use weigh_model::protocol::client::Address;

/// The longest line of an answer.
const LONGEST_LINE: u64 = 64 << 10;
/// How long a connection, and one answer, may take.
const ANSWER: Duration = Duration::from_secs(2);
/// Bytes that are sent before the time is looked at again.
const PIECE: usize = 16 << 10;

trait Stream: Read + Write {}
impl<S: Read + Write> Stream for S {}

/// A stream that is neither read nor written to beyond the budget for all: a server may take and send byte by byte.
struct Bounded {
    stream: Box<dyn Stream>,
    budget: Rc<Budget>,
}

impl Read for Bounded {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        if self.budget.is_late() {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        if self.budget.is_spent() {
            return Err(std::io::Error::other("it sends more than a look reads"));
        }
        let read = self.stream.read(buf)?;
        self.budget.take(read);
        Ok(read)
    }
}

impl Write for Bounded {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        if self.budget.is_late() {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        self.stream.write(&buf[..buf.len().min(PIECE)])
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}

pub(super) struct Wire {
    stream: BufReader<Bounded>,
}

impl Wire {
    pub(super) fn open(address: &Address, budget: &Rc<Budget>) -> Result<Wire> {
        let stream: Box<dyn Stream> = match &address.unix {
            Some(path) => {
                let stream = connected(path.clone())?;
                stream.set_read_timeout(Some(ANSWER))?;
                stream.set_write_timeout(Some(ANSWER))?;
                Box::new(stream)
            }
            None => {
                let place = (address.host.as_deref().unwrap_or_default(), address.port.unwrap_or(0));
                let first = place.to_socket_addrs()?.next().context("the host has no address")?;
                let stream = TcpStream::connect_timeout(&first, ANSWER)?;
                stream.set_read_timeout(Some(ANSWER))?;
                stream.set_write_timeout(Some(ANSWER))?;
                Box::new(stream)
            }
        };
        Ok(Wire { stream: BufReader::new(Bounded { stream, budget: Rc::clone(budget) }) })
    }

    /// Whether there is nothing left of the budget for all.
    pub(super) fn is_spent(&self) -> bool {
        self.stream.get_ref().budget.is_spent()
    }

    /// Sends bytes.
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        let stream = self.stream.get_mut();
        stream.budget.request();
        stream.write_all(bytes).and_then(|()| stream.flush()).context("the request cannot be sent")
    }

    /// A line without its end.
    pub(super) fn line(&mut self) -> Result<Vec<u8>> {
        let mut line = Vec::new();
        let read = Read::by_ref(&mut self.stream).take(LONGEST_LINE).read_until(b'\n', &mut line);
        read.context("it does not answer")?;
        // Memcached ends some lines without a carriage return.
        let Some(text) = line.strip_suffix(b"\n") else {
            bail!("its answer is no line of at most {LONGEST_LINE} bytes; is it a store of this kind?");
        };
        Ok(text.strip_suffix(b"\r").unwrap_or(text).to_vec())
    }

    /// This many bytes and the end of a line; more than `most` are refused.
    pub(super) fn block(&mut self, length: usize, most: usize) -> Result<Vec<u8>> {
        ensure!(length <= most, "it sends {length} bytes where at most {most} were asked for");
        let mut bytes = vec![0; length + 2];
        self.stream.read_exact(&mut bytes).context("its answer breaks off")?;
        ensure!(bytes.ends_with(b"\r\n"), "its answer is longer than it says");
        bytes.truncate(length);
        Ok(bytes)
    }
}

/// Connects to a socket, whose server may let everybody wait.
fn connected(path: PathBuf) -> std::io::Result<UnixStream> {
    let (send, connected) = channel();
    std::thread::spawn(move || send.send(UnixStream::connect(path)));
    connected.recv_timeout(ANSWER).map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))?
}
