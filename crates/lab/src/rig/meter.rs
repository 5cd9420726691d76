//! Meters of the machine beside what is measured. A meter that is not there reads `None`, never zero.

/// The processors' time since boot, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTimes {
    /// All of it.
    pub total: u64,
    /// What the hypervisor gave to others.
    pub steal: u64,
}

impl CpuTimes {
    /// Reads the meter: `/proc/stat` on Linux.
    pub fn read() -> Option<CpuTimes> {
        CpuTimes::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// The first line is `cpu user nice system idle iowait irq softirq steal guest guest_nice`; the two last are
    /// parts of the two first (proc(5)).
    fn parse(stat: &str) -> Option<CpuTimes> {
        let fields = stat.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = fields.split_whitespace().map_while(|f| f.parse().ok()).collect();
        Some(CpuTimes { steal: *ticks.get(7)?, total: ticks.iter().take(8).sum() })
    }

    /// The share of all processor time since `earlier` that was stolen, 0 to 1; `None` when none went by.
    pub fn steal_share_since(self, earlier: CpuTimes) -> Option<f64> {
        let total = self.total.checked_sub(earlier.total).filter(|&t| t > 0)?;
        Some(self.steal.saturating_sub(earlier.steal) as f64 / total as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_a_share_of_all_time() {
        let before = CpuTimes::parse("cpu  10 0 10 80 0 0 0 0 5 0\ncpu0 1 1 1\n").unwrap();
        let after = CpuTimes::parse("cpu  20 0 20 130 0 0 0 30 9 0\n").unwrap();
        assert_eq!(before, CpuTimes { total: 100, steal: 0 });
        assert_eq!(after.steal_share_since(before), Some(0.3));
        assert_eq!(after.steal_share_since(after), None);
        assert_eq!(before.steal_share_since(after), None);
    }

    #[test]
    fn a_kernel_that_does_not_tell_reads_none() {
        assert_eq!(CpuTimes::parse("cpu  10 0 10 80\n"), None);
        assert_eq!(CpuTimes::parse(""), None);
    }
}
