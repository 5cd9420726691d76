//! Work on many things by all cores, and memory that what is done at the same time shares.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex, PoisonError};

/// Does `work` for each thing, in their order, by at most `threads` threads, each with a state of its own; `done` is told of each result by the
/// calling thread, and ends everything with `false`.
pub fn each<T: Sync, S, R: Send>(
    threads: usize,
    things: &[T],
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
    mut done: impl FnMut(&T, R) -> bool,
) {
    let next = AtomicUsize::new(0);
    let (send, receive) = channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, things.len().max(1)) {
            let (send, next, state, work) = (send.clone(), &next, &state, &work);
            scope.spawn(move || {
                let mut own = state();
                while let Some(thing) = things.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if send.send((thing, work(&mut own, thing))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        for (thing, result) in receive {
            if !done(thing, result) {
                next.store(things.len(), Ordering::Relaxed);
            }
        }
    });
}

/// Memory in bytes that may be in use at the same time.
#[derive(Debug)]
pub struct Memory {
    all: u64,
    free: Mutex<u64>,
    freed: Condvar,
}

/// A part of it that is in use.
#[derive(Debug)]
pub struct Share<'m> {
    of: &'m Memory,
    bytes: u64,
}

impl Memory {
    /// This many bytes.
    pub fn new(all: u64) -> Memory {
        Memory { all, free: Mutex::new(all), freed: Condvar::new() }
    }

    /// Waits until this much is free; whoever wants more than all gets all.
    pub fn share(&self, bytes: u64) -> Share<'_> {
        let bytes = bytes.min(self.all);
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.freed.wait_while(free, |free| *free < bytes);
        *waited.unwrap_or_else(PoisonError::into_inner) -= bytes;
        Share { of: self, bytes }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        *self.of.free.lock().unwrap_or_else(PoisonError::into_inner) += self.bytes;
        self.of.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once_and_an_end_is_heeded() {
        let things: Vec<usize> = (0..1000).collect();
        let mut sum = 0;
        each(
            4,
            &things,
            || (),
            |(), thing| thing * 2,
            |_, doubled| {
                sum += doubled;
                true
            },
        );
        assert_eq!(sum, 999_000);
        let mut seen = 0;
        each(
            1,
            &things,
            || (),
            |(), _| std::thread::sleep(std::time::Duration::from_millis(1)),
            |_, ()| {
                seen += 1;
                false
            },
        );
        assert!((1..1000).contains(&seen), "{seen}");
    }

    #[test]
    fn memory_is_shared_and_who_wants_more_than_all_gets_it_alone() {
        let memory = Memory::new(10);
        let (in_use, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        each(
            4,
            &[4_u64, 4, 4, 99, 4, 4],
            || (),
            |(), bytes| {
                let share = memory.share(*bytes);
                let now = in_use.fetch_add(share.bytes as usize, Ordering::SeqCst) + share.bytes as usize;
                most.fetch_max(now, Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_millis(3));
                in_use.fetch_sub(share.bytes as usize, Ordering::SeqCst);
            },
            |_, ()| true,
        );
        assert_eq!(most.load(Ordering::SeqCst), 10);
    }
}
