//! Meters of the machine beside what is measured. A meter that is not there reads `None`, never zero.

use crate::regular;
use rustix::thread::{CpuSet, sched_getaffinity};
use weigh_model::record::steal::Steal;

/// What processors spent since boot, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// At work: programs, the kernel, interrupts.
    pub busy: u64,
    /// Wanted, and given to others by the hypervisor.
    pub steal: u64,
}

impl CpuTimes {
    /// Reads the meter of the processors that this process may use, and all that it starts with it: `/proc/stat` on Linux.
    pub fn read() -> Option<CpuTimes> {
        let allowed = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
        let is_used = |cpu: usize| cpu < CpuSet::MAX_CPU && allowed.is_set(cpu);
        CpuTimes::parse(&regular::system("/proc/stat").ok()?, is_used)
    }

    /// A line is `cpuN user nice system idle iowait irq softirq steal guest guest_nice`; the two last are parts of the two
    /// first (proc(5)). Processors that are switched off have none.
    fn parse(stat: &str, is_used: impl Fn(usize) -> bool) -> Option<CpuTimes> {
        let lines = stat.lines().filter_map(|line| line.strip_prefix("cpu")?.split_once(' '));
        let used = lines.filter(|(cpu, _)| cpu.parse().is_ok_and(&is_used));
        used.map(|(_, fields)| CpuTimes::of_line(fields)).reduce(|a, b| {
            let (a, b) = (a?, b?);
            Some(CpuTimes { busy: a.busy + b.busy, steal: a.steal + b.steal })
        })?
    }

    fn of_line(fields: &str) -> Option<CpuTimes> {
        let ticks: Vec<u64> = fields.split_whitespace().map_while(|f| f.parse().ok()).collect();
        let &[user, nice, system, _idle, _iowait, irq, softirq, steal, ..] = &ticks[..] else { return None };
        Some(CpuTimes { busy: user + nice + system + irq + softirq, steal })
    }

    /// What was spent and stolen since `earlier`; `None` when neither was.
    pub fn since(self, earlier: CpuTimes) -> Option<Steal> {
        let tick = 1.0 / rustix::param::clock_ticks_per_second().max(1) as f64;
        let seconds = |now: u64, then: u64| Some(now.checked_sub(then)? as f64 * tick);
        let (busy, stolen) = (seconds(self.busy, earlier.busy)?, seconds(self.steal, earlier.steal)?);
        (busy + stolen > 0.0).then(|| Steal::of(busy, stolen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "cpu  99 9 9 99 9 9 9 9 0 0\ncpu0 10 0 10 80 0 0 0 0 5 0\ncpu1 0 0 0 9 0 0 0 50 0 0\ncpu3 1 1 1 0 7 1 1 0 0 0\nintr 1\n";
    const AFTER: &str = "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 20 0 20 130 0 0 0 30 9 0\ncpu1 0 0 0 9 0 0 0 90 0 0\ncpu3 1 1 1 0 7 6 6 0 0 0\n";

    #[test]
    fn steal_is_a_share_of_what_was_wanted_of_the_processors_that_are_used() {
        let read = |stat: &str, used: &[usize]| CpuTimes::parse(stat, |cpu| used.contains(&cpu)).unwrap();
        assert_eq!(read(BEFORE, &[0, 3]), CpuTimes { busy: 25, steal: 0 });
        let steal = read(AFTER, &[0, 3]).since(read(BEFORE, &[0, 3])).unwrap();
        // 20 ticks of processor 0 and 10 of interrupts on processor 3; 30 were stolen.
        assert_eq!(steal.share(), 0.5);
        assert_eq!(read(AFTER, &[1]).since(read(BEFORE, &[1])).unwrap().share(), 1.0);
        assert_eq!(read(AFTER, &[0]).since(read(AFTER, &[0])), None, "nothing went by");
        assert_eq!(read(BEFORE, &[0]).since(read(AFTER, &[0])), None, "that is not earlier");
    }

    #[test]
    fn a_kernel_that_does_not_tell_reads_none() {
        assert_eq!(CpuTimes::parse("cpu  10 0 10 80\ncpu0 10 0 10 80\n", |_| true), None);
        assert_eq!(CpuTimes::parse("", |_| true), None);
    }
}
