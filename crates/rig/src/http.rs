//! Requests over a connection each, or over one that is kept, read by the load generator's own reader of HTTP/1: strict about where a message ends, bounded, and
//! over by a deadline. For what the lab asks itself: whether a server is ready, what it negotiates, what a URL answers.
//!
//! It refuses to follow a redirect or to judge a status.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rustls::pki_types::ServerName;
use rustls::server::ParsedCertificate;
use rustls::{ClientConnection, StreamOwned};
use sha2::{Digest, Sha256};
use weigh_load::escape::shown;
use weigh_load::fault::{HttpFault, HttpFaultKind};
use weigh_load::plan::{self, Limits};
use weigh_load::protocol::coding::Coding;
use weigh_load::protocol::h1::Machine;
use weigh_load::protocol::h1::head::{Head, fields};
use weigh_load::protocol::{Drive, Events, ExchangeId, Means};
use weigh_load::target::{Location, Scheme, Target};
use weigh_load::transport::{Transport, tls};
use weigh_load::verify::still_compressed;

use weigh_os::interrupt::Interrupt;

/// What is read at once.
const BUFFER: usize = 64 << 10;
/// How long a connection may take, where the deadline is later.
const CONNECT: Duration = Duration::from_secs(5);
/// How often a wait looks at the interrupt.
const GLANCE: Duration = Duration::from_millis(50);
/// How long a user's server may take to answer.
const ANSWER: Duration = Duration::from_secs(30);
/// The longest body of a user's server, in bytes.
pub const LONGEST: usize = 64 << 20;

#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    pub address: SocketAddr,
    pub security: Security<'a>,
}

/// Whether a peer is spoken to over TLS.
#[derive(Clone, Copy, Debug)]
pub enum Security<'a> {
    Plain,
    /// With a certificate that is a run's own, on this machine.
    Own,
    /// With a certificate for this host.
    Of(&'a str),
}

/// An answer as it came.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub coding: Coding,
    pub length: Option<u64>,
    pub is_head: bool,
    /// The body without framing, in its content coding.
    pub body: Vec<u8>,
    /// From the begin of the request on an open connection, after the TLS handshake, to the first byte.
    pub first_byte: Duration,
    /// To the last byte: over a connection of its own from the connect, else from the begin of the request.
    pub took: Duration,
    fields: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Reply {
    /// The value of a field; several are one.
    pub fn field(&self, name: &str) -> Option<Vec<u8>> {
        let named = self.fields.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes()));
        let values: Vec<&[u8]> = named.map(|(_, value)| value.as_slice()).collect();
        (!values.is_empty()).then(|| values.join(&b", "[..]))
    }

    /// The same, escaped and shortened for messages.
    pub fn shown_field(&self, name: &str) -> Option<String> {
        self.field(name).map(|value| shown(&value))
    }

    /// The names of its fields in small letters, each once.
    pub fn field_names(&self) -> BTreeSet<String> {
        self.fields.iter().map(|(name, _)| String::from_utf8_lossy(name).to_lowercase()).collect()
    }

    /// The body without its content coding.
    ///
    /// # Errors
    /// The coding is not known, or the body is not what it says: it may have been compressed twice.
    pub fn decoded(&self) -> anyhow::Result<Vec<u8>> {
        self.decoded_within(LONGEST)
    }

    /// The same of at most `most` bytes, which are set aside for it.
    ///
    /// # Errors
    /// As [`Reply::decoded`]; it is longer.
    pub fn decoded_within(&self, most: usize) -> anyhow::Result<Vec<u8>> {
        let body = self.without_coding(most)?;
        let content_type = self.shown_field("content-type").unwrap_or_default();
        let disposition = self.shown_field("content-disposition").unwrap_or_default().to_lowercase();
        match still_compressed(&content_type, self.coding, &body) {
            Some(wrong) if !disposition.starts_with("attachment") => bail!(wrong),
            _ => Ok(body),
        }
    }

    fn without_coding(&self, most: usize) -> anyhow::Result<Vec<u8>> {
        let name = match self.coding {
            Coding::Identity => return Ok(self.body.clone()),
            Coding::Gzip => "gzip",
            Coding::Deflate => "zlib",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
            Coding::DictionaryBrotli | Coding::DictionaryZstd => {
                bail!("offered no dictionary, the server sends a delta against one")
            }
            Coding::Other => bail!("asked for no content coding, the server sends one that is not known"),
        };
        let format = weigh_codec::Format::from_name(name).context("its content coding cannot be decoded")?;
        Ok(weigh_codec::independent::decode(format, &self.body, most, None)?.0)
    }
}

