//! Connections that share a link, packet by packet. Each has the windows of [`crate::transfer`]: a single response over a new connection takes what
//! [`Path::call_ns`] says. Together they share one line each way, in the order in which packets come to it.
//!
//! Of several responses on a connection the server sends the most important first, and of equal ones that which was asked for first. What it gave to its
//! kernel already, as much as the window, goes before. There is no loss: a window grows slowly once its packets wait in front of the line (HyStart).

use std::collections::{BTreeMap, VecDeque};

use super::graph::Priority;
use crate::link::TCP_PAYLOAD;
use crate::transfer::{INITIAL_WINDOW, PACING, Path, packet_bytes};

/// Bytes of a TLS handshake: what browsers of today say (with a key share of ML-KEM-768), and a server with one certificate of its own.
const HELLOS: (f64, f64) = (1_800.0, 1_200.0);
/// Packets that a server has sent with it: its hello with the certificate, tickets, and the settings of HTTP/2.
const HANDSHAKE_PACKETS: f64 = 3.0;
/// Bytes that a server takes of one response before it looks again which is the most important.
const CHUNK: f64 = 8_192.0;
/// A window of this many packets leaves slow start when the first of it waited for an eighth of the round trip, within these milliseconds (HyStart of Linux).
const LEAST_STOPPED: f64 = 16.0;
const STOPPING_MS: (f64, f64) = (4.0, 16.0);
/// How long the shortest retransmission timeout is beyond the round trip, in milliseconds: after as much silence a window is halved.
const SILENCE_MS: f64 = 200.0;
/// bbr knows the link's rate once it has not grown by this factor in this many rounds. From then on it keeps a multiple on the way of what the rate puts on
/// a round trip, and always some milliseconds of it beside (Linux' `tcp_bbr.c`).
const GROWING: f64 = 1.25;
const GROWN: u32 = 3;
const KEPT: f64 = 2.0;
const SPARE: f64 = 3.0;
/// Bytes of a page from which on packets go together in the simulation, by two, three and so on.
const LARGE: f64 = 2e6;

/// What happens. `T` is what the caller wants to be reminded of; it is told of the first three.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event<T> {
    Due(T),
    /// A connection can be used.
    Open(usize),
    /// Bytes of the response to a request arrived.
    Bytes(usize, f64),
    /// The client's hello leaves on a connection, and is answered.
    Hello(usize),
    HelloAnswered(usize),
    /// A response is ready on a connection, or gets another priority.
    Reply(usize, Stream),
    Reordered(usize, usize, Priority),
    Arrival(usize, Unit),
    Confirmed(usize, Unit),
    /// A kernel that paces may send again.
    Paced(usize),
}

/// Packets that go together, and how long they waited for the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    packets: f64,
    payload: f64,
    waited_ms: f64,
    /// Packets of the connection that had been confirmed when these were sent, and when the last of them was.
    confirmed: (f64, f64),
    /// Whether the server had no more to send.
    is_limited: bool,
}

/// A response as the server has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    request: usize,
    left: f64,
    priority: Priority,
}

#[derive(Debug, Default)]
struct Connection {
    window: f64,
    in_flight: f64,
    /// The window from which on it grows by one in a round (congestion avoidance).
    threshold: f64,
    /// Packets to be confirmed until the round ends, and the most that were on the way in it.
    round_left: f64,
    peak: f64,
    last_sent: f64,
    /// Packets that were sent, and confirmed, and when the last of them was.
    sent: f64,
    confirmed: (f64, f64),
    /// Of a kernel that paces: the most packets that were confirmed in a millisecond, when it may send again, and whether it is waited for.
    rate: f64,
    next_ms: f64,
    is_held: bool,
    /// The rate when it last grew by a quarter, and rounds since then; what was sent before this many were confirmed does not tell the link's rate.
    grown: (f64, u32),
    limited: f64,
    is_drained: bool,
    /// What is to be sent, in the order of requests.
    streams: Vec<Stream>,
    /// What the kernel has, as parts of responses in their order, until it arrives; and how much of it is not sent.
    taken: VecDeque<(usize, f64)>,
    unsent: f64,
}

