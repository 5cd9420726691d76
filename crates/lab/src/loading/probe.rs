//! One question to a server that the lab did not start: what it answers, once, before any load is sent to it.
//!
//! Owns one GET over a connection of its own, within a time and a size. Refuses to follow a redirect or to judge a status.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use weigh_load::escape::shown;
use weigh_load::plan;
use weigh_load::protocol::coding::Coding;
use weigh_load::protocol::h1::chunked::Chunked;
use weigh_load::protocol::h1::head::{self, HeadLimits};
use weigh_load::target::{Scheme, Target};
use weigh_load::transport::tls;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How long the whole answer may take.
const ANSWER: Duration = Duration::from_secs(30);
/// The longest body in bytes.
pub const LONGEST: usize = 64 << 20;

/// What a server answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Content-Encoding.
    pub coding: Coding,
    /// Location, escaped.
    pub location: Option<String>,
    /// Server, escaped.
    pub server: Option<String>,
    /// The body in its content coding.
    pub body: Vec<u8>,
    /// Seconds from the connect to the last byte.
    pub seconds: f64,
}

/// Asks once for these content codings.
///
/// # Errors
/// No connection, no answer in time, or one that is no HTTP.
pub fn get(target: &Target, accept: &str) -> Result<Answer> {
    let begun = Instant::now();
    let address = target.addresses.first().context("it has no address")?;
    let stream = TcpStream::connect_timeout(address, CONNECT).context("nobody answers there")?;
    stream.set_read_timeout(Some(CONNECT))?;
    stream.set_write_timeout(Some(CONNECT))?;
    let answer = match target.location.scheme {
        Scheme::Http => talk(stream, target, accept, begun),
        Scheme::Https => talk(secure(stream, &target.location.host)?, target, accept, begun),
    }?;
    Ok(Answer { seconds: begun.elapsed().as_secs_f64(), ..answer })
}

fn secure(stream: TcpStream, host: &str) -> Result<rustls::StreamOwned<rustls::ClientConnection, TcpStream>> {
    let wish = plan::Tls { insecure: false, authorities: None, resumption: false };
    let config = tls::config(&wish, plan::Protocol::Http11)?;
    let name =
        rustls::pki_types::ServerName::try_from(host.to_owned()).context("no name for a certificate")?;
    Ok(rustls::StreamOwned::new(rustls::ClientConnection::new(config, name)?, stream))
}

fn talk(mut stream: impl Read + Write, target: &Target, accept: &str, begun: Instant) -> Result<Answer> {
    let (path, authority) = (&target.location.path, &target.location.authority);
    let agent = concat!("weigh/", env!("CARGO_PKG_VERSION"));
    let head = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: {agent}\r\n");
    let head = format!("{head}Accept-Encoding: {accept}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).and_then(|()| stream.flush()).context("it takes no request")?;
    let (mut bytes, mut scanned, mut buffer) = (Vec::new(), 0, vec![0; 64 << 10]);
    let limits = HeadLimits::from(&plan::Limits::default());
    let head = loop {
        if let Some(head) =
            head::parse(&bytes, &mut scanned, &limits).map_err(|f| anyhow::anyhow!(f.message))?
        {
            // What comes before the answer proper, such as 103, is not it.
            if head.status >= 200 {
                break head;
            }
            bytes.drain(..head.bytes);
            scanned = 0;
            continue;
        }
        match more(&mut stream, &mut buffer, begun)? {
            0 => bail!("it closes the connection without an answer"),
            got => bytes.extend_from_slice(&buffer[..got]),
        }
    };
    let field = |name: &str| {
        let found = head::fields(&bytes[..head.bytes]).find(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes()));
        found.map(|(_, value)| shown(value))
    };
    let (location, server) = (field("location"), field("server"));
    let mut body =
        Body { chunked: head.chunked.then(Chunked::default), missing: head.length, bytes: Vec::new() };
    let mut done = body.take(&bytes[head.bytes..])?;
    while !done {
        done = match more(&mut stream, &mut buffer, begun)? {
            0 if head.chunked || body.missing.is_some_and(|missing| missing > 0) => {
                bail!("its answer is cut short")
            }
            0 => true,
            got => body.take(&buffer[..got])?,
        };
    }
    Ok(Answer { status: head.status, coding: head.coding, location, server, body: body.bytes, seconds: 0.0 })
}

/// Reads on; 0 at the end.
fn more(stream: &mut impl Read, buffer: &mut [u8], begun: Instant) -> Result<usize> {
    loop {
        if begun.elapsed() > ANSWER {
            bail!("its answer takes more than {} s", ANSWER.as_secs());
        }
        match stream.read(buffer) {
            Ok(got) => return Ok(got),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Some end TLS without saying so.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
            Err(error) => return Err(error).context("its answer cannot be read"),
        }
    }
}

/// A body as it comes.
struct Body {
    chunked: Option<Chunked>,
    /// Bytes that are missing, where the length is known.
    missing: Option<u64>,
    bytes: Vec<u8>,
}

impl Body {
    /// Takes the next bytes; whether it is whole.
    fn take(&mut self, bytes: &[u8]) -> Result<bool> {
        let done = match (&mut self.chunked, &mut self.missing) {
            (Some(chunked), _) => {
                let own = &mut self.bytes;
                let step = chunked.feed(bytes, |part| -> Result<(), weigh_load::fault::Fault> {
                    own.extend_from_slice(part);
                    Ok(())
                });
                step.map_err(|e| anyhow::anyhow!(weigh_load::fault::Fault::from(e).message))?.done
            }
            (None, Some(missing)) => {
                let length =
                    usize::try_from(*missing).map_or(bytes.len(), |missing| missing.min(bytes.len()));
                self.bytes.extend_from_slice(&bytes[..length]);
                *missing -= length as u64;
                *missing == 0
            }
            (None, None) => {
                self.bytes.extend_from_slice(bytes);
                false
            }
        };
        if self.bytes.len() > LONGEST {
            bail!("its body is longer than {} MiB", LONGEST >> 20);
        }
        Ok(done)
    }
}
