//! A server's end of a connection: TCP, or TLS over it, with access to the bytes below its records.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::cipher::{MessageEncrypter, OutboundChunks, OutboundPlainMessage};
use rustls::crypto::ring::cipher_suite;
use rustls::{
    ConnectionTrafficSecrets, ContentType, ProtocolVersion, ServerConfig, ServerConnection, StreamOwned,
};
use socket2::SockRef;

/// A connection on the server's side.
pub enum Wire {
    Plain(TcpStream),
    Secure(Box<StreamOwned<ServerConnection, TcpStream>>),
}

/// A change to the bytes of the server's first flight.
pub type Change = fn(Vec<u8>) -> Vec<u8>;

impl Wire {
    pub fn tcp(&mut self) -> &mut TcpStream {
        match self {
            Wire::Plain(tcp) => tcp,
            Wire::Secure(secure) => &mut secure.sock,
        }
    }

    pub fn is_secure(&self) -> bool {
        matches!(self, Wire::Secure(_))
    }

    /// Uses TLS from now on: runs the whole handshake.
    pub fn shake(self, config: &Arc<ServerConfig>) -> io::Result<Wire> {
        let Wire::Plain(mut tcp) = self else { return Ok(self) };
        let mut session = ServerConnection::new(config.clone()).map_err(io::Error::other)?;
        while session.is_handshaking() {
            session.complete_io(&mut tcp)?;
        }
        Ok(Wire::Secure(Box::new(StreamOwned::new(session, tcp))))
    }

    /// Answers the client's greeting with a changed flight.
    pub fn fly(&mut self, config: &Arc<ServerConfig>, change: Change) -> io::Result<()> {
        let mut session = ServerConnection::new(config.clone()).map_err(io::Error::other)?;
        while !session.wants_write() {
            session.read_tls(self.tcp())?;
            session.process_new_packets().map_err(io::Error::other)?;
        }
        let mut flight = Vec::new();
        while session.wants_write() {
            session.write_tls(&mut flight)?;
        }
        self.tcp().write_all(&change(flight))
    }

    /// Closes normally: with close_notify first.
    pub fn close(&mut self) -> io::Result<()> {
        if let Wire::Secure(secure) = self {
            secure.conn.send_close_notify();
            secure.flush()?;
        }
        Ok(())
    }

    /// The next close resets the connection.
    pub fn reset(&mut self) -> io::Result<()> {
        SockRef::from(&*self.tcp()).set_linger(Some(Duration::ZERO))
    }

    /// Sends no more, but goes on reading.
    pub fn finish(&mut self) -> io::Result<()> {
        self.close()?;
        self.tcp().shutdown(Shutdown::Write)
    }

    /// Encrypts arbitrary records from now on; the session cannot be used afterwards.
    pub fn sealer(self) -> io::Result<(TcpStream, Sealer)> {
        let Wire::Secure(secure) = self else { return Err(io::Error::other("no TLS over it")) };
        let StreamOwned { conn, sock } = *secure;
        Ok((sock, Sealer::new(conn)?))
    }
}

impl Read for Wire {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Wire::Plain(tcp) => tcp.read(into),
            Wire::Secure(secure) => secure.read(into),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Wire::Plain(tcp) => tcp.write(bytes),
            Wire::Secure(secure) => secure.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Wire::Plain(tcp) => tcp.flush(),
            Wire::Secure(secure) => secure.flush(),
        }
    }
}

/// Encrypts any record with the keys of an established session.
pub struct Sealer {
    encrypter: Box<dyn MessageEncrypter>,
    next: u64,
}

impl Sealer {
    fn new(session: ServerConnection) -> io::Result<Sealer> {
        let is_new = session.protocol_version() == Some(ProtocolVersion::TLSv1_3);
        let (next, secrets) = session.dangerous_extract_secrets().map_err(io::Error::other)?.tx;
        let ConnectionTrafficSecrets::Aes128Gcm { key, iv } = secrets else {
            return Err(io::Error::other("a session with another cipher than AES-128-GCM"));
        };
        let (new, old) =
            (cipher_suite::TLS13_AES_128_GCM_SHA256, cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256);
        let encrypter = match (new, old) {
            (rustls::SupportedCipherSuite::Tls13(new), _) if is_new => new.aead_alg.encrypter(key, iv),
            (_, rustls::SupportedCipherSuite::Tls12(old)) => {
                let (fixed, explicit) = iv.as_ref().split_at(4);
                old.aead_alg.encrypter(key, fixed, explicit)
            }
            _ => return Err(io::Error::other("no such cipher")),
        };
        Ok(Sealer { encrypter, next })
    }

    /// One record of this type.
    pub fn seal(&mut self, typ: u8, payload: &[u8]) -> io::Result<Vec<u8>> {
        let message = OutboundPlainMessage {
            typ: ContentType::from(typ),
            version: ProtocolVersion::TLSv1_2,
            payload: OutboundChunks::Single(payload),
        };
        let sealed = self.encrypter.encrypt(message, self.next).map_err(io::Error::other)?;
        self.next += 1;
        Ok(sealed.encode())
    }
}
