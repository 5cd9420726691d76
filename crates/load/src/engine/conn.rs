//! One connection with what it is doing.

use crate::Nanos;
use crate::protocol::{ExchangeId, Machine};
use crate::transport::Io;

/// A connection of a stream.
#[derive(Debug)]
pub struct Conn {
    /// Its bytes.
    pub io: Io,
    /// Its protocol.
    pub machine: Machine,
    /// How far it is.
    pub state: State,
    /// Index of its stream.
    pub stream: u16,
    /// Index of its endpoint.
    pub endpoint: u32,
    /// When it was begun.
    pub begun: Nanos,
    /// How often it stands among the idle ones: once for each exchange that may be started.
    pub listed: usize,
    /// Exchanges were started that are not sent yet.
    pub is_unsent: bool,
    /// The server has closed its side, or the connection is broken: no further event tells of it.
    pub ended: bool,
    /// Set when it reads at a given rate.
    pub pace: Option<Pace>,
    /// It has used up its turn, and there may be more to read.
    pub is_hungry: bool,
    /// Since when the server takes no stream over it.
    pub refused: Option<Nanos>,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The kernel is connecting; the exchange waits for it.
    Connecting(ExchangeId),
    /// TLS is being agreed upon, since then; the exchange waits for it.
    Securing(ExchangeId, Nanos),
    /// Requests may be sent.
    Open,
    /// The server is to close it when nothing is in flight any more; it counts no more among its stream's.
    Lingering,
}

impl Conn {
    /// Whether an event that tells of room to send, and of nothing to read, is of any use: each event tells of all that there is.
    pub fn awaits_room(&self) -> bool {
        match (&self.state, &self.io, &self.machine) {
            (State::Open | State::Lingering, Io::Tcp(_), Machine::Http1(machine)) => machine.is_sending(),
            _ => true,
        }
    }

    /// Whether nothing can be asked over it because the server takes no stream, by its own word.
    pub fn is_refused(&self) -> bool {
        matches!((&self.state, &self.machine), (State::Open, Machine::Http2(machine)) if machine.is_refused())
    }

    /// Adds the exchanges that it is busy with to a list.
    pub fn list(&self, into: &mut Vec<ExchangeId>) {
        match self.state {
            State::Connecting(x) | State::Securing(x, _) => into.push(x),
            State::Open | State::Lingering => self.machine.list(into),
        }
    }
}

/// A slow reader's allowance: a token bucket that holds a twentieth of a second.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Bytes a second.
    rate: f64,
    /// Bytes that may be read; below zero after a read that was larger.
    tokens: f64,
    at: Nanos,
}

/// How often a slow reader reads, a second.
const READS: f64 = 20.0;

impl Pace {
    /// A bucket with one portion in it.
    pub fn new(rate: u64, now: Nanos) -> Pace {
        let rate = rate.max(1) as f64;
        Pace { rate, tokens: rate / READS, at: now }
    }

    /// Bytes that may be read now.
    pub fn allowance(&mut self, now: Nanos) -> usize {
        let earned = now.saturating_sub(self.at) as f64 / 1e9 * self.rate;
        self.tokens = (self.tokens + earned).min(self.portion());
        self.at = now;
        self.tokens.max(0.0) as usize
    }

    /// So many bytes were read.
    pub fn spend(&mut self, bytes: u64) {
        self.tokens -= bytes as f64;
    }

    /// When the next portion is there.
    pub fn next(&self, now: Nanos) -> Nanos {
        now + ((self.portion() - self.tokens).max(1.0) / self.rate * 1e9) as Nanos
    }

    fn portion(&self) -> f64 {
        (self.rate / READS).max(1.0)
    }
}
