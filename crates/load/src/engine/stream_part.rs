//! One thread's part of a stream: its schedule, its requests, and its idle connections.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Nanos;
use crate::arrival::{Due, Schedule};
use crate::plan::Stream;
use crate::protocol::ExchangeId;

/// The first wait after a failed connection; it doubles with each further failure, up to the last.
const BACKOFF: (Nanos, Nanos) = (1_000_000, 128_000_000);

pub struct StreamPart<'a> {
    pub stream: &'a Stream,
    pub schedule: Box<dyn Schedule>,
    /// Whether requests are due independent of responses (an open model).
    pub is_open: bool,
    /// The most connections of this part.
    pub most: usize,
    /// Its open connections.
    pub has: usize,
    /// The idle connections by endpoint, the most recently used one last.
    pub idle: Vec<Vec<usize>>,
    /// Requests to be sent again as soon as there is room.
    pub waiting: Vec<ExchangeId>,
    /// When the next request is due; none: nothing is due before another event.
    pub wake: Option<Nanos>,
    /// Since when a due request could have been sent; none: it cannot be sent.
    pub free_since: Option<Nanos>,
    /// Nothing further will be due.
    pub is_over: bool,
    failures: u32,
    hold: Nanos,
    draw: Draw,
}

impl<'a> StreamPart<'a> {
    /// A part without connections. `requests`: index and weight.
    pub fn new(
        stream: &'a Stream,
        schedule: Box<dyn Schedule>,
        is_open: bool,
        most: usize,
        endpoints: usize,
        draw: Draw,
    ) -> StreamPart<'a> {
        let (has, wake, failures, hold, is_over) = (0, Some(0), 0, 0, most == 0);
        let idle = vec![Vec::new(); endpoints];
        let waiting = Vec::new();
        let free_since = Some(0);
        StreamPart {
            stream,
            schedule,
            is_open,
            most,
            has,
            idle,
            waiting,
            wake,
            free_since,
            is_over,
            failures,
            hold,
            draw,
        }
    }

    /// Whether a request could be sent now.
    pub fn has_room(&self) -> bool {
        self.has < self.most || self.idle.iter().any(|i| !i.is_empty())
    }

    pub fn due(&mut self, now: Nanos) -> Option<Nanos> {
        self.wake = None;
        // Established connections are used in the meantime.
        if now < self.hold && self.idle.iter().all(Vec::is_empty) {
            self.wake = Some(self.hold);
            return None;
        }
        match self.schedule.next(now) {
            Due::Now(at) => Some(at),
            Due::At(at) => {
                self.wake = Some(at);
                None
            }
            Due::OnEnd => None,
            Due::Never => {
                self.is_over = true;
                None
            }
        }
    }

    /// The next request to send.
    pub fn request(&mut self) -> u32 {
        self.draw.next()
    }

    /// A connection failed: the next one is delayed.
    pub fn failed(&mut self, now: Nanos) {
        self.hold = now + (BACKOFF.0 << self.failures.min(20)).min(BACKOFF.1);
        self.failures += 1;
        self.wake = Some(self.hold);
    }

    pub fn stands(&mut self) {
        self.failures = 0;
    }

    /// A connection has ended: there is room for another, for any endpoint.
    pub fn lost(&mut self, endpoint: u32, token: usize) {
        self.has -= 1;
        self.wake = Some(0);
        self.idle[endpoint as usize].retain(|t| *t != token);
    }
}

/// Draws requests by weight, or returns each in turn.
#[derive(Debug)]
pub struct Draw {
    requests: Vec<u32>,
    /// Sums of weights up to each request; none: they are sent in turn.
    sums: Vec<f64>,
    rng: ChaCha8Rng,
    turn: u32,
}

impl Draw {
    /// Each of these requests this many times before the next one.
    pub fn in_turn(requests: &[u32], times: u32) -> Draw {
        let requests = requests.iter().flat_map(|r| std::iter::repeat_n(*r, times as usize)).collect();
        Draw { requests, sums: Vec::new(), rng: ChaCha8Rng::seed_from_u64(0), turn: 0 }
    }

    /// From indices and weights; at least one weight is above zero.
    pub fn new(requests: &[(u32, f64)], seed: u64) -> Draw {
        let mut sum = 0.0;
        let sums = requests
            .iter()
            .map(|(_, weight)| {
                sum += weight;
                sum
            })
            .collect();
        let rng = ChaCha8Rng::seed_from_u64(seed);
        Draw { requests: requests.iter().map(|r| r.0).collect(), sums, rng, turn: 0 }
    }

    fn next(&mut self) -> u32 {
        if let [only] = self.requests[..] {
            return only;
        }
        let Some(all) = self.sums.last().copied() else {
            let request = self.requests[self.turn as usize % self.requests.len()];
            self.turn = self.turn.wrapping_add(1);
            return request;
        };
        let drawn = self.rng.random::<f64>() * all;
        let at = self.sums.partition_point(|sum| *sum <= drawn).min(self.requests.len() - 1);
        self.requests[at]
    }
}
