//! The exchange in flight on an HTTP/1 connection: how much of its response has arrived, and how much is missing.

use std::io::ErrorKind;

use super::chunked::Chunked;
use super::head::{self, Head, HeadLimits};
use crate::fault::{HttpFault, HttpFaultKind};
use crate::protocol::{Events, ExchangeId};
use crate::transport::Transport;

/// The part of the response that is missing.
#[derive(Debug)]
pub(super) enum Rest {
    Head,
    Length(u64),
    Chunked(Chunked),
    Close,
}

#[derive(Debug)]
pub(super) struct Current {
    pub id: ExchangeId,
    /// The response to a HEAD request has no body.
    head_only: bool,
    /// Bytes of the request that were written.
    written: usize,
    /// The whole request was written.
    pub is_sent: bool,
    /// The first byte of the response has arrived.
    pub begun: bool,
    /// The connection persists after it, as far as is known.
    pub keep: bool,
    informational: u32,
    /// Received bytes of a body of known length.
    pub body: u64,
    pub rest: Rest,
}

/// The outcome of reading some bytes.
pub(super) enum Progress {
    /// The response is not complete.
    More,
    /// The response is complete; this many of the bytes belong to it.
    Whole(usize),
}

/// Where the heads at the start of the bytes end.
pub(super) enum Heads {
    /// The final head is complete; the body starts at `used`.
    Whole { used: usize },
    /// The final head is incomplete; `used` bytes belong to complete informational heads.
    More { used: usize },
}

impl Progress {
    /// Adds the bytes before the body to those of the body.
    pub fn after(self, used: usize) -> Progress {
        match self {
            Progress::Whole(more) => Progress::Whole(used + more),
            Progress::More => Progress::More,
        }
    }
}

impl Rest {
    /// How the end of the body is marked (RFC 9112, 6.3).
    fn of(head: &Head, head_only: bool) -> Rest {
        if head_only || matches!(head.status, 101 | 204 | 304) {
            Rest::Length(0)
        } else if head.chunked {
            Rest::Chunked(Chunked::default())
        } else if let Some(length) = head.length {
            Rest::Length(length)
        } else {
            Rest::Close
        }
    }

    /// Takes this many bytes of a body of known length; returns whether they complete it.
    pub fn shorten(&mut self, bytes: u64) -> bool {
        match self {
            Rest::Length(left) => {
                *left = left.saturating_sub(bytes);
                *left == 0
            }
            Rest::Head | Rest::Chunked(_) | Rest::Close => false,
        }
    }
}

impl Current {
    /// An exchange that has sent nothing.
    pub fn new(id: ExchangeId, head_only: bool) -> Current {
        Current {
            id,
            head_only,
            written: 0,
            is_sent: false,
            begun: false,
            keep: true,
            informational: 0,
            body: 0,
            rest: Rest::Head,
        }
    }

    /// Writes the request as far as possible.
    pub fn write(&mut self, io: &mut impl Transport, request: &[u8]) -> Result<(), HttpFault> {
        while self.written < request.len() {
            match io.write(&request[self.written..]) {
                Ok(0) => {
                    return Err(HttpFault::new(HttpFaultKind::Reset, "the connection accepts no more bytes"));
                }
                Ok(n) => self.written += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // The server may have answered before it closed: its response is read first.
                Err(e) if e.kind() == ErrorKind::BrokenPipe => break,
                Err(e) => {
                    let kind = if e.kind() == ErrorKind::InvalidData {
                        HttpFaultKind::Tls
                    } else {
                        HttpFaultKind::Reset
                    };
                    return Err(HttpFault::new(kind, format!("while sending: {e}")));
                }
            }
        }
        self.is_sent = self.written == request.len();
        Ok(())
    }

    /// Reads informational heads and the final one.
    pub fn heads(
        &mut self,
        bytes: &[u8],
        scanned: &mut usize,
        limits: &HeadLimits,
        informational: u32,
        events: &mut impl Events,
    ) -> Result<Heads, HttpFault> {
        let mut used = 0;
        loop {
            let Some(head) = head::parse(&bytes[used..], scanned, limits)? else {
                return Ok(Heads::More { used });
            };
            *scanned = 0;
            let raw = &bytes[used..used + head.bytes];
            used += head.bytes;
            if !(100..200).contains(&head.status) || head.status == 101 {
                self.accept(&head, raw, events)?;
                return Ok(Heads::Whole { used });
            }
            self.informational += 1;
            if self.informational > informational {
                let message = format!("more than {informational} informational responses");
                return Err(HttpFault::new(HttpFaultKind::Informational, message));
            }
        }
    }

    /// Chunks of the body that have started; it wraps.
    pub fn chunks(&self) -> usize {
        match &self.rest {
            Rest::Chunked(chunks) => chunks.begun,
            Rest::Head | Rest::Length(_) | Rest::Close => 0,
        }
    }

    /// Takes the final head, whose bytes are `raw`.
    #[inline]
    pub fn accept(&mut self, head: &Head, raw: &[u8], events: &mut impl Events) -> Result<(), HttpFault> {
        self.rest = Rest::of(head, self.head_only);
        self.keep = head.keep && !matches!(self.rest, Rest::Close);
        events.head(self.id, head, raw)
    }

    /// Takes bytes after the head.
    pub fn body(&mut self, bytes: &[u8], events: &mut impl Events) -> Result<Progress, HttpFault> {
        match &mut self.rest {
            Rest::Head => Ok(Progress::More),
            Rest::Length(left) => {
                let own = (*left).min(bytes.len() as u64) as usize;
                if own > 0 {
                    events.body(self.id, &bytes[..own])?;
                }
                *left -= own as u64;
                self.body += own as u64;
                Ok(if *left == 0 { Progress::Whole(own) } else { Progress::More })
            }
            Rest::Chunked(chunks) => {
                let step = chunks.feed(bytes, |part| events.body(self.id, part))?;
                Ok(if step.done { Progress::Whole(step.consumed) } else { Progress::More })
            }
            Rest::Close => {
                if !bytes.is_empty() {
                    events.body(self.id, bytes)?;
                }
                Ok(Progress::More)
            }
        }
    }

    /// The failure if the connection is closed now.
    pub fn cut_short(&self) -> HttpFault {
        match &self.rest {
            Rest::Head if !self.begun => {
                HttpFault::new(HttpFaultKind::EmptyReply, "closed before the first byte")
            }
            Rest::Length(left) => HttpFault::new(
                HttpFaultKind::Truncated,
                format!("closed {left} bytes before the end of the body"),
            ),
            Rest::Chunked(_) => HttpFault::new(HttpFaultKind::Truncated, "closed before the last chunk"),
            Rest::Head | Rest::Close => HttpFault::new(HttpFaultKind::Truncated, "closed inside the head"),
        }
    }

    /// The position in the response, as text.
    pub fn place(&self) -> &'static str {
        match &self.rest {
            Rest::Head if !self.begun => "before the first byte",
            Rest::Head => "inside the head",
            Rest::Length(_) | Rest::Chunked(_) | Rest::Close => "inside the body",
        }
    }
}
