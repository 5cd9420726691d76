//! What the engine says, who waits for it, and whom its lines are for.
//!
//! All that comes from it is bounded and parsed: a line that is none of its messages ends it.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};

use super::message::{EngineMessage, Node, Order};
use weigh_model::text::{clean, clean_bytes};
use weigh_os::process::{OutputLine, Silence, Worker};

/// A line of the engine holds a line of a worker as a JSON string, which may double it.
pub(super) const LONGEST_LINE: usize = 513 << 20;
/// Nodes taken, and lines waiting for whoever hears a worker, in number and in bytes beyond the worker's longest.
const MOST_NODES: usize = 4096;
const MOST_LINES: usize = 65_536;
const MOST_BYTES: usize = 16 << 20;
/// How long the engine may take to end everything.
const END_LIMIT: Duration = Duration::from_secs(15);
/// The longest word about why something ended.
const WORDS: usize = 1000;
const GLANCE: Duration = Duration::from_millis(50);

/// How something ended, once it has.
pub(super) type SharedEnding = Arc<Mutex<Option<String>>>;

/// Says how it ended, if nobody has.
pub(super) fn tell(how: &SharedEnding, words: String) {
    how.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(words);
}

/// What the engine's listener and those who use it have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) requests: Sender<Vec<u8>>,
    pub(super) state: Mutex<State>,
    pub(super) changed: Condvar,
    pub(super) closing: AtomicBool,
    pub(super) next: AtomicUsize,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) nodes: Option<Vec<Node>>,
    pub(super) workers: HashMap<u64, Port>,
    /// By node and digest what came of each that was asked for; none: nothing yet.
    pub(super) puts: HashMap<(String, String), Option<Result<PathBuf, String>>>,
    pub(super) lost: BTreeMap<String, String>,
    pub(super) ended: Option<String>,
}

/// Where the lines of a worker go.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) node: String,
    pub(super) lines: Sender<Vec<u8>>,
    pub(super) waiting: Arc<Waiting>,
    pub(super) longest: usize,
    pub(super) how: SharedEnding,
}

/// Lines that nobody has heard yet.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) lines: AtomicUsize,
    pub(super) bytes: AtomicUsize,
}

impl Shared {
    /// Tells the engine; one that has ended hears nothing.
    pub(super) fn say(&self, order: &Order<'_>) {
        if let Ok(mut line) = serde_json::to_vec(order) {
            line.push(b'\n');
            let _ = self.requests.send(line);
        }
    }

