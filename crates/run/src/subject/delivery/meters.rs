//! The meters round a block: what server and pool used from right before it to right after it, and how much of that they use without load.

use std::time::{Duration, Instant};

use super::rigs::PoolKey;
use super::watch::{Reading, Watch, WatchReadings};
use weigh_model::record::delivery;
use weigh_os::group::{Group, Usage};
use weigh_os::idle::{Idle, Net};
use weigh_os::interrupt::Interrupt;

/// How long an idle block lasts.
const IDLE: Duration = Duration::from_secs(1);
/// How long what has just been started is left alone before.
const REST: Duration = Duration::from_millis(250);

/// Whom to meter, and the pool's status to watch meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Meters<G> {
    pub server: Group,
    /// PHP's; none without PHP.
    pub php: Option<Group>,
    /// Reads the pool's workers; none where they are not watched.
    pub gauge: Option<G>,
}

/// What the meters read over a block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Metered {
    pub server: Usage,
    /// PHP's processes; none without PHP.
    pub php: Option<Usage>,
    /// Seconds of wall time between the readings.
    pub seconds: f64,
    /// What both use without load.
    pub idle: IdleBaseline,
}

/// What a server and a pool use without load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IdleBaseline {
    pub server: Idle,
    pub php: Idle,
}

impl<G: FnMut() -> Option<Reading> + Send + 'static> Meters<G> {
    /// Meters while something is done: what that came to, the readings, and what the watch saw.
    pub fn over<T>(self, work: impl FnOnce() -> T) -> (T, Metered, WatchReadings) {
        let Meters { server, php, gauge } = self;
        let watch = gauge.map(Watch::begin);
        let read = || (server.usage(), php.map(|group| group.usage()));
        let (before, begun) = (read(), Instant::now());
        let done = work();
        let (seconds, after) = (begun.elapsed().as_secs_f64(), read());
        let seen = watch.map(Watch::end).unwrap_or_default();
        let php = after.1.zip(before.1).map(|(after, before)| after.since(&before));
        let metered =
            Metered { server: after.0.since(&before.0), php, seconds, idle: IdleBaseline::default() };
        (done, metered, seen)
    }
}

impl Metered {
    /// A reading of server and PHP together; none when the kernel does not tell.
    pub fn sum(&self, of: fn(&Usage) -> Option<u64>) -> Option<u64> {
        [Some(self.server), self.php].into_iter().flatten().map(|usage| of(&usage)).sum()
    }

    /// The server's CPU time without what it uses anyway.
    pub fn server_net(&self) -> Net {
        self.idle.server.taken_off(&self.server, self.seconds)
    }

    pub fn php_net(&self) -> Option<Net> {
        Some(self.idle.php.taken_off(&self.php?, self.seconds))
    }

    /// As a record has it. `of_block` cuts a total down to the block's part.
    pub fn idle(&self, of_block: impl Fn(u64) -> u64) -> delivery::Idle {
        delivery::Idle {
            server_per_second: self.idle.server.per_second(),
            php_per_second: self.php.map(|_| self.idle.php.per_second()),
            server_taken_ns: of_block(self.server_net().taken_ns),
            php_taken_ns: self.php_net().map(|php| of_block(php.taken_ns)),
        }
    }
}

/// What servers and pools of a run use without load, each measured once.
#[derive(Debug, Default)]
pub struct IdleBaselines {
    servers: Vec<(String, Idle)>,
    /// With whether they were watched, which is a part of what they use.
    pools: Vec<((PoolKey, bool), Idle)>,
}

impl IdleBaselines {
    /// What this server and this pool use, where both are known; without PHP there is no pool to know.
    pub fn known(&self, server: &str, pool: Option<&(PoolKey, bool)>) -> Option<IdleBaseline> {
        let (_, server) = self.servers.iter().find(|(name, _)| name == server)?;
        let php = match pool {
            Some(pool) => self.pools.iter().find(|(known, _)| known == pool)?.1,
            None => Idle::default(),
        };
        Some(IdleBaseline { server: *server, php })
    }

