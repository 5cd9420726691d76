//! A worker on a node: its lines go by the engine, and it is used as a local one is.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::listener::{Lines, Shared, SharedEnding, Waiting, cut_line, tell};
use super::message::Order;
use weigh_os::process::{Body, Worker};

/// How often a wait looks.
const GLANCE: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(super) struct Afar {
    shared: Arc<Shared>,
    node: String,
    worker: u64,
    how: SharedEnding,
}

impl Afar {
    pub(super) fn new(shared: Arc<Shared>, node: &str, worker: u64, how: SharedEnding) -> Afar {
        Afar { shared, node: node.to_owned(), worker, how }
    }

    /// A worker whose lines these are. Two threads carry them; each ends with its channel.
    pub(super) fn worker(self, said: Lines, waiting: Arc<Waiting>, longest: usize) -> Worker {
        let (requests, orders) = channel::<Vec<u8>>();
        let (shared, node, worker) = (Arc::clone(&self.shared), self.node.clone(), self.worker);
        std::thread::spawn(move || {
            let node = node.as_str();
            for line in orders {
                let line = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(&line));
                shared.say(&Order::Line { worker, node, line: &line });
            }
            shared.say(&Order::Close { worker, node });
        });
        let (replies, hears) = sync_channel(1);
        std::thread::spawn(move || {
            for line in said {
                let length = line.len();
                if replies.send(cut_line(line, longest)).is_err() {
                    return;
                }
                waiting.lines.fetch_sub(1, Ordering::SeqCst);
                waiting.bytes.fetch_sub(length, Ordering::SeqCst);
            }
        });
        Worker::of(requests, hears, Box::new(self))
    }
}

impl Body for Afar {
    fn id(&self) -> Option<u32> {
        None
    }

    fn ended(&mut self, patience: Duration) -> Option<String> {
        let deadline = Instant::now() + patience;
        loop {
            let how = self.how.lock().unwrap_or_else(PoisonError::into_inner).clone();
            if how.is_some() || Instant::now() > deadline {
                return how;
            }
            std::thread::sleep(GLANCE);
        }
    }

    /// They are in how it ended.
    fn last_words(&self) -> Option<String> {
        None
    }

    fn kill(&mut self) {
        if self.ended(Duration::ZERO).is_none() {
            self.shared.say(&Order::Kill { worker: self.worker, node: &self.node });
            tell(&self.how, "it was killed".into());
        }
        self.shared.forget(self.worker);
    }
}
