//! Queries of the operating system: clocks, memory, limits, processors. Calls that exist only on Linux are all here.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

use crate::regular;

pub fn thread_cpu_seconds() -> f64 {
    seconds(ClockId::ThreadCPUTime)
}

/// Seconds for which this thread was ready but waited for a processor; none if the system does not report it.
pub fn thread_wait_seconds() -> Option<f64> {
    waited(&regular::system("/proc/thread-self/schedstat").ok()?)
}

/// The second number of `schedstat`: nanoseconds in a run queue. The first is nanoseconds on a processor, the third the
/// number of runs.
fn waited(schedstat: &str) -> Option<f64> {
    let ns: u64 = schedstat.split_whitespace().nth(1)?.parse().ok()?;
    Some(ns as f64 / 1e9)
}

/// CPU seconds of this process in user mode and in the kernel. The sum is exact; the split is counted in clock ticks.
pub fn process_cpu_seconds() -> (f64, f64) {
    let total = seconds(ClockId::ProcessCPUTime);
    let stat = regular::system("/proc/self/stat").unwrap_or_default();
    // The fields after the name, see proc(5): `utime` and `stime` are the 14th and 15th of the line.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11);
    let ticks: Vec<f64> = fields.take(2).filter_map(|f| f.parse().ok()).collect();
    match ticks[..] {
        [user, system] if user + system > 0.0 => {
            (total * user / (user + system), total * system / (user + system))
        }
        _ => (total, 0.0),
    }
}

fn seconds(clock: ClockId) -> f64 {
    let t = clock_gettime(clock);
    t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
}

/// The largest resident set of this process so far, in bytes; 0 if the system does not report it.
pub fn peak_rss_bytes() -> u64 {
    let status = regular::system("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or_default();
    let kilobytes = line.split_whitespace().next().and_then(|n| n.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// The priority of this process, 0 by default; above 0, others go first.
pub fn nice() -> i32 {
    nice_of(&regular::system("/proc/self/stat").unwrap_or_default()).unwrap_or(0)
}

/// The 19th field of the line, see proc(5); the name before it may hold blanks.
fn nice_of(stat: &str) -> Option<i32> {
    stat.rsplit(')').next()?.split_whitespace().nth(16)?.parse().ok()
}

/// Pins the calling thread to one processor.
///
/// # Errors
/// There is no such processor, or this process may not use it.
pub fn pin(cpu: u32) -> io::Result<()> {
    let mut set = CpuSet::new();
    if cpu as usize >= CpuSet::MAX_CPU {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    set.set(cpu as usize);
    Ok(sched_setaffinity(None, &set)?)
}

/// Raises the soft limit of open files to `wanted`, as far as the hard limit allows. Returns the limit, and the
/// previous one if it was raised.
///
/// # Errors
/// The hard limit, if it is lower than `wanted`.
pub fn make_room_for_files(wanted: u64) -> Result<Option<u64>, u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let before = current.unwrap_or(u64::MAX);
    if before >= wanted {
        return Ok(None);
    }
    if maximum.is_some_and(|hard| hard < wanted) {
        return Err(maximum.unwrap_or(u64::MAX));
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }).map_err(|_| before)?;
    Ok(Some(before))
}

/// Gives this thread the lowest priority, if the system has priorities per thread.
pub fn lowest_priority() {
    // Elsewhere this would change the priority of the whole process. If it fails, the priority stays unchanged.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 19);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn the_wait_is_the_second_number() {
        assert_eq!(waited("123456789 2500000000 42\n"), Some(2.5));
        assert_eq!(waited("0 0 0\n"), Some(0.0));
        assert_eq!(waited(""), None);
        assert_eq!(waited("1 - 2"), None);
    }

    #[test]
    fn the_priority_is_found_behind_any_name() {
        let rest = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 20 5 1 0";
        assert_eq!(nice_of(&format!("42 (a b) c) {rest}")), Some(5));
        assert_eq!(nice_of(""), None);
        let own = rustix::process::getpriority_process(None).unwrap();
        assert_eq!(nice(), own);
    }

    /// Uses this many seconds of its processor.
    fn burn(seconds: f64) {
        let until = thread_cpu_seconds() + seconds;
        while thread_cpu_seconds() < until {}
    }

    #[test]
    fn a_spinner_on_the_same_processor_is_waited_for() {
        let Some(allowed) = rustix::thread::sched_getaffinity(None).ok() else { return };
        let cpu = (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).unwrap() as u32;
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                pin(cpu).unwrap();
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            scope.spawn(|| {
                pin(cpu).unwrap();
                let before = thread_wait_seconds();
                // Half a second of a processor that two threads want is several turns of each.
                burn(0.5);
                let after = thread_wait_seconds();
                stop.store(true, Ordering::Relaxed);
                match (before, after) {
                    (Some(before), Some(after)) => assert!(after > before, "{before} {after}"),
                    _ => println!("skipped: this kernel has no schedstat"),
                }
            });
        });
    }
}
