//! One connection with its state.

use crate::Nanos;
use crate::protocol::{ExchangeId, Machine};
use crate::transport::Io;

/// A connection of a stream.
#[derive(Debug)]
pub struct Conn {
    pub io: Io,
    pub machine: Machine,
    pub state: State,
    pub stream: u16,
    pub endpoint: u32,
    pub begun: Nanos,
    /// How often it is in the idle list: once for each exchange that may be started.
    pub listed: usize,
    /// Exchanges were started that are not sent yet.
    pub is_unsent: bool,
    /// The server has closed its side, or the connection is broken: no further event will come.
    pub ended: bool,
    /// Set if it reads at a limited rate.
    pub pace: Option<Pace>,
    /// It has used up its turn, and there may be more to read.
    pub is_hungry: bool,
    /// Since when the server has accepted no stream on it.
    pub refused: Option<Nanos>,
}

/// The stage of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The kernel is connecting; the exchange waits.
    Connecting(ExchangeId),
    /// The TLS handshake is running, since then; the exchange waits.
    Securing(ExchangeId, Nanos),
    Open,
    /// The server should close it when nothing is in flight; it no longer counts as a connection of its stream.
    Lingering,
}

impl Conn {
    /// Whether an event that only reports room to send is of use: each event reports everything that is ready.
    pub fn awaits_room(&self) -> bool {
        match (&self.state, &self.io, &self.machine) {
            (State::Open | State::Lingering, Io::Tcp(_), Machine::Http1(machine)) => machine.is_sending(),
            _ => true,
        }
    }

    /// Whether no request can be sent on it because the server accepts no stream, as the server itself said.
    pub fn is_refused(&self) -> bool {
        matches!((&self.state, &self.machine), (State::Open, Machine::Http2(machine)) if machine.is_refused())
    }

    /// Adds its exchanges in flight to a list.
    pub fn list(&self, into: &mut Vec<ExchangeId>) {
        match self.state {
            State::Connecting(x) | State::Securing(x, _) => into.push(x),
            State::Open | State::Lingering => self.machine.list(into),
        }
    }
}

/// The allowance of a slow reader: a token bucket that holds 1/20 of a second.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Bytes per second.
    rate: f64,
    /// Bytes that may be read; below zero after a larger read.
    tokens: f64,
    at: Nanos,
}

/// Reads of a slow reader per second.
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

    /// Takes off the bytes that were read.
    pub fn spend(&mut self, bytes: u64) {
        self.tokens -= bytes as f64;
    }

    /// When the next portion is available.
    pub fn next(&self, now: Nanos) -> Nanos {
        now + ((self.portion() - self.tokens).max(1.0) / self.rate * 1e9) as Nanos
    }

    fn portion(&self) -> f64 {
        (self.rate / READS).max(1.0)
    }
}