/// Asks a URL once for these content codings.
pub fn get(target: &Target, accept: &str) -> Result<Reply, HttpFault> {
    get_from(peer_of(target)?, &target.location, accept)
}

/// Who is asked for a URL.
pub fn peer_of(target: &Target) -> Result<Peer<'_>, HttpFault> {
    let security = match target.location.scheme {
        Scheme::Http => Security::Plain,
        Scheme::Https => Security::Of(&target.location.host),
    };
    let none = || HttpFault::new(HttpFaultKind::ConnectFailed, "it has no address");
    Ok(Peer { address: *target.addresses.first().ok_or_else(none)?, security })
}

/// As [`get`], from this peer wherever the URL's host is.
pub fn get_from(peer: Peer<'_>, location: &Location, accept: &str) -> Result<Reply, HttpFault> {
    let request = get_request(location, accept, "close");
    exchange(peer, request.as_bytes(), false, LONGEST, (ANSWER, &Interrupt::caught()))
}

fn get_request(location: &Location, accept: &str, connection: &str) -> String {
    let agent = concat!("weigh/", env!("CARGO_PKG_VERSION"));
    format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: {agent}\r\nAccept-Encoding: {accept}\r\nConnection: {connection}\r\n\r\n",
        location.path, location.authority
    )
}

/// Sends a request and reads its answer, with at most `most` bytes of body, until the limit has passed or the user
/// interrupts. `is_head`: the request is a HEAD, whose answer has no body.
pub fn exchange(
    peer: Peer<'_>,
    request: &[u8],
    is_head: bool,
    most: usize,
    (limit, interrupt): (Duration, &Interrupt),
) -> Result<Reply, HttpFault> {
    let begun = Instant::now();
    let mut connection =
        Connection::open(peer, Until { deadline: begun + limit, interrupt: interrupt.clone() })?;
    let reply = connection.exchange(request, is_head, most)?;
    Ok(Reply { took: begun.elapsed(), ..reply })
}

/// A peer that is asked over one connection as long as it keeps it open.
pub struct KeptConnection<'a> {
    peer: Peer<'a>,
    connection: Option<Connection>,
}