pub(super) struct Network<T> {
    down: Path,
    up: Path,
    now: f64,
    down_free: f64,
    up_free: f64,
    /// By their time (of positive numbers the bits are in order), and number.
    events: BTreeMap<(u64, u64), Event<T>>,
    number: u64,
    told: VecDeque<Event<T>>,
    connections: Vec<Connection>,
    together: f64,
    paced: bool,
}

impl<T: Copy> Network<T> {
    /// A link of these two directions, for this many bytes in all. `paced`: the server's kernel spreads what it sends over round trips, as bbr does.
    pub fn new(down: Path, up: Path, bytes: f64, paced: bool) -> Network<T> {
        let together = (bytes / LARGE).ceil().max(1.0);
        let (events, told, connections) = (BTreeMap::new(), VecDeque::new(), Vec::new());
        Network {
            down,
            up,
            now: 0.0,
            down_free: 0.0,
            up_free: 0.0,
            events,
            number: 0,
            told,
            connections,
            together,
            paced,
        }
    }

    /// Milliseconds since the begin.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// The next that the caller is told of; none: nothing more happens.
    pub fn next(&mut self) -> Option<Event<T>> {
        while self.told.is_empty() {
            let ((at, _), event) = self.events.pop_first()?;
            self.now = f64::from_bits(at);
            self.carry_out(event);
        }
        self.told.pop_front()
    }

    /// Reminds the caller after these milliseconds.
    pub fn remind(&mut self, after: f64, of: T) {
        self.push(self.now + after.max(0.0), Event::Due(of));
    }

    /// Begins to open a connection: with TCP's handshake, TLS's, or both. Its number.
    pub fn connect(&mut self, tcp: bool, tls: bool) -> usize {
        // bbr's window grows by whatever is confirmed.
        let sent = if tls && self.paced { HANDSHAKE_PACKETS } else { 0.0 };
        let window = INITIAL_WINDOW + sent;
        let (threshold, last_sent) = (f64::INFINITY, f64::INFINITY);
        // Until more is known, the initial window in a round trip.
        let rate = INITIAL_WINDOW * 1e6 / self.down.round_trip_ns;
        let confirmed = (sent, self.now);
        let connection =
            Connection { window, threshold, last_sent, rate, sent, confirmed, ..Connection::default() };
        self.connections.push(connection);
        let connection = self.connections.len() - 1;
        let at = self.now + if tcp { self.down.round_trip_ns / 1e6 } else { 0.0 };
        self.push(at, if tls { Event::Hello(connection) } else { Event::Open(connection) });
        connection
    }

    /// Sends a request of `up` bytes. The server needs `server_ms` from its arrival to the response of `down` bytes.
    pub fn request(
        &mut self,
        of: (usize, usize),
        (up, down): (f64, f64),
        server_ms: f64,
        priority: Priority,
    ) {
        let at = self.sent_up(up) + server_ms;
        self.push(at, Event::Reply(of.0, Stream { request: of.1, left: down.max(1.0), priority }));
    }

    /// Tells the server of a connection another priority of a request.
    pub fn reorder(&mut self, connection: usize, request: usize, priority: Priority) {
        self.push(self.now + self.half(), Event::Reordered(connection, request, priority));
    }

    /// Milliseconds of one way.
    fn half(&self) -> f64 {
        self.down.round_trip_ns / 2e6
    }

    fn push(&mut self, at: f64, event: Event<T>) {
        self.number += 1;
        self.events.insert((at.to_bits(), self.number), event);
    }

