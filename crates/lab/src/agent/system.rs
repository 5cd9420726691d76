//! The calls that only some systems have: the thread's CPU clock, context switches, peak memory. Elsewhere
//! each says that it cannot tell. No other file of the worker asks the system for these.

use std::fs;

/// CPU time (user and system) of this thread in nanoseconds, where there is a clock for it.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub fn thread_cpu_ns() -> Option<u64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// CPU time (user and system) of this thread in nanoseconds, where there is a clock for it.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn thread_cpu_ns() -> Option<u64> {
    None
}

/// Involuntary context switches of this thread so far; 0 where the system does not count them.
pub fn preempted() -> u64 {
    field("/proc/thread-self/status", "nonvoluntary_ctxt_switches:").unwrap_or(0)
}

/// The start of a measurement of peak memory.
pub struct Baseline(u64);

impl Baseline {
    /// Gives freed memory back and sets the peak to what is resident now; `None` where the system has no
    /// peak that can be set back.
    pub fn set() -> Option<Baseline> {
        if !weigh_codec::memory::trim() {
            return None;
        }
        // "5" sets VmHWM to the resident set, see proc(5), /proc/PID/clear_refs.
        fs::write("/proc/self/clear_refs", "5").ok()?;
        field("/proc/self/status", "VmHWM:").map(Baseline)
    }

    /// How many bytes the resident set has risen above the start at its peak.
    pub fn risen(self) -> Option<u64> {
        let peak = field("/proc/self/status", "VmHWM:")?;
        Some(peak.saturating_sub(self.0) * 1024)
    }
}

/// The number behind a name in a status file; sizes are in KiB there.
fn field(path: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_passes_with_work() {
        let start = thread_cpu_ns().unwrap();
        let mut x = 0u64;
        while thread_cpu_ns().unwrap() == start {
            x = std::hint::black_box(x + 1);
        }
    }

    #[test]
    fn fields_are_read() {
        assert!(field("/proc/self/status", "VmHWM:").unwrap() > 0);
        assert_eq!(field("/proc/self/status", "NoSuchField:"), None);
        assert_eq!(field("/proc/no-such-file", "VmHWM:"), None);
    }
}
