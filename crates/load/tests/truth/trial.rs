//! A load on a server with known delays, with the true times.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use weigh_load::plan::{Check, Length, LoadPlan};
use weigh_load::result::{ClassResult, LoadResult};
use weigh_load::workload::{Defaults, of_urls};

use super::places::places;
use super::server::{Note, Script, Server};

/// A load.
pub struct Load {
    pub arrival: &'static str,
    pub connections: u32,
    pub seconds: f64,
}

/// The results.
pub struct Trial {
    pub result: LoadResult,
    /// Requests of the load in the server's records, without those of the preflight.
    pub notes: Vec<Note>,
}

impl Trial {
    pub fn run(script: Script, load: &Load) -> Trial {
        let places = places();
        let server = Server::start(script, places.map(|(server, _)| server));
        let mut defaults = Defaults::default();
        defaults.stream.arrival = load.arrival.into();
        defaults.stream.connections = load.connections;
        let workload = of_urls(&[format!("http://{}/", server.address)], &defaults).unwrap();
        let plan = LoadPlan {
            requests: workload.requests,
            streams: workload.streams,
            length: Length { requests: None, seconds: Some(load.seconds) },
            check: Check::Verify { decode_every: 100, vary_by: Vec::new() },
            cpus: places.iter().map(|(_, client)| *client).collect(),
            ..LoadPlan::default()
        };
        let result = weigh_load::run(&plan, &mut |_| {}, &AtomicBool::new(false)).unwrap();
        let notes = server.end();
        let before = notes.len() - result.classes[0].counts.sent as usize;
        Trial { result, notes: notes[before..].to_vec() }
    }

    /// The only class.
    pub fn class(&self) -> &ClassResult {
        &self.result.classes[0]
    }
}

impl Trial {
    /// The true response times of a constant rate in ascending order: from the scheduled instant of each request until
    /// its response had left. Requests are sent in the order of the schedule, so they arrive in this order.
    pub fn true_responses(&self, rate: f64) -> Vec<Duration> {
        self.since_due(rate, |_, note| note.left.as_ref().map(|left| left.end))
    }

    /// How long after the scheduled instant requests of a constant rate were read, ascending. The first is left out: it
    /// waits for the first connection.
    pub fn arrivals(&self, rate: f64) -> Vec<Duration> {
        self.since_due(rate, |number, note| (number > 0).then_some(note.arrived))
    }

    fn since_due(&self, rate: f64, end: impl Fn(usize, &Note) -> Option<Instant>) -> Vec<Duration> {
        let began = self.result.due.expect("it ran in this process");
        let due = |number: usize| began + Duration::from_secs_f64(number as f64 / rate);
        let since = |(n, note): (usize, &Note)| end(n, note).map(|at| at.saturating_duration_since(due(n)));
        let mut all: Vec<Duration> = (0..).zip(&self.notes).filter_map(since).collect();
        all.sort_unstable();
        all
    }
}

/// The value at a quantile, as in a histogram: the smallest value that this share of the values does not exceed.
pub fn quantile(sorted: &[Duration], q: f64) -> Duration {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}