    /// Puts bytes on the way up; when they arrive.
    fn sent_up(&mut self, bytes: f64) -> f64 {
        self.up_free = self.up_free.max(self.now) + packet_bytes(bytes) * self.up.byte_ns / 1e6;
        self.up_free + self.half()
    }

    /// Puts bytes on the way down; when they arrive.
    fn sent_down(&mut self, bytes: f64) -> f64 {
        self.down_free = self.down_free.max(self.now) + packet_bytes(bytes) * self.down.byte_ns / 1e6;
        self.down_free + self.half()
    }

    fn carry_out(&mut self, event: Event<T>) {
        match event {
            Event::Due(_) | Event::Open(_) | Event::Bytes(..) => self.told.push_back(event),
            Event::Hello(connection) => {
                let at = self.sent_up(HELLOS.0);
                self.push(at, Event::HelloAnswered(connection));
            }
            Event::HelloAnswered(connection) => {
                let at = self.sent_down(HELLOS.1);
                self.push(at, Event::Open(connection));
            }
            Event::Reply(connection, stream) => {
                let timeout = SILENCE_MS + 2.0 * self.half();
                let (paced, replying) = (self.paced, &mut self.connections[connection]);
                // bbr keeps its window in silence.
                if !paced {
                    replying.wake(self.now, timeout);
                } else if replying.unsent <= 0.0 && replying.in_flight < replying.window {
                    replying.limited = replying.confirmed.0 + replying.in_flight;
                }
                replying.streams.push(stream);
                self.pump(connection);
            }
            Event::Reordered(connection, request, priority) => {
                let streams = self.connections[connection].streams.iter_mut();
                streams.filter(|one| one.request == request).for_each(|one| one.priority = priority);
            }
            Event::Arrival(connection, unit) => {
                self.deliver(connection, unit.payload);
                self.push(self.now + self.half(), Event::Confirmed(connection, unit));
            }
            Event::Paced(connection) => {
                self.connections[connection].is_held = false;
                self.pump(connection);
            }
            Event::Confirmed(connection, unit) => {
                let trip = 2.0 * self.half();
                let confirmed = &mut self.connections[connection];
                if self.paced {
                    confirmed.confirm_paced(unit, self.now, trip);
                } else {
                    confirmed.confirm(unit, (trip / 8.0).clamp(STOPPING_MS.0, STOPPING_MS.1));
                }
                self.pump(connection);
            }
        }
    }

    /// Sends what the window has room for.
    fn pump(&mut self, number: usize) {
        loop {
            let connection = &mut self.connections[number];
            connection.take();
            let room = (connection.window - connection.in_flight).floor();
            if connection.unsent <= 0.0 || room < 1.0 {
                return;
            }
            if connection.next_ms > self.now {
                let at = connection.next_ms;
                if !std::mem::replace(&mut connection.is_held, true) {
                    self.push(at, Event::Paced(number));
                }
                return;
            }
            let full = TCP_PAYLOAD as f64;
            let packets = (connection.unsent / full).ceil().min(room).min(self.together);
            let payload = connection.unsent.min(packets * full);
            connection.unsent -= payload;
            if connection.in_flight <= 0.0 {
                connection.confirmed.1 = self.now;
            }
            connection.in_flight += packets;
            connection.peak = connection.peak.max(connection.in_flight);
            connection.last_sent = self.now;
            connection.sent += packets;
            // The first packets of a connection go at once.
            if self.paced && connection.sent >= INITIAL_WINDOW {
                connection.next_ms = self.now + packets / (connection.pacing() * connection.rate);
            }
            let (confirmed, is_limited) =
                (connection.confirmed, connection.confirmed.0 <= connection.limited);
            let waited_ms = (self.down_free - self.now).max(0.0);
            let at = self.sent_down(payload);
            self.push(
                at,
                Event::Arrival(number, Unit { packets, payload, waited_ms, confirmed, is_limited }),
            );
        }
    }

