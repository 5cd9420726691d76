//! Processors that do not go to sleep: to be woken takes a virtual machine a tenth of a millisecond, which is no part of a response time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use thread_priority::unix::{
    NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

use super::places::allowed;

/// Threads that spin for as long as this lives, and step aside at once for any other.
pub struct Awake {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Awake {
    /// One on each processor: two on one would let the other sleep. None where the system has no class for threads that matter least:
    /// they would be in the way.
    pub fn begin() -> Awake {
        let over = Arc::new(AtomicBool::new(false));
        let spin = |cpu: u32, over: Arc<AtomicBool>| {
            let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
            let zero = ThreadPriority::Crossplatform(ThreadPriorityValue::MIN);
            let is_last = set_thread_priority_and_policy(thread_native_id(), zero, idle).is_ok();
            let is_there = weigh_load::sys::pin(cpu).is_ok();
            while is_last && is_there && !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        let threads = allowed()
            .into_iter()
            .map(|cpu| {
                let over = Arc::clone(&over);
                std::thread::spawn(move || spin(cpu, over))
            })
            .collect();
        Awake { over, threads }
    }
}

/// Puts this thread, and each that it starts from now on, ahead of every usual one; whether the system allows it.
pub fn ahead() -> bool {
    let first = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let low = ThreadPriorityValue::try_from(10).map(ThreadPriority::Crossplatform);
    low.is_ok_and(|low| set_thread_priority_and_policy(thread_native_id(), low, first).is_ok())
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
