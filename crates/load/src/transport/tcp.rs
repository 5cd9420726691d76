//! A TCP connection.

use std::io;
use std::net::SocketAddr;

use mio::net::TcpStream;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use socket2::{Domain, Protocol, Socket, Type};

use super::Transport;
#[cfg(target_os = "linux")]
use super::mark;

/// On Linux a socket can be non-blocking from creation, which saves a call.
#[cfg(target_os = "linux")]
const KIND: Type = Type::STREAM.nonblocking();
#[cfg(not(target_os = "linux"))]
const KIND: Type = Type::STREAM;

/// A non-blocking TCP connection without Nagle's algorithm.
#[derive(Debug)]
pub struct Tcp {
    stream: TcpStream,
    /// The peer is on this machine.
    is_near: bool,
    /// Bytes that an event waits for.
    awaited: usize,
    /// A write reported that the connection was reset.
    was_reset: bool,
}

impl Tcp {
    /// Starts connecting. The receive buffer is set before, so that the window is never larger.
    ///
    /// # Errors
    /// No socket is available, or connecting fails at once.
    pub fn connect(address: SocketAddr, receive_buffer: Option<u32>) -> io::Result<Tcp> {
        let socket = Socket::new(Domain::for_address(address), KIND, Some(Protocol::TCP))?;
        if cfg!(not(target_os = "linux")) {
            socket.set_nonblocking(true)?;
        }
        socket.set_tcp_nodelay(true)?;
        if let Some(bytes) = receive_buffer {
            socket.set_recv_buffer_size(bytes as usize)?;
        }
        match socket.connect(&address.into()) {
            Err(e) if e.raw_os_error() != Some(Errno::INPROGRESS.raw_os_error()) => Err(e),
            _ => Ok(Tcp {
                stream: TcpStream::from_std(socket.into()),
                is_near: address.ip().is_loopback(),
                awaited: 1,
                was_reset: false,
            }),
        }
    }

    /// Whether it is established, after an event that reports it as writable or broken.
    ///
    /// # Errors
    /// Why it failed.
    pub fn is_connected(&self, is_broken: bool) -> io::Result<bool> {
        // On Linux it is not writable before it is established.
        let stands = cfg!(target_os = "linux");
        if stands && !is_broken {
            return Ok(true);
        }
        if let Some(error) = self.stream.take_error()? {
            return Err(error);
        }
        if stands {
            return Ok(true);
        }
        match self.stream.peer_addr() {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::NotConnected => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// The meaning of the end of data: a reset is reported only once. If a write reported it, a read looks like one
    /// after a close.
    #[cold]
    fn end(&self) -> io::Result<usize> {
        if self.was_reset { Err(Errno::CONNRESET.into()) } else { Ok(0) }
    }

    /// The socket to register for readiness.
    pub fn source(&mut self) -> &mut TcpStream {
        &mut self.stream
    }
}

impl Transport for Tcp {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let (_, read) = recv(&self.stream, buf, RecvFlags::empty())?;
        if read == 0 { self.end() } else { Ok(read) }
    }

    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let sent = send(&self.stream, buf, SendFlags::NOSIGNAL);
        self.was_reset |= sent == Err(Errno::CONNRESET);
        Ok(sent?)
    }

    /// The kernel discards the bytes without a copy, if possible (`MSG_TRUNC`, see tcp(7)).
    fn discard(&mut self, max: usize, scratch: &mut [u8]) -> io::Result<usize> {
        let most = max.min(scratch.len());
        let (_, dropped) = recv(&self.stream, &mut scratch[..most], RecvFlags::TRUNC)?;
        if dropped == 0 && most > 0 { self.end() } else { Ok(dropped) }
    }

    #[inline]
    fn short_read_drains(&self) -> bool {
        true
    }

    /// Only on this machine: over a network, the window that the kernel opens for this many bytes would be part of the
    /// measurement.
    #[cfg(target_os = "linux")]
    fn await_bytes(&mut self, bytes: usize) {
        if self.is_near && bytes != self.awaited && mark::set(&self.stream, bytes).is_ok() {
            self.awaited = bytes;
        }
    }
}
