//! A load at a server with known delays, and what was true of it.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weigh_load::plan::{Check, Length, Limits, LoadPlan, Protocol, Tls};
use weigh_load::result::{ClassResult, LoadResult};
use weigh_load::workload::{Defaults, of_urls};

use super::server::{Note, Script, Server};

/// A load.
pub struct Load {
    pub arrival: &'static str,
    pub connections: u32,
    pub seconds: f64,
}

/// What came of it.
pub struct Trial {
    pub result: LoadResult,
    /// Requests of the load as the server saw them, without those of the preflight.
    pub notes: Vec<Note>,
}

impl Trial {
    pub fn run(script: Script, load: &Load) -> Trial {
        let server = Server::start(script);
        let mut defaults = Defaults::default();
        defaults.stream.arrival = load.arrival.into();
        defaults.stream.connections = load.connections;
        let workload = of_urls(&[format!("http://{}/", server.address)], &defaults).unwrap();
        let plan = LoadPlan {
            requests: workload.requests,
            streams: workload.streams,
            protocol: Protocol::Http11,
            tls: Tls { insecure: false, authorities: None, resumption: true },
            length: Length { requests: None, seconds: Some(load.seconds) },
            limits: Limits::default(),
            check: Check::Verify { decode_every: 100, vary_by: Vec::new() },
            threads: 1,
            cpus: Vec::new(),
            slice_seconds: 1.0,
            seed: 1,
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
    /// The true response times of a constant rate in rising order: from the instant at which each request was due to that at
    /// which its response had left. Requests are sent in the order in which they are due, so that they arrive in it.
    pub fn true_responses(&self, rate: f64) -> Vec<Duration> {
        let began = self.result.began.expect("it ran in this process");
        let due = |number: usize| began + Duration::from_secs_f64(number as f64 / rate);
        let response = |(n, note): (usize, &Note)| note.written.map(|at| at - due(n));
        let mut all: Vec<Duration> = (0..).zip(&self.notes).filter_map(response).collect();
        all.sort_unstable();
        all
    }
}

/// The value at a quantile, as a histogram has it: the smallest that so many are not above.
pub fn quantile(sorted: &[Duration], q: f64) -> Duration {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}
