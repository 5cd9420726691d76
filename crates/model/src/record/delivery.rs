//! What one visit to a delivery observed: a block of requests to a private server, with the meters read right before and
//! right after it.
//!
//! The meters also see the responses of the preflight, which are of the same kind: what is said here is their reading times
//! the share of the block's responses in all that they saw, which [`DeliveryVisit::metered`] counts.

use serde::{Deserialize, Serialize};
use weigh_load::caveats::BUSY_SHARE;
use weigh_load::hist::Packed;
use weigh_load::result::{FaultCount, Preflight};

use super::fairness::Fairness;
use super::negotiation::Negotiation;
use crate::caveat::Caveat;
use crate::link::Measured;

/// One block of requests. Counters are over the whole block unless they say otherwise; a meter that is not there is null,
/// never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DeliveryVisit {
    /// Responses that ended as they should.
    pub requests: u64,
    /// Responses that the meters saw, those of the preflight with them.
    pub metered: u64,
    /// Requests that came before, unmetered, so that a fresh server and fresh workers found their caches.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warmed: u64,
    /// Seconds of wall time from the first send to the last byte.
    pub seconds: f64,
    /// CPU nanoseconds of the server's processes, in user space and in the kernel, without `idle`.
    pub server_cpu_ns: Option<u64>,
    /// CPU nanoseconds of PHP's processes, without `idle`; null without PHP.
    pub php_cpu_ns: Option<u64>,
    /// Of the server's CPU time that in user space, the rest is the kernel's: split as its processes' ticks of 10 ms are, which is right over
    /// all visits and not over one. Null in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_user_ns: Option<u64>,
    /// The same of PHP's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub php_user_ns: Option<u64>,
    /// What server and PHP use without load; null where nobody was metered, and in records of before, which have it in their CPU times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Idle>,
    /// CPU nanoseconds of the load generator.
    pub client_cpu_ns: u64,
    /// Share of a core that the busiest thread of the generator used, 0 to 1.
    pub client_share: f64,
    /// Bytes received over connections, without TLS: heads, framing and bodies.
    pub wire_bytes: u64,
    /// Bytes of heads.
    pub head_bytes: u64,
    /// Bytes of bodies without framing, in their content coding.
    pub body_bytes: u64,
    /// Bytes of bodies after decoding.
    pub decoded_bytes: u64,
    /// Responses whose body was compared byte for byte.
    pub compared: u64,
    /// Responses that were decoded in full.
    pub decoded: u64,
    /// Send → first byte of the response.
    pub ttfb: Packed,
    /// Send → last byte.
    pub service: Packed,
    /// Scheduled send → last byte.
    pub response: Packed,
    /// Context switches of the server's and PHP's processes, voluntary and involuntary.
    pub switches: Option<Switches>,
    /// Bytes that the server's and PHP's processes had read from disk.
    pub read_bytes: Option<u64>,
    /// Bytes that they had written to disk: responses spooled to temporary files.
    pub written_bytes: Option<u64>,
    /// Memory of the server's processes right after the block: PSS, bytes. It, and what follows up to `worker_peaks`, is read in one visit of a cell, whose
    /// server and workers had done nothing else; null in its other visits. Records of before have it in each, of a pool that others had used.
    pub server_pss: Option<u64>,
    /// Memory of PHP's processes right after the block: PSS, bytes.
    pub php_pss: Option<u64>,
    /// Pages of the server's processes that no other process maps, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_private: Option<u64>,
    /// The same of PHP's processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub php_private: Option<u64>,
    /// Pages of the server's processes that have no file behind them and are no shared memory, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_anonymous: Option<u64>,
    /// The same of PHP's processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub php_anonymous: Option<u64>,
    /// The most memory that each of the pool's workers had resident at once, the one that tells the status among them: VmHWM, bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worker_peaks: Vec<u64>,
    /// Bytes that PHP's memory manager had for one response at its peak, as PHP said.
    pub php_peak: Option<u64>,
    /// The workers of the PHP pool during the block; null without readings, which there are none of over a link.
    pub workers: Option<Workers>,
    /// What became of light requests beside slow clients; null without those. Then `requests` and the times are those of the light
    /// requests, and CPU times, bytes and memory those of the whole block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Fairness>,
    /// What the link between readers and server was measured as before its first use; null without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Box<Measured>>,
    /// The faults by kind, with one example each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultCount>,
    /// The first response, seen before the block.
    pub preflight: Preflight,
    /// What was answered to a matrix of requests after the block; once for a server and a way, where the study asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negotiation: Option<Box<Negotiation>>,
}

