//! TLS over a TCP connection, by rustls. Records are received in large reads, decrypted in place, and copied once.
//!
//! The unbuffered interface of rustls is used, because the buffered one reads 4 KB at a time from the socket.

mod config;
pub use config::{NoTls, TlsThread, config};

use std::cell::RefCell;
use std::fmt;
use std::io::{self, ErrorKind};
use std::rc::Rc;

use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncryptError, InsufficientSizeError, UnbufferedStatus,
};
use rustls::{Error, HandshakeKind};

use super::Transport;
use super::tcp::Tcp;

/// Size of a thread's scratch memory: the longest handshake message that rustls accepts (64 KB), with room to read on.
const SCRATCH: usize = 128 << 10;
/// The longest record with its header and tag (RFC 8446, 5.2, and RFC 5246, 6.2.3).
const RECORD: usize = (16 << 10) + 2048 + 5;
/// Bytes that are encrypted at a time.
const WRITE: usize = 64 << 10;

/// Reads in a row without data for the caller, before the caller must check its clock.
const READS: u32 = 8;
/// The most bytes in a row without data: endless tickets, key updates or empty records.
const FLOOD: u64 = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// Bytes may be read and written.
    Done,
    /// It waits for the next event.
    WouldBlock,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The protocol, such as `TLSv1_3`.
    pub version: String,
    /// The cipher suite, such as `TLS13_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// The application protocol by ALPN; none: the server chose none.
    pub alpn: Option<Vec<u8>>,
    /// An earlier session was resumed.
    pub resumed: bool,
}

/// Why no more data follows.
#[derive(Debug)]
enum End {
    /// The peer closed the session.
    Notified,
    /// TCP ended without an end of TLS.
    Cut,
    Failed(Error),
}

pub struct Tls {
    tcp: Tcp,
    session: UnbufferedClientConnection,
    scratch: Rc<RefCell<Box<[u8]>>>,
    /// Received bytes that rustls has not read: a part of a record, or records for which the caller had no room.
    held: Vec<u8>,
    /// `held` may contain complete records.
    unprocessed: bool,
    /// Decrypted data for which the caller had no room.
    plain: Vec<u8>,
    plain_from: usize,
    /// Encrypted data that is not sent yet.
    outgoing: Vec<u8>,
    outgoing_from: usize,
    /// The last read read the socket, and emptied it.
    drained: bool,
    /// Bytes received since the last data for the caller.
    idle: u64,
    end: Option<End>,
}

impl Tls {
    /// A connection to `host` (a name or an IP address, IPv6 with or without brackets) over TCP that is established or
    /// connecting.
    ///
    /// # Errors
    /// The host is neither, or rustls cannot start.
    pub fn new(tcp: Tcp, thread: &TlsThread, host: &str) -> io::Result<Tls> {
        let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        let name = ServerName::try_from(bare.to_owned()).map_err(|_| {
            io::Error::new(ErrorKind::InvalidInput, format!("`{host}` is not a valid server name for TLS"))
        })?;
        let session = UnbufferedClientConnection::new(thread.config.clone(), name).map_err(failed)?;
        let mut tls = Tls {
            tcp,
            session,
            scratch: thread.scratch.clone(),
            held: Vec::new(),
            unprocessed: false,
            plain: Vec::new(),
            plain_from: 0,
            outgoing: Vec::new(),
            outgoing_from: 0,
            drained: false,
            idle: 0,
            end: None,
        };
        // Encodes the ClientHello; the first step of the handshake sends it.
        tls.process(&mut [], &mut [], &[]);
        Ok(tls)
    }

    /// The TCP connection under it.
    pub fn tcp(&mut self) -> &mut Tcp {
        &mut self.tcp
    }

    /// Continues the handshake as far as possible.
    ///
    /// # Errors
    /// As [`Transport::read`]; `UnexpectedEof` when the server closed within the handshake.
    pub fn handshake(&mut self) -> io::Result<Handshake> {
        loop {
            let sent = self.flush()?;
            if !self.session.is_handshaking() && sent {
                return Ok(Handshake::Done);
            }
            match self.ending() {
                Some(Err(e)) if e.kind() == ErrorKind::UnexpectedEof => {
                    return Err(io::Error::new(
                        e.kind(),
                        "the server closed the connection within the TLS handshake",
                    ));
                }
                Some(Err(e)) => return Err(e),
                Some(Ok(())) => return Err(failed(Error::HandshakeNotComplete)),
                None => {}
            }
            match self.fill(&mut []) {
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(Handshake::WouldBlock),
                other => other?,
            };
        }
    }

