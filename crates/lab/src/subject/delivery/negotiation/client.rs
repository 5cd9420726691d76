//! One request over one connection to this machine, read by the load generator's own reader of HTTP/1: strict about where a
//! message ends, and bounded.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use weigh_load::fault::{Fault, FaultKind};
use weigh_load::plan::{self, Limits};
use weigh_load::protocol::coding::Coding;
use weigh_load::protocol::h1::Machine;
use weigh_load::protocol::h1::head::{Head, fields};
use weigh_load::protocol::{Drive, Events, ExchangeId, Means};
use weigh_load::transport::Transport;
use weigh_load::transport::tls;

use super::split;
use weigh_model::record::negotiation::{Ask, Purpose};

/// What is read at once.
const BUFFER: usize = 64 << 10;

/// Where requests go.
pub struct Link {
    is_secure: bool,
    /// On this machine.
    pub address: SocketAddr,
    /// Path and query.
    pub path: String,
}

/// An answer as it came.
pub struct Reply {
    /// The status.
    pub status: u16,
    /// Content-Encoding.
    pub coding: Coding,
    /// Content-Length.
    pub length: Option<u64>,
    /// It answers a HEAD.
    pub is_head: bool,
    /// The body without framing.
    pub body: Vec<u8>,
    fields: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Reply {
    /// The value of a field; several are one.
    pub fn field(&self, name: &str) -> Option<Vec<u8>> {
        let named = self.fields.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes()));
        let values: Vec<&[u8]> = named.map(|(_, value)| value.as_slice()).collect();
        (!values.is_empty()).then(|| values.join(&b", "[..]))
    }
}

impl Link {
    /// To the server of a URL.
    ///
    /// # Errors
    /// It is not this machine's.
    pub fn to(url: &str) -> Result<Link, String> {
        let (is_secure, address, path) = split(url)?;
        Ok(Link { is_secure, address, path })
    }

    /// Sends a request and reads its answer, of a body `most` bytes.
    ///
    /// # Errors
    /// There was no answer in time, or none that is whole and sound.
    pub fn exchange(&self, request: &[u8], ask: &Ask, most: usize, limit: Duration) -> Result<Reply, Fault> {
        let until = Instant::now() + limit;
        let failed = |e: io::Error| Fault::new(FaultKind::ConnectFailed, format!("no connection: {e}"));
        let stream = TcpStream::connect_timeout(&self.address, limit).map_err(failed)?;
        stream.set_read_timeout(Some(limit)).map_err(failed)?;
        stream.set_write_timeout(Some(limit)).map_err(failed)?;
        let is_head = ask.purpose == Purpose::Head;
        if self.is_secure {
            talk(Blocking(over_tls(stream).map_err(failed)?), request, is_head, (most, until))
        } else {
            talk(Blocking(stream), request, is_head, (most, until))
        }
    }
}

fn over_tls(stream: TcpStream) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    // The certificate is the run's own, and the address is this machine's.
    let wish = plan::Tls { insecure: true, authorities: None, resumption: false };
    let config = tls::config(&wish, plan::Protocol::Http11).map_err(io::Error::other)?;
    let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
    let session = ClientConnection::new(config, name).map_err(io::Error::other)?;
    Ok(StreamOwned::new(session, stream))
}

fn talk(
    mut io: impl Transport,
    request: &[u8],
    is_head: bool,
    (most, until): (usize, Instant),
) -> Result<Reply, Fault> {
    let mut machine = Machine::new(&Limits::default());
    let mut told = Told { most, is_head, reply: None, end: None };
    let mut buffer = vec![0; BUFFER];
    machine.start(0, is_head);
    loop {
        let means = Means { buffer: &mut buffer, allowance: BUFFER, discard: None, ended: false };
        let drive = machine.drive(&mut io, request, means, &mut told);
        if let Some(end) = told.end.take() {
            end?;
            let none = || Fault::new(FaultKind::EmptyReply, "no head");
            return told.reply.ok_or_else(none);
        }
        if drive == Drive::Closed {
            return Err(Fault::new(FaultKind::EmptyReply, "the connection was closed without an answer"));
        }
        if Instant::now() >= until {
            return Err(Fault::new(FaultKind::Timeout, "no whole answer in time"));
        }
    }
}

/// A stream that waits for bytes, up to its time limit.
struct Blocking<S>(S);

impl<S: Read + Write> Transport for Blocking<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
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

/// What came.
struct Told {
    most: usize,
    is_head: bool,
    reply: Option<Reply>,
    end: Option<Result<(), Fault>>,
}

impl Events for Told {
    fn tick(&mut self) {}

    fn first_byte(&mut self, _: ExchangeId) {}

    fn wire(&mut self, _: ExchangeId, _: usize) {}

    fn head(&mut self, _: ExchangeId, head: &Head, raw: &[u8]) -> Result<(), Fault> {
        self.reply = Some(Reply {
            status: head.status,
            coding: head.coding,
            length: head.length,
            is_head: self.is_head,
            body: Vec::new(),
            fields: fields(raw).map(|(name, value)| (name.to_vec(), value.to_vec())).collect(),
        });
        Ok(())
    }

    fn body(&mut self, _: ExchangeId, bytes: &[u8]) -> Result<(), Fault> {
        let Some(reply) = &mut self.reply else { return Ok(()) };
        if reply.body.len() + bytes.len() > self.most {
            return Err(Fault::new(FaultKind::Overlong, "a body much longer than the content"));
        }
        reply.body.extend_from_slice(bytes);
        Ok(())
    }

    fn discarded(&mut self, _: ExchangeId, _: u64) {}

    fn end(&mut self, _: ExchangeId) {
        self.end = Some(Ok(()));
    }

    fn fault(&mut self, _: ExchangeId, fault: Fault, _: bool) {
        self.end = Some(Err(fault));
    }
}