    /// Tells whose bytes arrived.
    fn deliver(&mut self, connection: usize, mut payload: f64) {
        let taken = &mut self.connections[connection].taken;
        while let Some((request, left)) = taken.front_mut().filter(|_| payload > 1e-6) {
            let bytes = left.min(payload);
            self.told.push_back(Event::Bytes(*request, bytes));
            *left -= bytes;
            payload -= bytes;
            if *left <= 1e-6 {
                taken.pop_front();
            }
        }
    }
}

impl Connection {
    /// Halves the window for each timeout of silence (RFC 2861, and Linux), to the initial one at least.
    fn wake(&mut self, now: f64, timeout: f64) {
        let mut silence = now - self.last_sent - timeout;
        while silence > 0.0 && self.in_flight <= 0.0 && self.window > INITIAL_WINDOW {
            self.window = (self.window / 2.0).max(INITIAL_WINDOW);
            silence -= timeout;
        }
    }

    /// Takes from the server what the kernel has room for: as much as the window.
    fn take(&mut self) {
        while self.unsent < self.window * TCP_PAYLOAD as f64 {
            // The last of the most important ones in the opposite order: the first of them.
            let best = (0..self.streams.len()).rev().max_by_key(|at| self.streams[*at].priority);
            let Some(best) = best else { return };
            let stream = &mut self.streams[best];
            let (request, bytes) = (stream.request, stream.left.min(CHUNK));
            stream.left -= bytes;
            if stream.left <= 0.0 {
                self.streams.remove(best);
            }
            self.unsent += bytes;
            match self.taken.back_mut().filter(|(last, _)| *last == request) {
                Some((_, left)) => *left += bytes,
                None => self.taken.push_back((request, bytes)),
            }
        }
    }

    /// Takes in that packets have arrived: each makes room for itself and, in slow start, for one more.
    fn confirm(&mut self, unit: Unit, stops_ms: f64) {
        if self.round_left <= 0.0 {
            if self.window >= LEAST_STOPPED && self.window < self.threshold && unit.waited_ms > stops_ms {
                self.threshold = self.window;
            }
            (self.round_left, self.peak) = (self.in_flight, self.in_flight);
        }
        self.round_left -= unit.packets;
        self.in_flight -= unit.packets;
        if self.window < 2.0 * self.peak {
            let grows = if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
            self.window += unit.packets * grows;
        }
    }

    /// The same as bbr does it: the window is a multiple of what the rate puts on a round trip.
    fn confirm_paced(&mut self, unit: Unit, now: f64, round_trip_ms: f64) {
        self.in_flight -= unit.packets;
        self.confirmed = (self.confirmed.0 + unit.packets, now);
        self.rate = self.rate.max((self.confirmed.0 - unit.confirmed.0) / (now - unit.confirmed.1));
        self.round_left -= unit.packets;
        if self.round_left <= 0.0 {
            self.round_left = self.in_flight;
            if !unit.is_limited && !self.is_full() {
                let has_grown = self.rate >= GROWING * self.grown.0;
                self.grown = if has_grown { (self.rate, 0) } else { (self.grown.0, self.grown.1 + 1) };
            }
        }
        let trip = self.rate * round_trip_ms;
        self.is_drained |= self.is_full() && self.in_flight <= trip;
        let most = if self.is_full() { KEPT * trip } else { PACING * trip } + SPARE * self.rate.max(2.0);
        self.window = if self.is_full() {
            (self.window + unit.packets).min(most)
        } else if self.window < most {
            self.window + unit.packets
        } else {
            self.window
        };
    }

    /// Whether bbr knows the link's rate.
    fn is_full(&self) -> bool {
        self.grown.1 >= GROWN
    }

    /// How many times its rate bbr sends at.
    fn pacing(&self) -> f64 {
        match (self.is_full(), self.is_drained) {
            (false, _) => PACING,
            (true, false) => 1.0 / PACING,
            (true, true) => 1.0,
        }
    }
}
