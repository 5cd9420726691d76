//! Simulated queues whose capacity is known.

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weigh_load::capacity::{Limit, SLICES};
use weigh_load::result::LoadResult;

use crate::simulated::timeline;

/// The service time in seconds of a single server.
pub const SERVICE: f64 = 0.01;

/// How many times as long a cold server takes.
const COLD: f64 = 10.0;

/// Servers that take requests in the order of their arrival.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// The servers.
    pub servers: usize,
    /// The mean service time in seconds.
    pub service: f64,
    /// Whether service times are exponential, or all the same.
    pub is_exponential: bool,
    /// Whether requests are a Poisson stream, or evenly spaced.
    pub is_poisson: bool,
    /// The first requests of all are served by cold servers.
    pub cold: usize,
    /// The first requests of each step are, too: the servers cool down between steps.
    pub cools: usize,
    /// The share of steps in which the generator is late.
    pub busy: f64,
}

impl Queue {
    /// M/D/c, which serves 100 per second.
    pub fn of(servers: usize) -> Queue {
        let service = SERVICE * servers as f64;
        Queue { servers, service, is_exponential: false, is_poisson: true, cold: 0, cools: 0, busy: 0.0 }
    }

    /// D/D/1.
    pub fn even() -> Queue {
        Queue { is_poisson: false, ..Queue::of(1) }
    }

    /// Steps at a rate for some seconds.
    pub fn server(self, seed: u64) -> impl FnMut(f64, f64) -> LoadResult {
        let (mut random, mut served) = (ChaCha8Rng::seed_from_u64(seed), 0);
        move |rate, seconds| {
            let is_busy = random.random::<f64>() < self.busy;
            let mut requests = self.requests(rate, seconds, &mut served, &mut random);
            if is_busy {
                requests.iter_mut().for_each(|(_, end)| *end += 0.2);
            }
            let mut result = timeline(seconds, SLICES as usize, &requests);
            if is_busy {
                requests.iter().for_each(|_| result.client.lateness.record(200_000_000));
            }
            result
        }
    }

    /// When requests were due, and when they ended.
    fn requests(
        &self,
        rate: f64,
        seconds: f64,
        served: &mut usize,
        random: &mut ChaCha8Rng,
    ) -> Vec<(f64, f64)> {
        let mut exponential = || -(1.0 - random.random::<f64>()).ln();
        let mut free: VecDeque<f64> = vec![0.0; self.servers].into();
        let (mut now, mut requests) = (0.0, Vec::new());
        while now < seconds {
            let is_cold = *served < self.cold || requests.len() < self.cools;
            let service = if self.is_exponential { exponential() } else { 1.0 } * self.service;
            let first = free.pop_front().unwrap_or_default();
            let end = first.max(now) + service * if is_cold { COLD } else { 1.0 };
            let place = free.partition_point(|other| *other < end);
            free.insert(place, end);
            requests.push((now, end));
            *served += 1;
            now += if self.is_poisson { exponential() } else { 1.0 } / rate;
        }
        requests
    }

    /// The highest rate at which the warm servers keep a limit in the steady state, from a long simulation.
    pub fn knee(&self, limit: Limit) -> f64 {
        let warm = Queue { cold: 0, cools: 0, ..*self };
        let is_kept = |rate: f64| {
            let requests = warm.requests(rate, 200_000.0 / rate, &mut 0, &mut ChaCha8Rng::seed_from_u64(99));
            let over = requests.iter().filter(|(due, end)| end - due > limit.seconds).count();
            (over as f64) < (1.0 - limit.quantile) * requests.len() as f64
        };
        let most = self.servers as f64 / self.service;
        let halved = |(low, high): (f64, f64), _| {
            let middle = (low + high) / 2.0;
            if is_kept(middle) { (middle, high) } else { (low, middle) }
        };
        (0..10).fold((most / 10.0, most), halved).0
    }
}