    /// Nobody hears that worker any more.
    pub(super) fn forget(&self, worker: u64) {
        self.lock().workers.remove(&worker);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is looked for, now or after a change of the state. It looks again after a moment, too, for what is not in the state.
    pub(super) fn wait_for<T>(&self, mut look: impl FnMut(&State) -> Option<T>) -> T {
        let mut state = self.lock();
        loop {
            if let Some(found) = look(&state) {
                return found;
            }
            let waited = self.changed.wait_timeout(state, GLANCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(super) fn listen(&self, mut engine: Worker) {
        let mut until = None;
        let why = loop {
            match engine.hear(GLANCE) {
                Ok(Some(line)) => {
                    if let Err(error) = self.take(&line) {
                        break format!("{error:#}");
                    }
                }
                Ok(None) => {}
                Err(Silence::TooLong(_)) => {
                    break format!("the engine said a line of over {LONGEST_LINE} bytes");
                }
                Err(Silence::Ended(how)) => break format!("the engine ended: {how}"),
                Err(_) => break "the engine ended".into(),
            }
            if self.closing.load(Ordering::SeqCst) {
                let until = *until.get_or_insert_with(|| Instant::now() + END_LIMIT);
                if Instant::now() > until {
                    break "the engine did not end in time".into();
                }
            }
        };
        // Kills it: what it started is told by the kernel.
        drop(engine);
        let mut state = self.lock();
        // A fault that it told before says more.
        let why = state.ended.get_or_insert(why).clone();
        state.drop_workers(|_| true, &format!("the cluster is lost: {why}"));
        drop(state);
        self.changed.notify_all();
    }

    fn take(&self, line: &[u8]) -> Result<()> {
        let said: EngineMessage = serde_json::from_slice(line).map_err(|e| {
            anyhow!("the engine said what is no message ({e}): {}", clean_bytes(&line[..line.len().min(80)]))
        })?;
        let mut state = self.lock();
        match said {
            EngineMessage::Nodes { nodes } => {
                if nodes.len() > MOST_NODES {
                    bail!("the engine named over {MOST_NODES} nodes");
                }
                state.nodes = Some(nodes.into_iter().map(Node::cleaned).collect());
            }
            EngineMessage::Put { node, sha256, path, why } => {
                let why = || shorten_message(&why.unwrap_or_else(|| "no reason was given".into()));
                let put = path.filter(|path| path.is_absolute()).ok_or_else(why);
                if let Some(asked) = state.puts.get_mut(&(node, sha256)) {
                    *asked = Some(put);
                }
            }
            EngineMessage::Line { worker, line } => state.pass_on(worker, line, self),
            EngineMessage::Ended { worker, how } => {
                if let Some(port) = state.workers.remove(&worker) {
                    tell(&port.how, shorten_message(&how));
                }
            }
            EngineMessage::Lost { node, why } => {
                let why = format!("node {} was lost: {}", clean(&node), shorten_message(&why));
                state.drop_workers(|port| port.node == node, &why);
                if state.nodes.iter().flatten().any(|known| known.node == node) {
                    state.lost.insert(node, why);
                }
            }
            EngineMessage::Fault { why } => {
                state.ended.get_or_insert(shorten_message(&why));
            }
        }
        drop(state);
        self.changed.notify_all();
        Ok(())
    }
}

impl State {
    pub(super) fn why_gone(&self, node: &str) -> Option<String> {
        self.ended.as_ref().or_else(|| self.lost.get(node)).cloned()
    }

    fn drop_workers(&mut self, which: impl Fn(&Port) -> bool, why: &str) {
        for (_, port) in self.workers.extract_if(|_, port| which(port)) {
            tell(&port.how, why.to_owned());
        }
    }

    /// Passes a line on; a worker that says more than is heard is ended. Others are not kept waiting for it.
    fn pass_on(&mut self, worker: u64, line: String, shared: &Shared) {
        let Some(port) = self.workers.get(&worker) else { return };
        let lines = port.waiting.lines.fetch_add(1, Ordering::SeqCst);
        let bytes = port.waiting.bytes.fetch_add(line.len(), Ordering::SeqCst);
        if lines > MOST_LINES || bytes > MOST_BYTES + port.longest {
            tell(&port.how, "it said more than was heard".into());
            shared.say(&Order::Kill { worker, node: &port.node });
            self.workers.remove(&worker);
        } else {
            let _ = port.lines.send(line.into_bytes());
        }
    }
}

impl Node {
    /// With nothing in its words that moves a cursor.
    fn cleaned(self) -> Node {
        let Node { node, address, host, kind, system, machine, .. } = &self;
        let [node, address, host, kind, system, machine] =
            [node, address, host, kind, system, machine].map(|text| shorten_message(text));
        Node { node, address, host, kind, system, machine, ..self }
    }
}

/// Words of the engine's, safe to print and not too many.
fn shorten_message(text: &str) -> String {
    clean(text).chars().take(WORDS).collect()
}

/// What a worker's lines pass before they are heard: too long ones are told from others.
pub(super) fn cut_line(line: Vec<u8>, longest: usize) -> OutputLine {
    if line.len() > longest { OutputLine::TooLong(line[..80].to_vec()) } else { OutputLine::Line(line) }
}

/// The receiving end of a worker's lines.
pub(super) type Lines = Receiver<Vec<u8>>;