impl<'a> KeptConnection<'a> {
    pub fn new(peer: Peer<'a>) -> KeptConnection<'a> {
        KeptConnection { peer, connection: None }
    }

    /// As [`get_from`], over the connection that the last answer left open, else over a new one.
    pub fn get(&mut self, location: &Location, accept: &str) -> Result<Reply, HttpFault> {
        let request = get_request(location, accept, "keep-alive");
        let until = || Until { deadline: Instant::now() + ANSWER, interrupt: Interrupt::caught() };
        if let Some(mut connection) = self.connection.take() {
            connection.until.replace(until());
            // It may have been closed meanwhile.
            if let Ok(reply) = connection.exchange(request.as_bytes(), false, LONGEST) {
                return Ok(self.keep(connection, reply));
            }
        }
        let mut connection = Connection::open(self.peer, until())?;
        let reply = connection.exchange(request.as_bytes(), false, LONGEST)?;
        Ok(self.keep(connection, reply))
    }

    fn keep(&mut self, connection: Connection, reply: Reply) -> Reply {
        let closes = reply.field("connection").is_some_and(|value| value.eq_ignore_ascii_case(b"close"));
        self.connection = (!closes).then_some(connection);
        reply
    }
}

/// What bytes go through.
trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

/// An open connection, over TLS after the handshake.
struct Connection {
    stream: Box<dyn Stream>,
    until: Rc<RefCell<Until>>,
}

impl Connection {
    /// Connects, and shakes hands where the peer is spoken to over TLS.
    fn open(peer: Peer<'_>, until: Until) -> Result<Connection, HttpFault> {
        let failed =
            |e: io::Error| HttpFault::new(HttpFaultKind::ConnectFailed, format!("nobody answers there: {e}"));
        let limit = until.deadline.saturating_duration_since(Instant::now());
        let tcp = TcpStream::connect_timeout(&peer.address, limit.min(CONNECT)).map_err(failed)?;
        // A request over TLS would wait up to 40 ms for the acknowledgement of the handshake.
        tcp.set_nodelay(true).map_err(failed)?;
        let until = Rc::new(RefCell::new(until));
        let tcp = Bounded { tcp, until: until.clone() };
        let (host, insecure) = match peer.security {
            Security::Plain => return Ok(Connection { stream: Box::new(tcp), until }),
            Security::Own => ("localhost", true),
            Security::Of(host) => (host, false),
        };
        let stream = over_tls(tcp, host, insecure).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => HttpFault::new(HttpFaultKind::Timeout, "no TLS handshake in time"),
            _ => HttpFault::new(HttpFaultKind::Tls, format!("no TLS handshake: {error}")),
        })?;
        Ok(Connection { stream: Box::new(stream), until })
    }

    /// Sends a request and reads its answer. Times count from when the request is written.
    fn exchange(&mut self, request: &[u8], is_head: bool, most: usize) -> Result<Reply, HttpFault> {
        let until = self.until.borrow().clone();
        let begun = Instant::now();
        let (reply, first) = talk(&mut self.stream, request, is_head, most, &until)?;
        Ok(Reply { first_byte: first.duration_since(begun), took: begun.elapsed(), ..reply })
    }
}

/// Shakes hands with a host. `insecure`: with any certificate, as for an address of this machine.
fn over_tls(
    mut tcp: Bounded,
    host: &str,
    insecure: bool,
) -> io::Result<StreamOwned<ClientConnection, Bounded>> {
    let wish = plan::Tls { insecure, authorities: None, resumption: false };
    let config = tls::config(&wish, plan::Protocol::Http11).map_err(io::Error::other)?;
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let mut session = ClientConnection::new(config, name).map_err(io::Error::other)?;
    while session.is_handshaking() {
        session.complete_io(&mut tcp)?;
    }
    Ok(StreamOwned::new(session, tcp))
}

/// The SHA-256 of the public key of a server's certificate, whoever signed it, in base64, as browsers name keys.
///
/// # Errors
/// One line: it cannot be reached, or has no certificate.
pub fn key_of(address: SocketAddr, host: &str) -> anyhow::Result<String> {
    let tcp = TcpStream::connect_timeout(&address, CONNECT).context("nobody answers there")?;
    let until = Until { deadline: Instant::now() + ANSWER, interrupt: Interrupt::caught() };
    let tcp = Bounded { tcp, until: Rc::new(RefCell::new(until)) };
    let session = over_tls(tcp, host, true).context("no TLS handshake")?;
    let certificate = session.conn.peer_certificates().and_then(|all| all.first());
    let certificate = ParsedCertificate::try_from(certificate.context("it has no certificate")?)?;
    Ok(BASE64_STANDARD.encode(Sha256::digest(certificate.subject_public_key_info())))
}

fn talk(
    stream: impl Read + Write,
    request: &[u8],
    is_head: bool,
    most: usize,
    until: &Until,
) -> Result<(Reply, Instant), HttpFault> {
    let mut machine = Machine::new(&Limits::default());
    let is_over = Cell::new(false);
    let mut io = Blocking(stream, &is_over);
    let mut told = ReplyCollector { is_over: &is_over, most, is_head, first: None, reply: None, end: None };
    let mut buffer = vec![0; BUFFER];
    machine.start(0, is_head);
    loop {
        let means =
            Means { buffer: &mut buffer, allowance: BUFFER, turn: BUFFER, discard: None, ended: false };
        let drive = machine.drive(&mut io, request, means, &mut told);
        if let Some(end) = told.end.take() {
            end?;
            let first = told.first.unwrap_or_else(Instant::now);
            let reply = told.reply.ok_or_else(|| HttpFault::new(HttpFaultKind::EmptyReply, "no head"))?;
            return Ok((reply, first));
        }
        if drive == Drive::Closed {
            return Err(HttpFault::new(
                HttpFaultKind::EmptyReply,
                "the connection was closed without an answer",
            ));
        }
        if until.is_over() {
            return Err(HttpFault::new(HttpFaultKind::Timeout, "no whole answer in time"));
        }
    }
}

