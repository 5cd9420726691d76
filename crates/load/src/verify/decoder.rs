//! The thread that decodes, separate from those that measure.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::{io, thread};

use super::checker::Evidence;
use super::expectation::{Expectations, Judged};
use crate::fault::HttpFault;
use crate::sys;

/// The most bodies that wait; their bytes are limited, too.
const QUEUE: usize = 1024;

/// The handle of the decoding thread; the thread ends when the last handle is dropped.
#[derive(Clone, Debug)]
pub struct Decoder {
    orders: SyncSender<Order>,
}

/// A job of the thread.
#[derive(Debug)]
pub(super) enum Order {
    Decode(Job),
    /// A thread of this load has no more bodies.
    End(Arc<Expectations>),
}

#[derive(Debug)]
pub(super) struct Job {
    pub number: u64,
    pub evidence: Evidence,
    pub expectations: Arc<Expectations>,
    pub reply: Sender<Reply>,
    pub over: Arc<AtomicBool>,
}

/// Who waits for the result of a body.
#[derive(Debug)]
pub(super) struct Waiting {
    number: u64,
    reply: Sender<Reply>,
    decode_ns: u64,
}

impl Waiting {
    /// Sends the result; nobody receives it if the run was aborted.
    pub fn tell(self, verdict: Result<u64, HttpFault>) {
        let Waiting { number, reply, decode_ns } = self;
        let _ = reply.send(Reply { number, verdict, decode_ns });
    }
}

/// The result: the decoded length, or what is wrong.
#[derive(Debug)]
pub(super) struct Reply {
    pub number: u64,
    pub verdict: Result<u64, HttpFault>,
    pub decode_ns: u64,
}

impl Decoder {
    /// Starts the thread. It has the lowest priority if the system has priorities per thread, and inherits the
    /// processors of the caller: call this from a thread that is not pinned.
    ///
    /// # Errors
    /// No further thread can be started.
    pub fn start() -> io::Result<Decoder> {
        let (orders, waiting) = sync_channel(QUEUE);
        thread::Builder::new().name("weigh-decode".into()).spawn(move || work(&waiting))?;
        Ok(Decoder { orders })
    }

    /// A decoder that never decodes.
    #[cfg(test)]
    pub(super) fn stuck(queue: usize) -> (Decoder, Receiver<Order>) {
        let (orders, waiting) = sync_channel(queue);
        (Decoder { orders }, waiting)
    }

    /// Takes a job if there is room for it; never waits.
    pub(super) fn take(&self, job: Job) -> bool {
        self.orders.try_send(Order::Decode(job)).is_ok()
    }

    /// One of the threads of this load sends no more bodies. The message is queued after earlier bodies; if the queue
    /// is full, it takes effect at once.
    pub(super) fn end(&self, expectations: &Arc<Expectations>) {
        if self.orders.try_send(Order::End(Arc::clone(expectations))).is_err() {
            expectations.end();
        }
    }
}

fn work(orders: &Receiver<Order>) {
    sys::lowest_priority();
    for order in orders {
        let Job { number, evidence, expectations, reply, over } = match order {
            Order::Decode(job) => job,
            Order::End(expectations) => {
                expectations.end();
                continue;
            }
        };
        if over.load(Ordering::Relaxed) {
            continue;
        }
        let Evidence { request, coding, capture } = evidence;
        let before = sys::thread_cpu_seconds();
        let judged = expectations.judge(request, coding, capture.bytes());
        let seconds = sys::thread_cpu_seconds() - before;
        drop(capture);
        let waiting = Waiting { number, reply, decode_ns: (seconds * 1e9) as u64 };
        match judged {
            Judged::Told(verdict) => waiting.tell(verdict),
            Judged::Other(body, fault) => expectations.changed(request, body, fault, waiting),
        }
    }
}
