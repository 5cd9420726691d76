//! A load of a page: what a browser asks for when, and when it paints, over a network that is simulated.
//!
//! What it keeps to is what Chromium does. The preload scanner finds what the markup names as its bytes arrive. The parser waits for scripts, and scripts
//! wait for the style sheets before them. Nothing is painted before the style sheets and scripts that the parser has passed. While the parser is in the
//! head, unimportant requests wait as long as two others are on their way. HTTP/1.1 has six connections per origin, HTTP/2 and HTTP/3 have one.

use super::graph::{Found, PageGraph, Paint, Priority, Repeat, Run};
use super::network::{Event, Network};
use super::outcome::{LoadSetup, PageLoad, Protocol, ResourceTimes, Visit};
use crate::transfer::Path;

/// Connections to an origin with HTTP/1.1.
const CONNECTIONS: usize = 6;
/// Requests on their way with which unimportant ones wait while the parser is in the head.
const TIGHT: usize = 2;
/// How long text waits for its font, in milliseconds.
const FONT_MS: f64 = 3_000.0;
/// Heads by HPACK and QPACK, as parts of those of HTTP/1.1: of the first request of a connection, of further ones, and of responses.
const PACKED: (f64, f64, f64) = (0.8, 0.25, 0.5);
/// Bytes that a record of TLS and a frame of HTTP/2 take, and the bytes of a body in one.
const RECORD: (f64, f64) = (31.0, 8_192.0);

/// Simulates a load of a graph that [`PageGraph::check`] has no objections to.
pub fn simulate(graph: &PageGraph, setup: &LoadSetup<'_>) -> PageLoad {
    let mut browser = Browser::new(graph, setup);
    browser.network.remind(graph.start_ms, Due::Ask(0));
    while let Some(event) = browser.network.next() {
        browser.take_in(event);
    }
    browser.load()
}

/// What the browser waits for.
#[derive(Clone, Copy, Debug)]
enum Due {
    Ask(usize),
    Applied(usize),
    /// Something may be possible now.
    Look,
}

/// A resource while the page is loaded.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    is_scheduled: bool,
    is_running: bool,
    connection: Option<usize>,
    times: Option<ResourceTimes>,
    got: f64,
    expected: f64,
    is_done: bool,
    applied: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Socket {
    id: usize,
    origin: usize,
    is_open: bool,
    /// Requests that it has carried, and carries.
    carried: usize,
    carries: usize,
}

struct Browser<'g> {
    graph: &'g PageGraph,
    setup: &'g LoadSetup<'g>,
    network: Network<Due>,
    states: Vec<State>,
    sockets: Vec<Socket>,
    waiting: Vec<usize>,
    /// Where the parser stops, in the document's order: shares with the script, if it is one of its own.
    stops: Vec<(f64, Option<usize>)>,
    passed: usize,
    parser: f64,
    parsed: Option<f64>,
    laid_out: Option<f64>,
    first: Option<f64>,
    largest: Option<f64>,
    loaded: Option<f64>,
    bytes: f64,
}