/// CPU time without load: server and PHP stood ready for a second, and nobody asked. Measured once a run for each server, and for each pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Idle {
    /// CPU nanoseconds of the server's processes, per second of wall time.
    pub server_per_second: f64,
    /// The same of PHP's processes, the reading of the pool's status among it where visits have it too; null without PHP.
    pub php_per_second: Option<f64>,
    /// CPU nanoseconds that were taken off the server's for it, in proportion to wall time.
    pub server_taken_ns: u64,
    /// CPU nanoseconds that were taken off PHP's.
    pub php_taken_ns: Option<u64>,
}

/// Context switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Switches {
    /// The process waited for something.
    pub voluntary: u64,
    /// The process was put aside for another.
    pub involuntary: u64,
}

/// The workers of a PHP pool over a block, from its status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Workers {
    /// Workers of the pool.
    pub total: u32,
    /// Most that were busy at once.
    pub busy_max: u32,
    /// Mean of those busy.
    pub busy_mean: f64,
    /// Fewest that were idle.
    pub idle_min: u32,
    /// Most connections that waited in the pool's listen queue.
    pub queue_max: u32,
    /// How often the status was read.
    pub readings: u32,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl DeliveryVisit {
    /// CPU nanoseconds of server and PHP a response; none when nobody's was read, or without a response.
    pub fn cpu_ns(&self) -> Option<f64> {
        let cpu = match (self.server_cpu_ns, self.php_cpu_ns) {
            (None, None) => return None,
            (server, php) => server.unwrap_or(0) as f64 + php.unwrap_or(0) as f64,
        };
        self.a_response(cpu)
    }

    /// Bytes of body a response, in their content coding, to the nearest.
    pub fn body(&self) -> u64 {
        self.a_response(self.body_bytes as f64).map_or(0, |bytes| bytes.round() as u64)
    }

    /// What a total of the block is a response; none without one.
    pub fn a_response(&self, total: f64) -> Option<f64> {
        (self.requests > 0).then(|| total / self.requests as f64)
    }

    /// Responses that were none, or wrong.
    pub fn faulted(&self) -> u64 {
        self.faults.iter().fold(0, |all, fault| all.saturating_add(fault.count))
    }
}

/// What to keep in mind of a cell after these visits.
pub fn caveats(visits: &[&DeliveryVisit]) -> Vec<Caveat> {
    let sum = |of: fn(&DeliveryVisit) -> u64| visits.iter().map(|v| of(v)).fold(0, u64::saturating_add);
    let share = visits.iter().map(|v| v.client_share).fold(0.0, f64::max);
    let busy = (share >= BUSY_SHARE).then_some(Caveat::GeneratorLimit { share });
    let faulted = sum(DeliveryVisit::faulted);
    let faulty = visits.iter().find_map(|v| v.faults.first()).map(|first| Caveat::FaultyResponses {
        faulted,
        requests: sum(|v| v.requests).saturating_add(faulted),
        example: first.example.message.clone(),
    });
    let is_deep = visits.iter().filter_map(|v| v.fairness.as_ref()).any(|fairness| !fairness.narrow);
    [busy, faulty, is_deep.then_some(Caveat::DeepBuffers)].into_iter().flatten().collect()
}