    /// The negotiated session; none before the handshake is complete.
    pub fn session(&self) -> Option<Session> {
        Some(Session {
            version: self.session.protocol_version()?.as_str().map(str::to_owned)?,
            cipher: self.session.negotiated_cipher_suite()?.suite().as_str().map(str::to_owned)?,
            alpn: self.session.alpn_protocol().map(<[u8]>::to_vec),
            resumed: self.session.handshake_kind() == Some(HandshakeKind::Resumed),
        })
    }

    /// Whether a read would return something although no event announces it.
    pub fn has_buffered(&self) -> bool {
        !self.plain.is_empty() || self.unprocessed || self.end.is_some()
    }

    /// The meaning of an end for a reader: the end of data, or why it cannot be trusted.
    fn ending(&self) -> Option<io::Result<()>> {
        Some(match self.end.as_ref()? {
            End::Notified => Ok(()),
            End::Cut => Err(io::Error::new(
                ErrorKind::UnexpectedEof,
                "the connection was closed without TLS's close_notify: the data may be cut off",
            )),
            End::Failed(e) => Err(failed(e.clone())),
        })
    }

    /// Sends encrypted data; false: the socket has no more room.
    fn flush(&mut self) -> io::Result<bool> {
        while self.outgoing_from < self.outgoing.len() {
            match self.tcp.write(&self.outgoing[self.outgoing_from..]) {
                Ok(n) => self.outgoing_from += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // Data that the server sent before it closed is read first.
                Err(e) if matches!(e.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => break,
                Err(e) => return Err(e),
            }
        }
        self.outgoing.clear();
        self.outgoing_from = 0;
        Ok(true)
    }
}

fn failed(error: Error) -> io::Error {
    match error {
        // Our own errors, which the library would call unexpected.
        Error::General(words) => io::Error::new(ErrorKind::InvalidData, words),
        error => io::Error::new(ErrorKind::InvalidData, error),
    }
}

impl Transport for Tls {
    /// Returns 0 only after the server's close_notify.
    ///
    /// # Errors
    /// `InvalidData` with rustls' own message if TLS failed; `UnexpectedEof` if the connection ended without close_notify,
    /// so that an end that only the close marks cannot be trusted; `WouldBlock` if the socket returned it.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        // Data that was held back says nothing of the socket: more may have arrived since, and been reported.
        self.drained = false;
        let mut reads = 0;
        loop {
            if !self.plain.is_empty() {
                let fits = (self.plain.len() - self.plain_from).min(buf.len());
                buf[..fits].copy_from_slice(&self.plain[self.plain_from..self.plain_from + fits]);
                self.plain_from += fits;
                if self.plain_from == self.plain.len() {
                    self.plain.clear();
                    self.plain_from = 0;
                }
                return Ok(fits);
            }
            if let Some(ending) = self.ending() {
                return ending.map(|()| 0);
            }
            self.flush()?;
            let read = self.fill(buf)?;
            if read > 0 || buf.is_empty() {
                return Ok(read);
            }
            reads += 1;
            if reads >= READS && self.end.is_none() && self.plain.is_empty() {
                return Err(ErrorKind::Interrupted.into());
            }
        }
    }