/// A deadline, or the user's wish to end before it.
#[derive(Clone)]
struct Until {
    deadline: Instant,
    interrupt: Interrupt,
}

impl Until {
    fn is_over(&self) -> bool {
        self.interrupt.is_set() || Instant::now() >= self.deadline
    }

    /// How long to wait before it is looked at again; when it is over there is nothing for now, and [`talk`] looks at it.
    fn glance(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if self.is_over() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(Some(left.min(GLANCE))) }
    }
}

/// A connection whose every call ends by then.
struct Bounded {
    tcp: TcpStream,
    until: Rc<RefCell<Until>>,
}

impl Read for Bounded {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            self.tcp.set_read_timeout(self.until.borrow().glance()?)?;
            match self.tcp.read(buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

impl Write for Bounded {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        loop {
            self.tcp.set_write_timeout(self.until.borrow().glance()?)?;
            match self.tcp.write(buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tcp.flush()
    }
}

/// A stream that waits for bytes until the answer is whole: for its peer to close it does not wait.
struct Blocking<'a, S>(S, &'a Cell<bool>);

impl<S: Read + Write> Transport for Blocking<'_, S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.1.get() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.0.read(buf)
    }

    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let written = self.0.write(buf)?;
        self.0.flush()?;
        Ok(written)
    }

    fn discard(&mut self, max: usize, scratch: &mut [u8]) -> io::Result<usize> {
        let room = max.min(scratch.len());
        self.0.read(&mut scratch[..room])
    }

    fn short_read_drains(&self) -> bool {
        // A further read would wait for bytes that may never come.
        true
    }
}

struct ReplyCollector<'a> {
    is_over: &'a Cell<bool>,
    most: usize,
    is_head: bool,
    first: Option<Instant>,
    reply: Option<Reply>,
    end: Option<Result<(), HttpFault>>,
}

impl Events for ReplyCollector<'_> {
    fn tick(&mut self) {}

    fn first_byte(&mut self, _: ExchangeId) {
        self.first.get_or_insert_with(Instant::now);
    }

    fn wire(&mut self, _: ExchangeId, _: usize) {}

    fn head(&mut self, _: ExchangeId, head: &Head, raw: &[u8]) -> Result<(), HttpFault> {
        self.reply = Some(Reply {
            status: head.status,
            coding: head.coding,
            length: head.length,
            is_head: self.is_head,
            body: Vec::new(),
            first_byte: Duration::ZERO,
            took: Duration::ZERO,
            fields: fields(raw).map(|(name, value)| (name.to_vec(), value.to_vec())).collect(),
        });
        Ok(())
    }

    fn body(&mut self, _: ExchangeId, bytes: &[u8]) -> Result<(), HttpFault> {
        let Some(reply) = &mut self.reply else { return Ok(()) };
        if reply.body.len() + bytes.len() > self.most {
            return Err(HttpFault::new(HttpFaultKind::Overlong, "a body much longer than the content"));
        }
        reply.body.extend_from_slice(bytes);
        Ok(())
    }

    fn discarded(&mut self, _: ExchangeId, _: u64) {}

    fn end(&mut self, _: ExchangeId) {
        self.is_over.set(true);
        self.end = Some(Ok(()));
    }

    fn fault(&mut self, _: ExchangeId, fault: HttpFault, _: bool) {
        self.end = Some(Err(fault));
    }
}

#[cfg(test)]
mod tests;
