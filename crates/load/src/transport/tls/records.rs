//! Records in and out: received, decrypted in place and handed on; encrypted behind what is still to be sent.

use std::io::{self, ErrorKind};

use rustls::Error;
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncryptError, InsufficientSizeError, UnbufferedStatus,
};

use super::{End, RECORD, Tls};
use crate::transport::Transport;

impl Tls {
    /// Reads the socket once, unless whole records are there, and decrypts into `out`.
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
        Ok(done.written)
    }

    /// Lets rustls take in `incoming`, decrypts into `out`, and encrypts `send` if it is its turn.
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
                // The alert for the server stays unsent: rustls may panic when it is asked again after an error.
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

/// What came of some records.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// Bytes of records that were taken in.
    pub used: usize,
    /// Bytes that were decrypted for the caller.
    pub written: usize,
    /// It stopped for want of room, not of records.
    pub stopped: bool,
    /// The bytes to be sent were encrypted.
    pub encrypted: bool,
}

/// Lets `encode` write behind what is there, with as much room as it asks for.
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
