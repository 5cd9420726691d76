//! Assigns processors: a thread that spins before an instant must not be on the processor where another one is to be
//! woken.

use rustix::thread::{CpuSet, sched_getaffinity};

/// The processors that this process may use, by their numbers.
pub fn allowed() -> Vec<u32> {
    let set = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect()
}

/// The server's and the client's processor; none if there is only one processor.
pub fn places() -> Option<(u32, u32)> {
    let allowed = allowed();
    Some((*allowed.first()?, *allowed.get(1)?))
}
