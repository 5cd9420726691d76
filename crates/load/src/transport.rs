//! What carries bytes under a protocol: a TCP connection, with or without TLS. Never blocks.

#[cfg(target_os = "linux")]
mod mark;
pub mod tcp;
pub mod tls;

use std::io;

use tcp::Tcp;
use tls::Tls;

/// A connection's bytes. Readiness is edge-triggered: after [`io::ErrorKind::WouldBlock`], and after a short read if
/// [`Transport::short_read_drains`], the next event reports more.
pub trait Transport {
    /// Reads what has arrived. 0: the peer has closed its side.
    ///
    /// # Errors
    /// As [`std::io::Read::read`].
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize>;

    /// Writes as much as there is room for.
    ///
    /// # Errors
    /// As [`std::io::Write::write`].
    fn write(&mut self, buf: &[u8]) -> io::Result<usize>;

    /// Discards up to `max` bytes; `scratch` may be written to.
    ///
    /// # Errors
    /// As [`Transport::read`].
    fn discard(&mut self, max: usize, scratch: &mut [u8]) -> io::Result<usize>;

    /// Whether a read that does not fill the buffer has emptied the socket.
    fn short_read_drains(&self) -> bool;

    /// From now on an event may wait until this many bytes can be read; with 1 it reports the first byte. A hint: not
    /// every transport supports it.
    fn await_bytes(&mut self, _bytes: usize) {}
}

#[derive(Debug)]
pub enum Io {
    Tcp(Tcp),
    Tls(Box<Tls>),
}

impl Transport for Io {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Io::Tcp(tcp) => tcp.read(buf),
            Io::Tls(tls) => tls.read(buf),
        }
    }

    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Io::Tcp(tcp) => tcp.write(buf),
            Io::Tls(tls) => tls.write(buf),
        }
    }

    #[inline]
    fn discard(&mut self, max: usize, scratch: &mut [u8]) -> io::Result<usize> {
        match self {
            Io::Tcp(tcp) => tcp.discard(max, scratch),
            Io::Tls(tls) => tls.discard(max, scratch),
        }
    }

    #[inline]
    fn short_read_drains(&self) -> bool {
        match self {
            Io::Tcp(tcp) => tcp.short_read_drains(),
            Io::Tls(tls) => tls.short_read_drains(),
        }
    }

    #[inline]
    fn await_bytes(&mut self, bytes: usize) {
        match self {
            Io::Tcp(tcp) => tcp.await_bytes(bytes),
            Io::Tls(tls) => tls.await_bytes(bytes),
        }
    }
}
