//! The one thread that decodes, apart from those that measure.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::{io, thread};

use super::checker::Evidence;
use super::expectation::Expectations;
use crate::fault::Fault;
use crate::sys;

/// Bodies that may wait; their bytes are bounded as well.
const QUEUE: usize = 1024;

/// The way to the thread that decodes; it ends when the last of these is dropped.
#[derive(Clone, Debug)]
pub struct Decoder {
    jobs: SyncSender<Job>,
}

/// A body to decode.
#[derive(Debug)]
pub(super) struct Job {
    pub number: u64,
    pub evidence: Evidence,
    pub expectations: Arc<Expectations>,
    pub reply: Sender<Reply>,
    pub over: Arc<AtomicBool>,
}

/// What became of it: its decoded length, or what is wrong.
#[derive(Debug)]
pub(super) struct Reply {
    pub number: u64,
    pub verdict: Result<u64, Fault>,
    pub decode_ns: u64,
}

impl Decoder {
    /// Starts the thread. It has the lowest priority where a thread can have one of its own, and inherits the processors of
    /// the caller: call this from a thread that is not pinned.
    ///
    /// # Errors
    /// When there can be no further thread.
    pub fn start() -> io::Result<Decoder> {
        let (jobs, waiting) = sync_channel(QUEUE);
        thread::Builder::new().name("weigh-decode".into()).spawn(move || work(&waiting))?;
        Ok(Decoder { jobs })
    }

    /// A decoder that never comes to anything.
    #[cfg(test)]
    pub(super) fn stuck(queue: usize) -> (Decoder, Receiver<Job>) {
        let (jobs, waiting) = sync_channel(queue);
        (Decoder { jobs }, waiting)
    }

    /// Takes a job if there is room for it; never waits.
    pub(super) fn take(&self, job: Job) -> bool {
        self.jobs.try_send(job).is_ok()
    }
}

fn work(jobs: &Receiver<Job>) {
    sys::lowest_priority();
    for Job { number, evidence, expectations, reply, over } in jobs {
        if over.load(Ordering::Relaxed) {
            continue;
        }
        let Evidence { request, coding, capture } = evidence;
        let before = sys::thread_cpu_seconds();
        let verdict = expectations.judge(request, coding, capture.bytes());
        let seconds = sys::thread_cpu_seconds() - before;
        drop(capture);
        // Nobody listens any more when the run was given up.
        let _ = reply.send(Reply { number, verdict, decode_ns: (seconds * 1e9) as u64 });
    }
}