impl<'g> Browser<'g> {
    fn new(graph: &'g PageGraph, setup: &'g LoadSetup<'g>) -> Browser<'g> {
        let link = setup.link;
        let path =
            |kbps: Option<f64>| Path::shared(kbps.map_or(f64::INFINITY, |kbps| kbps / 1e3), link.rtt_ms, 1.0);
        let all = graph.resources.iter().map(|one| one.body_bytes + one.head_bytes).sum();
        let scripts = graph.resources.iter().enumerate().filter_map(|(number, one)| match one.found {
            Found::Markup(at) if one.run == Some(Run::Blocking) => Some((at, Some(number))),
            _ => None,
        });
        let inline = graph.inline_scripts.iter().map(|at| (*at, None));
        let mut stops: Vec<(f64, Option<usize>)> = scripts.chain(inline).collect();
        stops.sort_by(|a, b| a.0.total_cmp(&b.0));
        Browser {
            graph,
            setup,
            network: Network::new(path(link.down_kbps), path(link.up_kbps), all, setup.paced),
            states: vec![State::default(); graph.resources.len()],
            sockets: Vec::new(),
            waiting: Vec::new(),
            stops,
            passed: 0,
            parser: 0.0,
            parsed: None,
            laid_out: None,
            first: None,
            largest: None,
            loaded: None,
            bytes: 0.0,
        }
    }

    fn take_in(&mut self, event: Event<Due>) {
        match event {
            Event::Due(Due::Ask(number)) => self.ask(number),
            Event::Due(Due::Applied(number)) => {
                self.states[number].applied = Some(self.network.now());
                self.look();
            }
            Event::Due(Due::Look) => self.look(),
            Event::Open(id) => {
                let opened = self.sockets.iter_mut().filter(|socket| socket.id == id);
                opened.for_each(|socket| socket.is_open = true);
                self.dispatch();
            }
            Event::Bytes(request, bytes) => self.arrived(request, bytes),
            _ => {}
        }
    }

    /// Wants a resource: from the cache, or by a request.
    fn ask(&mut self, number: usize) {
        let now = self.network.now();
        let times = ResourceTimes { found_ms: now, ..ResourceTimes::default() };
        self.states[number].times = Some(times);
        if self.repeats(number) == Repeat::Fresh {
            self.states[number].times = Some(ResourceTimes { first_byte_ms: now, done_ms: now, ..times });
            return self.done(number);
        }
        self.waiting.push(number);
        self.dispatch();
    }

    fn repeats(&self, number: usize) -> Repeat {
        match self.setup.visit {
            Visit::First => Repeat::Again,
            Visit::Repeat => self.graph.resources[number].repeat,
        }
    }

    fn priority(&self, number: usize) -> Priority {
        let resource = &self.graph.resources[number];
        let raised = resource.raised.filter(|_| self.laid_out.is_some());
        raised.unwrap_or(resource.priority)
    }

    /// Sends the requests that may go now, the most important first.
    fn dispatch(&mut self) {
        // A tie goes to the one that was asked for first.
        let mut order: Vec<usize> = (0..self.waiting.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(self.priority(self.waiting[*at])));
        let order: Vec<usize> = order.into_iter().map(|at| self.waiting[at]).collect();
        for number in order {
            if !self.is_held(number) && self.send(number) {
                self.waiting.retain(|one| *one != number);
            }
        }
    }

    /// Whether a request has to wait because the parser is still in the head. Requests of medium priority count only each other.
    fn is_held(&self, number: usize) -> bool {
        let priority = self.priority(number);
        if self.parser >= self.graph.body_at || priority >= Priority::High {
            return false;
        }
        let requested = |state: &&State| state.connection.is_some() && !state.is_done;
        let on_the_way = self.states.iter().filter(requested).count();
        let of_medium = (0..self.states.len()).filter(|other| self.priority(*other) == Priority::Medium);
        let medium = of_medium.filter(|other| requested(&&self.states[*other])).count();
        on_the_way >= TIGHT && (priority < Priority::Medium || medium >= TIGHT)
    }

    /// Sends a request over a free connection and returns true, or opens a connection and returns false.
    fn send(&mut self, number: usize) -> bool {
        let origin = self.graph.resources[number].origin;
        let is_multiplexed = self.setup.protocol != Protocol::Http1;
        let own = || self.sockets.iter().filter(|socket| socket.origin == origin);
        let is_free = |socket: &Socket| socket.is_open && (is_multiplexed || socket.carries == 0);
        // Of several, that which was used last: its window is the widest.
        let free = (0..self.sockets.len())
            .filter(|at| self.sockets[*at].origin == origin && is_free(&self.sockets[*at]))
            .max_by_key(|at| self.sockets[*at].carried);
        if let Some(free) = free {
            self.request(number, free);
            return true;
        }
        let opening = own().filter(|socket| !socket.is_open).count();
        let waiting = self.waiting.iter().filter(|one| self.graph.resources[**one].origin == origin).count();
        let most = if is_multiplexed { 1 } else { CONNECTIONS };
        // With the navigation, a second one is opened in advance.
        let wanted = if number == 0 { waiting + 1 } else { waiting };
        for _ in 0..wanted.saturating_sub(opening).min(most - own().count().min(most)) {
            let is_quic = self.setup.protocol == Protocol::Http3;
            let id = self.network.connect(!is_quic, self.setup.tls || is_quic);
            self.sockets.push(Socket { id, origin, is_open: false, carried: 0, carries: 0 });
        }
        false
    }

    fn request(&mut self, number: usize, socket: usize) {
        let resource = &self.graph.resources[number];
        let first = self.sockets[socket].carried == 0;
        let body = if self.repeats(number) == Repeat::Validate { 0.0 } else { resource.body_bytes };
        let (mut up, mut head) = (resource.request_bytes, resource.head_bytes);
        if self.setup.protocol != Protocol::Http1 {
            up *= if first { PACKED.0 } else { PACKED.1 };
            head *= PACKED.2;
        }
        let is_framed = self.setup.tls || self.setup.protocol == Protocol::Http3;
        let records = if is_framed { RECORD.0 * (body / RECORD.1).ceil() } else { 0.0 };
        let down = head + body + records;
        let priority = self.priority(number);
        let id = self.sockets[socket].id;
        self.network.request((id, number), (up, down), resource.server_ms, priority);
        self.sockets[socket].carried += 1;
        self.sockets[socket].carries += 1;
        self.bytes += head + body;
        let now = self.network.now();
        let state = &mut self.states[number];
        state.connection = Some(socket);
        state.expected = down.max(1.0);
        state.times = state.times.map(|times| ResourceTimes { requested_ms: Some(now), ..times });
    }

    /// Takes in bytes of a response.
    fn arrived(&mut self, number: usize, bytes: f64) {
        let now = self.network.now();
        let state = &mut self.states[number];
        // What is left of a last byte that was counted as whole.
        if state.is_done {
            return;
        }
        if let Some(times) = state.times.as_mut().filter(|_| state.got == 0.0) {
            times.first_byte_ms = now;
        }
        state.got += bytes;
        let is_over = state.got >= state.expected - 0.5;
        if is_over {
            if let Some(times) = &mut state.times {
                times.done_ms = now;
            }
            if let Some(socket) = state.connection {
                self.sockets[socket].carries -= 1;
            }
            self.done(number);
            self.dispatch();
        } else if number == 0 {
            self.look();
        }
    }

    /// A resource is there. What a script of the document does, it does when its turn comes.
    fn done(&mut self, number: usize) {
        self.states[number].is_done = true;
        let resource = &self.graph.resources[number];
        if !matches!(resource.run, Some(Run::Blocking | Run::Deferred)) {
            self.network.remind(resource.work_ms, Due::Applied(number));
        }
        self.look();
    }

    fn is_applied(&self, number: usize) -> bool {
        self.states[number].applied.is_some()
    }

    /// The share of the document that is there and may be looked at.
    fn document(&mut self) -> f64 {
        let state = &mut self.states[0];
        let Some(times) = state.times.filter(|_| state.got > 0.0 || state.is_done) else { return 0.0 };
        let left = times.first_byte_ms + self.graph.commit_ms - self.network.now();
        if left > 1e-9 {
            if !std::mem::replace(&mut state.is_running, true) {
                self.network.remind(left, Due::Look);
            }
            return 0.0;
        }
        if state.is_done { 1.0 } else { state.got / state.expected }
    }

    /// Does all that has become possible.
    fn look(&mut self) {
        let share = self.document();
        if share <= 0.0 {
            return;
        }
        loop {
            self.schedule(share);
            let before = (self.passed, self.parser.to_bits(), self.laid_out.is_some());
            self.parse(share);
            self.lay_out();
            if before == (self.passed, self.parser.to_bits(), self.laid_out.is_some()) {
                break;
            }
        }
        self.run_deferred(share);
        let now = self.network.now();
        let (first, largest) = (&self.graph.first, &self.graph.largest);
        if self.first.is_none() && self.can_paint(first, None) {
            self.first = Some(now);
        }
        if self.largest.is_none() && self.can_paint(&largest.paint, largest.image) {
            self.largest = Some(now);
        }
        if self.loaded.is_none() && self.parsed.is_some() && !self.is_load_held() {
            self.loaded = Some(now);
        }
        self.dispatch();
    }

    /// Asks for what has been found by now.
    fn schedule(&mut self, share: f64) {
        for (number, resource) in self.graph.resources.iter().enumerate() {
            if self.states[number].is_scheduled {
                continue;
            }
            let is_found = match resource.found {
                Found::Navigation => false,
                Found::Markup(at) => at <= share,
                Found::After(by) => self.is_applied(by),
                Found::Layout(by) => self.laid_out.is_some() && (by == 0 || self.is_applied(by)),
            };
            if is_found {
                self.states[number].is_scheduled = true;
                self.network.remind(resource.delay_ms, Due::Ask(number));
            }
        }
    }

    /// Moves the parser on, to the first script that has to be run and cannot.
    fn parse(&mut self, share: f64) {
        while let Some((at, script)) = self.stops.get(self.passed).copied().filter(|(at, _)| *at <= share) {
            self.parser = self.parser.max(at);
            let is_over = match script {
                None => self.are_sheets_applied(at),
                Some(number) => self.is_applied(number) || self.has_run(number, at),
            };
            if !is_over {
                return;
            }
            self.passed += 1;
        }
        self.parser = self.parser.max(share);
    }

    /// Whether all style sheets of the markup before a place have been applied, and what they import.
    fn are_sheets_applied(&self, before: f64) -> bool {
        let is_missing = |number: usize| !self.is_applied(number) && self.stands_before(number, before);
        let mut all = self.graph.resources.iter().enumerate();
        !all.any(|(number, one)| one.blocks_render && one.run.is_none() && is_missing(number))
    }

    /// Whether a resource stands before a place of the document, or is asked for by one that does and has had its effect.
    fn stands_before(&self, number: usize, place: f64) -> bool {
        match self.graph.resources[number].found {
            Found::Markup(at) => at <= place,
            Found::After(by) => self.is_applied(by) && self.stands_before(by, place),
            Found::Navigation | Found::Layout(_) => false,
        }
    }

    /// Runs a script that can be run; whether that is over.
    fn has_run(&mut self, number: usize, at: f64) -> bool {
        if !self.states[number].is_done || self.states[number].is_running || !self.are_sheets_applied(at) {
            return false;
        }
        self.states[number].is_running = true;
        let work_ms = self.graph.resources[number].work_ms;
        if work_ms > 0.0 {
            self.network.remind(work_ms, Due::Applied(number));
            return false;
        }
        self.states[number].applied = Some(self.network.now());
        true
    }

    /// The next script that is run after the document.
    fn deferred(&self) -> Option<usize> {
        let mut all = self.graph.resources.iter().enumerate();
        let next = all.find(|(number, one)| one.run == Some(Run::Deferred) && !self.is_applied(*number));
        next.map(|(number, _)| number)
    }

    fn run_deferred(&mut self, share: f64) {
        while share >= 1.0 && self.parser >= 1.0 {
            let Some(next) = self.deferred() else { break };
            if !self.has_run(next, 1.0) {
                return;
            }
        }
        if share >= 1.0 && self.parser >= 1.0 && self.passed == self.stops.len() && self.parsed.is_none() {
            self.parsed = Some(self.network.now());
        }
        self.schedule(share);
    }

    /// Whether all that blocks rendering, of what the parser has passed, is there.
    fn may_render(&self) -> bool {
        let mut all = self.graph.resources.iter().enumerate();
        let is_missing = |number: usize| !self.is_applied(number) && self.stands_before(number, self.parser);
        !all.any(|(number, one)| one.blocks_render && is_missing(number))
    }

    fn lay_out(&mut self) {
        if self.laid_out.is_some() || self.parser < self.graph.body_at || !self.may_render() {
            return;
        }
        self.laid_out = Some(self.network.now());
        for number in 0..self.states.len() {
            let state = self.states[number];
            if let (Some(raised), Some(socket)) = (self.graph.resources[number].raised, state.connection)
                && !state.is_done
            {
                self.network.reorder(self.sockets[socket].id, number, raised);
            }
        }
        let is_hidden = !self.graph.first.fonts.is_empty() || !self.graph.largest.paint.fonts.is_empty();
        if is_hidden {
            self.network.remind(FONT_MS, Due::Look);
        }
    }

    /// Whether all that an element needs is there.
    fn can_paint(&self, paint: &Paint, image: Option<usize>) -> bool {
        let Some(laid_out) = self.laid_out else { return false };
        let has_font = paint.fonts.is_empty()
            || paint.fonts.iter().any(|number| self.is_applied(*number))
            || self.network.now() >= laid_out + FONT_MS;
        let has_image = image.is_none_or(|number| self.is_applied(number));
        self.parser >= paint.at && has_font && has_image && self.may_render()
    }

    /// Whether the load event waits. What only the first layout wants it does not wait for before that was asked for.
    fn is_load_held(&self) -> bool {
        let mut all = self.graph.resources.iter().zip(&self.states);
        all.any(|(resource, state)| {
            let is_wanted = match resource.found {
                Found::Layout(_) => state.times.is_some(),
                _ => state.is_scheduled,
            };
            resource.blocks_load && is_wanted && state.applied.is_none()
        })
    }

    fn load(self) -> PageLoad {
        let end = self.network.now();
        let (first, largest) = (self.first.unwrap_or(end), self.largest.unwrap_or(end));
        let fcp_ms = first + self.graph.first.paint_ms;
        PageLoad {
            fcp_ms,
            lcp_ms: fcp_ms.max(largest + self.graph.largest.paint.paint_ms),
            load_ms: self.loaded.unwrap_or(end) + self.graph.load_ms,
            requests: self.sockets.iter().map(|socket| socket.carried).sum(),
            bytes: self.bytes,
            resources: self.states.iter().map(|state| state.times).collect(),
        }
    }
}
