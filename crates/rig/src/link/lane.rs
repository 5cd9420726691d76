//! One direction of a link as a state machine: a token bucket that holds no more than the packet being sent, a bounded queue before it,
//! and a delay line behind it.
//!
//! It knows no clock and no socket: time comes in as nanoseconds, packets are whatever is handed in.

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Picoseconds in a nanosecond: a byte at 10 Gbit/s takes 800 ps.
const PS: u64 = 1_000;
/// Bytes that a lane holds in all where no bandwidth bounds them.
const MOST_HELD: u64 = 64 << 20;

/// What a lane does to packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LaneSpec {
    /// Bandwidth in kbit/s; none: not limited.
    pub kbps: Option<f64>,
    /// Nanoseconds from the end of sending to the arrival.
    pub delay_ns: u64,
    /// Bytes that may wait, the packet being sent among them.
    pub queue: u64,
    /// The share of packets (0 to 1) that never arrives, though it takes its time on the line.
    pub loss: f64,
    /// What losses are drawn from.
    pub seed: u64,
}

/// What became of a packet that was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketOutcome {
    /// It arrives at its time.
    Taken,
    Full,
    Lost,
}

/// When bytes that are handed in arrive, or that there is no room for them.
#[derive(Debug)]
pub(super) struct Line {
    /// Picoseconds that a byte is sent for; 0: no time.
    byte_ps: u64,
    /// When all that was taken is sent, in picoseconds.
    free_ps: u64,
    delay_ns: u64,
    queue: u64,
    /// When the last of it arrives.
    last_due: u64,
}

impl Line {
    pub fn new(spec: &LaneSpec) -> Line {
        // kbit/s to picoseconds a byte: 8 bits × 10⁹ ÷ kbit/s, rounded so that it is never faster.
        let byte_ps = spec.kbps.map_or(0, |kbps| (8e9 / kbps).ceil() as u64);
        Line { byte_ps, free_ps: 0, delay_ns: spec.delay_ns, queue: spec.queue, last_due: 0 }
    }

    /// Hands in this many bytes at once: the nanosecond at which they arrive, none when the queue is full. Times never go back.
    pub fn send(&mut self, now: u64, bytes: u64) -> Option<u64> {
        let now_ps = now.saturating_mul(PS);
        let waiting = self.free_ps.saturating_sub(now_ps).checked_div(self.byte_ps).unwrap_or(0);
        if waiting > 0 && waiting + bytes > self.queue {
            return None;
        }
        self.free_ps = self.free_ps.max(now_ps) + bytes * self.byte_ps;
        // None overtakes those that left with a longer delay.
        self.last_due = self.last_due.max(self.free_ps.div_ceil(PS) + self.delay_ns);
        Some(self.last_due)
    }

    /// Takes this many nanoseconds off the delay, as far as there is any.
    pub fn shorten(&mut self, ns: u64) {
        self.delay_ns = self.delay_ns.saturating_sub(ns);
    }

    /// When there will be room for this many bytes: for one who waits where a packet would be dropped.
    pub fn room_at(&self, bytes: u64) -> u64 {
        let may_wait = self.queue.saturating_sub(bytes) * self.byte_ps;
        self.free_ps.saturating_sub(may_wait).div_ceil(PS)
    }
}

/// A lane and the packets on it.
#[derive(Debug)]
pub(super) struct Lane<P> {
    line: Line,
    loss: f64,
    draws: ChaCha8Rng,
    /// Packets with the nanosecond at which they arrive, and their bytes: in order.
    held: VecDeque<(u64, u64, P)>,
    held_bytes: u64,
    /// Most bytes that may be held.
    bound: u64,
}

impl<P> Lane<P> {
    /// An empty one.
    pub fn new(spec: &LaneSpec) -> Lane<P> {
        // Elsewhere bandwidth, delay and queue bound it.
        let bound = if spec.kbps.is_none() { MOST_HELD } else { u64::MAX };
        let draws = ChaCha8Rng::seed_from_u64(spec.seed);
        Lane { line: Line::new(spec), loss: spec.loss, draws, held: VecDeque::new(), held_bytes: 0, bound }
    }

    /// Hands in a packet of this many bytes. Times never go back.
    pub fn offer(&mut self, now: u64, bytes: u64, packet: P) -> PacketOutcome {
        if self.held_bytes + bytes > self.bound {
            return PacketOutcome::Full;
        }
        let Some(due) = self.line.send(now, bytes) else { return PacketOutcome::Full };
        if self.loss > 0.0 && self.draws.random::<f64>() < self.loss {
            return PacketOutcome::Lost;
        }
        self.held.push_back((due, bytes, packet));
        self.held_bytes += bytes;
        PacketOutcome::Taken
    }

    /// See [`Line::shorten`].
    pub fn shorten(&mut self, ns: u64) {
        self.line.shorten(ns);
    }

    /// When the next packet arrives.
    pub fn due(&self) -> Option<u64> {
        self.held.front().map(|(due, ..)| *due)
    }

    /// The next packet, if it has arrived by now.
    pub fn release(&mut self, now: u64) -> Option<P> {
        if self.due()? > now {
            return None;
        }
        let (_, bytes, packet) = self.held.pop_front()?;
        self.held_bytes -= bytes;
        Some(packet)
    }
}

#[cfg(test)]
mod tests;
