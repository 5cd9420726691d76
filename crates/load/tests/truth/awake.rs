//! Keeps processors awake: waking one takes a virtual machine a tenth of a millisecond, which is not part of a response
//! time. The threads that keep them awake also notice when they were away.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use thread_priority::ThreadPriority;
use thread_priority::unix::{
    NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};

use super::absence::Absences;
use super::places::allowed;
use super::witness::Witness;

/// Threads that spin as long as this value lives, and yield at once to any other thread.
pub struct Awake {
    over: Arc<AtomicBool>,
    /// By processor.
    threads: Vec<(u32, Arc<Mutex<Absences>>, JoinHandle<()>)>,
}

impl Awake {
    /// One on each processor: with two on one, the other would sleep.
    ///
    /// # Errors
    /// One line, if a thread could delay others: then it does not spin.
    pub fn begin() -> Result<Awake, String> {
        let (say, said) = channel();
        let mut awake = Awake { over: Arc::default(), threads: Vec::new() };
        for cpu in allowed() {
            let (absences, over, say) = (Arc::default(), Arc::clone(&awake.over), say.clone());
            let thread = std::thread::spawn({
                let absences = Arc::clone(&absences);
                move || {
                    let placed = place(cpu);
                    let spins = placed.is_ok();
                    // The receiver waits below.
                    let _ = say.send(placed);
                    if spins {
                        spin(cpu, &absences, &over);
                    }
                }
            });
            awake.threads.push((cpu, absences, thread));
        }
        said.iter().take(awake.threads.len()).collect::<Result<(), String>>().map(|()| awake)
    }

    /// When a processor was away so far; empty for one that is not kept awake.
    pub fn absences(&self, cpu: u32) -> Absences {
        let of = self.threads.iter().find(|(own, ..)| *own == cpu);
        of.map(|(_, absences, _)| absences.lock().unwrap().clone()).unwrap_or_default()
    }
}

/// Pins this thread to a processor, with a lower priority than every other thread.
fn place(cpu: u32) -> Result<(), String> {
    let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle)
        .map_err(|e| format!("no class for threads that matter least: {e}"))?;
    weigh_load::sys::pin(cpu).map_err(|e| format!("processor {cpu}: {e}"))
}

fn spin(cpu: u32, absences: &Mutex<Absences>, over: &AtomicBool) {
    let mut witness = Witness::of(cpu);
    while !over.load(Ordering::Relaxed) {
        if let Some(absence) = witness.look() {
            absences.lock().unwrap().push(absence);
        }
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for (.., thread) in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[test]
fn a_processor_is_kept_awake_by_a_thread_behind_every_other() {
    let awake = Awake::begin().expect("the class is for everybody");
    assert_eq!(awake.threads.len(), allowed().len());
    assert!(awake.threads.iter().all(|(.., thread)| !thread.is_finished()));
    assert_eq!(awake.absences(u32::MAX), Absences::default(), "of no processor of ours nothing is known");
    // The scheduling class is the 41st number of stat, see proc(5): 5 is SCHED_IDLE.
    let class =
        |stat: String| stat.rsplit(") ").next().and_then(|after| after.split(' ').nth(38).map(str::to_owned));
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let stats = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("stat")).ok());
    assert_eq!(stats.filter_map(class).filter(|class| class == "5").count(), awake.threads.len());
}
