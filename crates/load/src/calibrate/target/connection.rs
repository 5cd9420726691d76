//! One connection of the target: a bounded head in, a response out, again.

use std::io::{ErrorKind, IoSlice, Read, Write};

use memchr::memmem;
use mio::net::TcpStream;

use super::request::{Answer, answer};

/// A request's head may not be longer than this.
const HEAD: usize = 4096;

/// A client's connection.
pub struct Connection {
    stream: TcpStream,
    input: Box<[u8; HEAD]>,
    filled: usize,
    /// The response being sent; its memory is reused.
    answer: Answer,
    /// Bytes of it that are sent, head and body.
    sent: usize,
    /// The system may have bytes for us: readiness is told once.
    readable: bool,
}

/// How a response stands.
enum Written {
    All,
    Blocked,
    Gone,
}

impl Connection {
    pub fn new(stream: TcpStream) -> Connection {
        Connection {
            stream,
            input: Box::new([0; HEAD]),
            filled: 0,
            answer: Answer::default(),
            sent: 0,
            readable: false,
        }
    }

    /// Does what can be done. False: the connection has ended.
    pub fn drive(&mut self, readable: bool, closed: bool, pattern: &[u8]) -> bool {
        self.readable |= readable;
        loop {
            match self.write(pattern) {
                Written::Blocked => return true,
                Written::Gone => return false,
                Written::All if self.answer.close => return false,
                Written::All => {}
            }
            if let Some(at) = memmem::find(&self.input[..self.filled], b"\r\n\r\n") {
                self.take(at + 4);
            } else if self.filled == HEAD {
                self.refuse("431 Request Header Fields Too Large");
            } else if !self.readable {
                return true;
            } else if !self.read(closed) {
                return false;
            }
        }
    }

    /// Answers the request whose head has that length.
    fn take(&mut self, length: usize) {
        answer(&self.input[..length], &mut self.answer);
        self.input.copy_within(length..self.filled, 0);
        self.filled -= length;
        self.sent = 0;
    }

    fn refuse(&mut self, status: &str) {
        self.answer.refuse(status);
        self.sent = 0;
    }

    fn read(&mut self, closed: bool) -> bool {
        match self.stream.read(&mut self.input[self.filled..]) {
            Ok(0) => return false,
            Ok(n) => {
                self.filled += n;
                // A short read has emptied the socket, see epoll(7); but an end that was told already is not told again.
                self.readable = closed || self.filled == HEAD;
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => self.readable = false,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
        true
    }

    fn write(&mut self, pattern: &[u8]) -> Written {
        let head = self.answer.head.len();
        let total = head + self.answer.body;
        while self.sent < total {
            let at = self.sent.saturating_sub(head);
            let from = at % pattern.len();
            let to = pattern.len().min(from + self.answer.body - at);
            let parts =
                [IoSlice::new(&self.answer.head[self.sent.min(head)..]), IoSlice::new(&pattern[from..to])];
            match self.stream.write_vectored(&parts) {
                Ok(n) => self.sent += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Written::Blocked,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Written::Gone,
            }
        }
        Written::All
    }
}