    /// Encrypts bytes; later calls of any kind send what the socket has no room for.
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if let Some(End::Failed(e)) = &self.end {
            return Err(failed(e.clone()));
        }
        if !self.flush()? {
            return Err(ErrorKind::WouldBlock.into());
        }
        let part = &buf[..buf.len().min(WRITE)];
        let mut held = std::mem::take(&mut self.held);
        let done = self.process(&mut held, &mut [], part);
        held.drain(..done.used);
        self.held = held;
        self.unprocessed = false;
        if !done.encrypted {
            return self
                .ending()
                .map_or_else(|| Err(ErrorKind::WouldBlock.into()), |_| Err(ErrorKind::BrokenPipe.into()));
        }
        self.flush()?;
        Ok(part.len())
    }

    /// Reads and discards: the length of a record is known only after decrypting it.
    fn discard(&mut self, max: usize, scratch: &mut [u8]) -> io::Result<usize> {
        let room = max.min(scratch.len());
        self.read(&mut scratch[..room])
    }

    fn short_read_drains(&self) -> bool {
        self.drained && !self.has_buffered()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("tcp", &self.tcp)
            .field("session", &self.session())
            .finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the socket once, unless there are complete records, and decrypts into `out`.
    pub(super) fn fill(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let shared = self.scratch.clone();
        let mut scratch = shared.borrow_mut();
        let mut end = self.held.len();
        if end == scratch.len() && !self.unprocessed {
            self.end = Some(End::Failed(Error::General("a message longer than 64 KB".into())));
            return Ok(0);
        }
        scratch[..end].copy_from_slice(&self.held);
        if !self.unprocessed {
            let room = (scratch.len() - end).min(out.len().saturating_add(RECORD));
            match self.tcp.read(&mut scratch[end..end + room]) {
                Ok(0) => {
                    self.end = Some(End::Cut);
                    return Ok(0);
                }
                Ok(n) => {
                    self.drained = n < room;
                    self.idle += n as u64;
                    end += n;
                }
                Err(e) => {
                    self.drained = e.kind() == ErrorKind::WouldBlock;
                    return Err(e);
                }
            }
        }
        let done = self.process(&mut scratch[..end], out, &[]);
        self.held.clear();
        self.held.extend_from_slice(&scratch[done.used..end]);
        self.unprocessed = done.stopped && done.used < end;
        if done.written > 0 || !self.plain.is_empty() {
            self.idle = 0;
        } else if self.idle > FLOOD {
            self.end = Some(End::Failed(Error::General("16 MB of records without content".into())));
        }
        Ok(done.written)
    }

    /// Lets rustls read `incoming`, decrypts into `out`, and encrypts `send` when it is its turn.
    pub(super) fn process(&mut self, incoming: &mut [u8], out: &mut [u8], send: &[u8]) -> Done {
        let mut done = Done::default();
        loop {
            let UnbufferedStatus { mut discard, state } =
                self.session.process_tls_records(&mut incoming[done.used..]);
            let mut over = false;
            match state {
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(Ok(record)) = traffic.next_record() {
                        discard += record.discard;
                        let fits = record.payload.len().min(out.len() - done.written);
                        out[done.written..done.written + fits].copy_from_slice(&record.payload[..fits]);
                        done.written += fits;
                        self.plain.extend_from_slice(&record.payload[fits..]);
                    }
                    over = send.is_empty() && (!self.plain.is_empty() || done.written == out.len());
                    done.stopped = over;
                }
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    let encoded = append(&mut self.outgoing, |room| match data.encode(room) {
                        Err(EncodeError::InsufficientSize(needs)) => Err(needs),
                        other => Ok(other.unwrap_or_default()),
                    });
                    debug_assert!(encoded > 0);
                }
                Ok(ConnectionState::TransmitTlsData(transmit)) => transmit.done(),
                Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                    if !send.is_empty() {
                        append(&mut self.outgoing, |room| match traffic.encrypt(send, room) {
                            Err(EncryptError::InsufficientSize(needs)) => Err(needs),
                            Err(EncryptError::EncryptExhausted) => Ok(0),
                            Ok(n) => {
                                done.encrypted = true;
                                Ok(n)
                            }
                        });
                    }
                    over = true;
                }
                Ok(ConnectionState::PeerClosed) => self.end = Some(End::Notified),
                Ok(_) => over = true,
                // The alert for the server stays unsent: rustls may panic if it is called again after an error.
                Err(e) => {
                    self.end = Some(End::Failed(e));
                    over = true;
                }
            }
            done.used += discard;
            if over {
                return done;
            }
        }
    }
}

/// The outcome of reading some records.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// Bytes of records that were read.
    pub used: usize,
    /// Bytes that were decrypted for the caller.
    pub written: usize,
    /// It stopped because the caller's buffer was full, not because records were missing.
    pub stopped: bool,
    /// The bytes to send were encrypted.
    pub encrypted: bool,
}

/// Lets `encode` append, with as much room as it needs.
fn append(
    to: &mut Vec<u8>,
    mut encode: impl FnMut(&mut [u8]) -> Result<usize, InsufficientSizeError>,
) -> usize {
    let from = to.len();
    let mut room = 0;
    loop {
        to.resize(from + room, 0);
        match encode(&mut to[from..]) {
            Ok(n) => {
                to.truncate(from + n);
                return n;
            }
            Err(needs) => room = needs.required_size,
        }
    }
}

#[cfg(test)]
mod tests;
