//! The loads of a calibration, and the plan of each.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Setup;
use crate::plan::{Check, Length, Limits, LoadPlan, Protocol, Request, Stream, Tls};

/// Connections over all threads.
const CONNECTIONS: u32 = 100;
/// Path and length in bytes of each body.
const BODIES: [(&str, u64); 3] = [("/1k", 1 << 10), ("/16k", 16 << 10), ("/500k", 500 << 10)];

/// One way to load the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Load {
    /// Bytes of every body.
    pub body_bytes: u64,
    /// Every response is compared byte for byte; else bodies are dropped by the kernel.
    pub verified: bool,
    /// Connections are kept; else each request opens one.
    pub keepalive: bool,
    /// Threads of the generator, each on a processor of its own.
    pub threads: u32,
    /// A thread may have run on the target's processor: the rates are then lower than two machines would reach, and the
    /// CPU time a request is a little higher.
    pub shares_cores: bool,
}

/// Every body length, verified and discarded, with and without keepalive, by one thread and by one on each processor.
pub fn loads(setup: &Setup) -> Vec<Load> {
    let mut threads = vec![1, u32::try_from(setup.cpus.len()).unwrap_or(u32::MAX).max(1)];
    threads.dedup();
    let mut loads = Vec::new();
    for threads in threads {
        for keepalive in [true, false] {
            for verified in [true, false] {
                let shares_cores = setup.shares_cores(threads);
                let load = |body_bytes| Load { body_bytes, verified, keepalive, threads, shares_cores };
                loads.extend(BODIES.map(|(_, bytes)| load(bytes)));
            }
        }
    }
    loads
}

impl Setup {
    fn shares_cores(&self, threads: u32) -> bool {
        self.target_cpu.is_none_or(|cpu| self.cpus.iter().take(threads as usize).any(|c| *c == cpu))
    }
}

impl Load {
    /// The plan of one block of it.
    pub fn plan(&self, setup: &Setup) -> LoadPlan {
        let path = BODIES.iter().find(|b| b.1 == self.body_bytes).map_or("/", |b| b.0);
        let check = Check::Verify { decode_every: 1, vary_by: Vec::new() };
        LoadPlan {
            requests: vec![Request {
                name: path.to_owned(),
                url: format!("http://{}{path}", setup.target),
                method: "GET".to_owned(),
                headers: Vec::new(),
                body: Vec::new(),
                weight: 1.0,
                class: "calibration".to_owned(),
                stream: 0,
            }],
            streams: vec![Stream {
                name: "calibration".to_owned(),
                arrival: "closed".to_owned(),
                connections: CONNECTIONS.max(self.threads),
                streams_per_connection: 1,
                keepalive: self.keepalive,
                read_rate: None,
                abandon_after: None,
                receive_buffer: None,
            }],
            protocol: Protocol::Http11,
            tls: Tls { insecure: false, authorities: None, resumption: false },
            length: Length { requests: None, seconds: Some(setup.seconds) },
            limits: Limits::default(),
            check: if self.verified { check } else { Check::Discard },
            threads: self.threads,
            cpus: setup.cpus.iter().copied().take(self.threads as usize).collect(),
            slice_seconds: 1.0,
            seed: setup.seed,
        }
    }
}

/// As in `1 KB, verified, kept connections, 1 thread`.
impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.body_bytes >> 10;
        let check = if self.verified { "verified" } else { "discarded" };
        let way = if self.keepalive { "kept connections" } else { "a connection a request" };
        let many = if self.threads == 1 { "" } else { "s" };
        write!(f, "{size} KB, {check}, {way}, {} thread{many}", self.threads)
    }
}
