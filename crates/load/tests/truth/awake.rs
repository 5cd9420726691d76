//! Processors that do not go to sleep: to be woken takes a virtual machine a tenth of a millisecond, which is no part of a response time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use thread_priority::unix::{
    NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// Threads that spin for as long as this lives, and step aside at once for any other.
pub struct Awake {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Awake {
    /// One for each processor. None where the system has no class for threads that matter least: they would be in the way.
    pub fn begin() -> Awake {
        let over = Arc::new(AtomicBool::new(false));
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = |over: Arc<AtomicBool>| {
            let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
            let zero = ThreadPriority::Crossplatform(ThreadPriorityValue::MIN);
            let is_idle = set_thread_priority_and_policy(thread_native_id(), zero, idle).is_ok();
            while is_idle && !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        let threads = (0..count)
            .map(|_| {
                let over = Arc::clone(&over);
                std::thread::spawn(move || spin(over))
            })
            .collect();
        Awake { over, threads }
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
