//! What one visit to a delivery observed: a block of requests to a private server. Meters are read just before and just
//! after it.
//!
//! The meters also see the responses of the preflight, which are of the same kind. Values here are therefore the
//! meters' readings × the block's share of all responses that they saw; [`DeliveryVisit::metered`] is the number of
//! these.

use serde::{Deserialize, Serialize};
use weigh_load::caveats::{BUSY_SHARE, off_littles_law};
use weigh_load::result::{FaultCount, Preflight};
use weigh_stats::hist::Packed;

use super::fairness::Fairness;
use super::negotiation::Negotiation;
use crate::caveat::Caveat;
use crate::link::Measured;

/// One block of requests. Counters cover the whole block unless they say otherwise. Values that cannot be read are
/// null, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DeliveryVisit {
    /// Responses without a failure.
    pub requests: u64,
    /// Responses that the meters saw, with those of the preflight.
    pub metered: u64,
    /// Warm-up requests before the meters were read, so that a new server and new workers had filled their caches.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warmed: u64,
    /// Seconds of wall time from the first send to the last byte.
    pub seconds: f64,
    /// CPU nanoseconds of the server's processes, in user space and in the kernel, without `idle`.
    pub server_cpu_ns: Option<u64>,
    /// CPU nanoseconds of PHP's processes, without `idle`; null without PHP.
    pub php_cpu_ns: Option<u64>,
    /// The part of the server's CPU time in user space; the rest is in the kernel. The split follows ticks of 10 ms, so
    /// it is right over all visits but not in one. Null in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_user_ns: Option<u64>,
    /// The same for PHP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub php_user_ns: Option<u64>,
    /// CPU time of server and PHP without load. Null where no CPU time was read, and in older records, whose CPU times
    /// include it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Idle>,
    /// CPU nanoseconds of the load generator.
    pub client_cpu_ns: u64,
    /// Share of a core that the busiest thread of the generator used, 0 to 1.
    pub client_share: f64,
    /// Bytes received over connections, without TLS: headers, framing and bodies.
    pub wire_bytes: u64,
    /// Bytes of headers.
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
    /// Bytes that the server's and PHP's processes read from disk.
    pub read_bytes: Option<u64>,
    /// Bytes that they wrote to disk: responses buffered in temporary files.
    pub written_bytes: Option<u64>,
    /// Memory of the server's processes right after the block: PSS, bytes. This field and those up to `worker_peaks`
    /// are read in one visit per cell, whose server and workers had done nothing else; null in other visits. Older
    /// records have them in each visit, from a pool that other cells had used.
    pub server_pss: Option<u64>,
    /// Memory of PHP's processes right after the block: PSS, bytes.
    pub php_pss: Option<u64>,
    /// Memory of the server's processes that no other process maps, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_private: Option<u64>,
    /// The same for PHP's processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub php_private: Option<u64>,
    /// Anonymous memory of the server's processes, without shared memory, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_anonymous: Option<u64>,
    /// The same for PHP's processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub php_anonymous: Option<u64>,
    /// The peak resident memory of each worker of the pool, with the one that reports the status: VmHWM, bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worker_peaks: Vec<u64>,
    /// Peak of PHP's memory manager for one response in bytes, as PHP reports it.
    pub php_peak: Option<u64>,
    /// The workers of the PHP pool during the block; null without readings, as over a link.
    pub workers: Option<Workers>,
    /// Light requests that ran beside slow clients; null without these. If set, `requests` and the times are those of
    /// the light requests; CPU times, bytes and memory are those of the whole block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Fairness>,
    /// The link between clients and server as measured before its first use; null without a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Box<Measured>>,
    /// Failures by kind, with one example each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultCount>,
    /// The first response, seen before the block.
    pub preflight: Preflight,
    /// Responses to the negotiation matrix after the block; once for each server and method, where the study requests
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negotiation: Option<Box<Negotiation>>,
}

/// CPU time without load: server and PHP were ready for a second without requests. Measured once per run for each
/// server and each pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Idle {
    /// CPU nanoseconds of the server's processes, per second of wall time.
    pub server_per_second: f64,
    /// The same for PHP, with the pool's status requests if visits have these too; null without PHP.
    pub php_per_second: Option<f64>,
    /// CPU nanoseconds subtracted from the server's CPU time, in proportion to wall time.
    pub server_taken_ns: u64,
    /// CPU nanoseconds subtracted from PHP's CPU time.
    pub php_taken_ns: Option<u64>,
}

/// Context switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Switches {
    /// Voluntary: the process waited.
    pub voluntary: u64,
    /// Involuntary: the kernel gave the processor to another process.
    pub involuntary: u64,
}

/// The workers of a PHP pool during a block, from the pool's status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Workers {
    /// Workers of the pool.
    pub total: u32,
    /// The most workers that were busy at once.
    pub busy_max: u32,
    /// Mean number of busy workers.
    pub busy_mean: f64,
    /// The fewest idle workers.
    pub idle_min: u32,
    /// The most connections that waited in the pool's listen queue.
    pub queue_max: u32,
    /// Number of status readings.
    pub readings: u32,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl DeliveryVisit {
    /// CPU nanoseconds of server and PHP per response; none if no CPU time was read, or without a response.
    pub fn cpu_ns(&self) -> Option<f64> {
        let cpu = match (self.server_cpu_ns, self.php_cpu_ns) {
            (None, None) => return None,
            (server, php) => server.unwrap_or(0) as f64 + php.unwrap_or(0) as f64,
        };
        self.a_response(cpu)
    }

    /// Bytes of body per response in their content coding, rounded.
    pub fn body(&self) -> u64 {
        self.a_response(self.body_bytes as f64).map_or(0, |bytes| bytes.round() as u64)
    }

    /// A total of the block per response; none without a response.
    pub fn a_response(&self, total: f64) -> Option<f64> {
        (self.requests > 0).then(|| total / self.requests as f64)
    }

    /// The requests in flight, if rate and response times contradict that each of `connections` had one at all times: see
    /// [`off_littles_law`]. Not of light requests beside slow clients, which come at a rate.
    fn off_littles_law(&self, connections: u32) -> Option<f64> {
        let response = self.response.unpack().ok().filter(|_| self.fairness.is_none())?;
        let unknown = self.faulted() as f64 * self.seconds;
        off_littles_law(u64::from(connections), &response, self.seconds, 1.0, unknown)
    }

    pub fn faulted(&self) -> u64 {
        self.faults.iter().fold(0, |all, fault| all.saturating_add(fault.count))
    }
}

/// The caveat of visits whose rate and response times contradict the number of connections.
pub fn littles_law(visits: &[&DeliveryVisit], connections: u32) -> Option<Caveat> {
    let off: Vec<f64> = visits.iter().filter_map(|visit| visit.off_littles_law(connections)).collect();
    let distance = |in_flight: &f64| (in_flight / f64::from(connections)).ln().abs();
    let in_flight = off.iter().copied().max_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    Some(Caveat::LittlesLaw { in_flight, connections, visits: off.len() as u32, of: visits.len() as u32 })
}

/// Caveats of a cell after these visits.
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
