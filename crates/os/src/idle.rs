//! What processes use while nobody asks anything of them, and what is left of a reading without it.

use crate::group::Usage;

/// CPU time of a group of processes over a block without load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Idle {
    /// CPU nanoseconds.
    pub cpu_ns: u64,
    /// Seconds of wall time.
    pub seconds: f64,
}

/// A reading without what the group would have used anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Net {
    /// CPU nanoseconds.
    pub cpu_ns: u64,
    /// Of it in user space, in the proportion of the reading.
    pub user_ns: u64,
    /// CPU nanoseconds that were taken off.
    pub taken_ns: u64,
}

impl Idle {
    /// CPU nanoseconds per second of wall time; 0 where nobody was watched.
    pub fn per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.cpu_ns as f64 / self.seconds } else { 0.0 }
    }

    /// What was used over this many seconds of wall time, without the idle part of them; never less than nothing.
    pub fn taken_off(&self, usage: &Usage, seconds: f64) -> Net {
        let taken_ns = ((self.per_second() * seconds).round() as u64).min(usage.cpu_ns);
        let cpu_ns = usage.cpu_ns - taken_ns;
        let user = if usage.cpu_ns > 0 { usage.user_ns as f64 / usage.cpu_ns as f64 } else { 0.0 };
        Net { cpu_ns, user_ns: ((cpu_ns as f64 * user).round() as u64).min(cpu_ns), taken_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(cpu_ns: u64, user_ns: u64) -> Usage {
        Usage { cpu_ns, user_ns, system_ns: cpu_ns - user_ns, ..Usage::default() }
    }

    #[test]
    fn an_idle_group_has_used_nothing_and_a_loaded_one_what_is_beyond() {
        let idle = Idle { cpu_ns: 3_000_000, seconds: 1.5 };
        assert_eq!(idle.per_second(), 2_000_000.0);
        assert_eq!(idle.taken_off(&used(1_000_000, 0), 0.5), Net { taken_ns: 1_000_000, ..Net::default() });
        let loaded = Net { cpu_ns: 8_000_000, user_ns: 6_000_000, taken_ns: 1_000_000 };
        assert_eq!(idle.taken_off(&used(9_000_000, 6_750_000), 0.5), loaded);
    }

    #[test]
    fn less_than_idle_is_nothing_and_without_an_idle_block_nothing_is_taken_off() {
        let idle = Idle { cpu_ns: 3_000_000, seconds: 1.5 };
        assert_eq!(idle.taken_off(&used(400, 400), 1.0), Net { taken_ns: 400, ..Net::default() });
        let all = Net { cpu_ns: 400, user_ns: 300, taken_ns: 0 };
        assert_eq!(Idle::default().taken_off(&used(400, 300), 9.0), all);
    }
}