    /// Meters a server and a pool that stand ready and are asked nothing, for 1.25 seconds; none when the user wants the run to end.
    pub fn measure<G: FnMut() -> Option<Reading> + Send + 'static>(
        &mut self,
        server: &str,
        pool: Option<&(PoolKey, bool)>,
        meters: Meters<G>,
        interrupt: &Interrupt,
    ) -> Option<IdleBaseline> {
        let baseline = measure_idle(meters, interrupt)?;
        if self.servers.iter().all(|(name, _)| name != server) {
            self.servers.push((server.to_owned(), baseline.server));
        }
        if let Some(pool) = pool.filter(|pool| self.pools.iter().all(|(known, _)| known != *pool)) {
            self.pools.push((pool.clone(), baseline.php));
        }
        self.known(server, pool)
    }
}

/// What a server and a pool use that are asked nothing, for 1.25 seconds; none when the user wants the run to end.
pub fn measure_idle<G: FnMut() -> Option<Reading> + Send + 'static>(
    meters: Meters<G>,
    interrupt: &Interrupt,
) -> Option<IdleBaseline> {
    interrupt.wait(REST)?;
    let (whole, metered, _) = meters.over(|| interrupt.wait(IDLE));
    whole?;
    let of = |usage: &Usage| Idle { cpu_ns: usage.cpu_ns, seconds: metered.seconds };
    Some(IdleBaseline { server: of(&metered.server), php: metered.php.as_ref().map(of).unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::delivery::rigs::Opcache;

    fn pool_key(runtime: &str) -> PoolKey {
        PoolKey { runtime: runtime.into(), workers: 8, opcache: Opcache::Preloaded }
    }

    #[test]
    fn a_part_that_is_known_is_not_measured_again() {
        let idle = |cpu_ns| Idle { cpu_ns, seconds: 1.0 };
        let mut baselines = IdleBaselines { servers: vec![("nginx".into(), idle(1))], pools: Vec::new() };
        let pool = (pool_key("php8.2"), true);
        assert_eq!(
            baselines.known("nginx", None),
            Some(IdleBaseline { server: idle(1), php: Idle::default() })
        );
        assert_eq!(baselines.known("nginx", Some(&pool)), None);
        baselines.pools.push((pool.clone(), idle(2)));
        assert_eq!(
            baselines.known("nginx", Some(&pool)),
            Some(IdleBaseline { server: idle(1), php: idle(2) })
        );
        assert_eq!(
            baselines.known("nginx", Some(&(pool_key("php8.2"), false))),
            None,
            "a watch costs the pool time"
        );
        assert_eq!(baselines.known("apache", Some(&pool)), None);
    }

    #[test]
    fn a_run_that_is_to_end_measures_nothing() {
        let interrupt = Interrupt::new();
        interrupt.set();
        let server = Group::of(std::process::id());
        let meters: Meters<fn() -> Option<Reading>> = Meters { server, php: None, gauge: None };
        let mut baselines = IdleBaselines::default();
        assert_eq!(baselines.measure("nginx", None, meters, &interrupt), None);
        assert_eq!(baselines.known("nginx", None), None);
    }

    #[test]
    fn what_is_taken_off_is_told_and_cut_to_the_block() {
        let usage = |cpu_ns| Usage { cpu_ns, user_ns: cpu_ns / 2, system_ns: cpu_ns / 2, ..Usage::default() };
        let metered = Metered {
            server: usage(10_000),
            php: Some(usage(50_000)),
            seconds: 2.0,
            idle: IdleBaseline {
                server: Idle { cpu_ns: 1_000, seconds: 1.0 },
                php: Idle { cpu_ns: 10_000, seconds: 0.5 },
            },
        };
        assert_eq!((metered.server_net().cpu_ns, metered.server_net().user_ns), (8_000, 4_000));
        assert_eq!(metered.php_net().map(|net| net.cpu_ns), Some(10_000));
        let told = metered.idle(|total| total / 2);
        assert_eq!((told.server_per_second, told.php_per_second), (1_000.0, Some(20_000.0)));
        assert_eq!((told.server_taken_ns, told.php_taken_ns), (1_000, Some(20_000)));
    }
}
