//! The engine of a cluster as a child process: what it is told, what it says, and whom that is for.
//!
//! All that comes from it is bounded and parsed: a line that is none of its messages ends it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use super::afar::{self, Afar};
use super::message::{Node, Order, Said};
use super::{On, Want};
use weigh_model::text::{clean, clean_bytes};
use weigh_os::interrupt::Interrupt;
use weigh_os::process::{Heard, Silence, Worker, WorkerSpec};

/// A line of the engine holds a line of a worker as a JSON string, which may double it.
const LONGEST_LINE: usize = 513 << 20;
/// Nodes taken, and lines waiting for whoever hears a worker, in number and in bytes beyond the worker's longest.
const MOST_NODES: usize = 4096;
const MOST_LINES: usize = 65_536;
const MOST_BYTES: usize = 16 << 20;
const GLANCE: Duration = Duration::from_millis(50);
/// How long Ray may take to start beyond what nodes are waited for.
const START_LIMIT: Duration = Duration::from_secs(120);
/// How long the engine may take to end everything.
const END_LIMIT: Duration = Duration::from_secs(15);
/// The longest word about why something ended.
const WORDS: usize = 1000;
/// What of the user's environment is about clusters: their authentication, which is used and never turned off, and encryption.
const PASSED: [&str; 6] = [
    "RAY_AUTH_TOKEN",
    "RAY_AUTH_TOKEN_PATH",
    "RAY_USE_TLS",
    "RAY_TLS_SERVER_CERT",
    "RAY_TLS_SERVER_KEY",
    "RAY_TLS_CA_CERT",
];

/// A running engine. Dropping it ends all that it started.
#[derive(Debug)]
pub struct Engine {
    shared: Arc<Shared>,
    listener: Option<std::thread::JoinHandle<()>>,
}

/// What the engine's listener and those who use it have in common.
#[derive(Debug)]
pub(super) struct Shared {
    requests: Sender<Vec<u8>>,
    state: Mutex<State>,
    changed: Condvar,
    closing: AtomicBool,
    next: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    nodes: Option<Vec<Node>>,
    workers: HashMap<u64, Port>,
    /// By node and digest what came of each that was asked for; none: nothing yet.
    puts: HashMap<(String, String), Option<Result<PathBuf, String>>>,
    lost: BTreeMap<String, String>,
    ended: Option<String>,
}

/// Where the lines of a worker go.
#[derive(Debug)]
struct Port {
    node: String,
    lines: Sender<Vec<u8>>,
    waiting: Arc<Waiting>,
    longest: usize,
    how: Arc<Mutex<Option<String>>>,
}

/// Lines that nobody has heard yet.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    pub(super) lines: AtomicUsize,
    pub(super) bytes: AtomicUsize,
}

impl Engine {
    /// Starts the engine in `home` with this Python; `room` is its own folder.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(python: &Path, home: &Path, room: &Path) -> Result<Engine> {
        let args = vec!["-m".into(), "weigh_ray".into()];
        let mut spec = WorkerSpec::program("ray", python, args, room.join("log"));
        spec.longest_line = LONGEST_LINE;
        let set = PASSED.iter().filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
        spec.env.extend(set);
        let fixed = [
            ("PYTHONPATH", home.as_os_str()),
            ("WEIGH_RAY_DIR", room.as_os_str()),
            ("PYTHONDONTWRITEBYTECODE", "1".as_ref()),
            ("RAY_AUTH_MODE", "token".as_ref()),
            ("RAY_USAGE_STATS_ENABLED", "0".as_ref()),
            ("RAY_worker_niceness", "0".as_ref()),
            ("RAY_gcs_rpc_server_reconnect_timeout_s", "15".as_ref()),
        ];
        spec.env.extend(fixed.map(|(name, value)| (name.into(), value.to_owned())));
        let worker = Worker::start(&spec).context("the engine cannot be started")?;
        let requests = worker.requests().context("the engine has no input")?;
        let (state, changed, closing, next) = Default::default();
        let shared = Arc::new(Shared { requests, state, changed, closing, next });
        let listener = {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.listen(worker))
        };
        Ok(Engine { shared, listener: Some(listener) })
    }

    /// Takes nodes.
    ///
    /// # Errors
    /// One line: why there are none, or too few.
    pub fn open(&self, on: &On, want: Want, interrupt: &Interrupt) -> Result<Vec<Node>> {
        let Want { least, most, patience } = want;
        self.shared.say(&Order::Open { address: on.address(), least, most, seconds: patience.as_secs_f64() });
        let deadline = Instant::now() + patience + START_LIMIT;
        self.shared.wait_for(|state| match (&state.nodes, &state.ended) {
            (Some(nodes), _) => Some(Ok(nodes.clone())),
            (None, Some(why)) => Some(Err(anyhow!("--on {on}: {why}"))),
            (None, None) if interrupt.is_set() => Some(Err(anyhow!("interrupted; nothing was measured"))),
            (None, None) => (Instant::now() > deadline)
                .then(|| Err(anyhow!("--on {on}: the engine has not answered in time"))),
        })
    }

    /// See [`super::Cluster::put`].
    pub fn put(&self, node: &str, file: &Path, sha256: &str, limit: Duration) -> Result<PathBuf, String> {
        let key = (node.to_owned(), sha256.to_owned());
        // One that failed may be asked for again.
        let is_known = |put: &Option<Result<_, _>>| !matches!(put, Some(Err(_)));
        let known = self.shared.lock().puts.get(&key).is_some_and(is_known);
        if !known {
            self.shared.lock().puts.insert(key.clone(), None);
            self.shared.say(&Order::Put { node, file: file.to_owned(), sha256 });
        }
        let deadline = Instant::now() + limit;
        self.shared.wait_for(|state| match (state.why_gone(node), state.puts.get(&key)) {
            (Some(why), _) => Some(Err(why)),
            (None, Some(Some(put))) => Some(put.clone()),
            _ => (Instant::now() > deadline)
                .then(|| Err(format!("it is not there after {} s", limit.as_secs()))),
        })
    }

    /// Starts a worker. One that cannot be started shows as one that ends at once.
    pub fn worker(&self, node: &str, program: &Path, args: &[String], longest: usize) -> Worker {
        let worker = self.shared.next.fetch_add(1, Ordering::Relaxed) as u64;
        let how = Arc::new(Mutex::new(None));
        let (lines, said) = channel();
        let waiting = Arc::new(Waiting::default());
        {
            let mut state = self.shared.lock();
            match state.why_gone(node) {
                Some(why) => afar::tell(&how, why),
                None => {
                    let (node, waiting, how) = (node.to_owned(), Arc::clone(&waiting), Arc::clone(&how));
                    state.workers.insert(worker, Port { node, lines, waiting, longest, how });
                }
            }
        }
        self.shared.say(&Order::Start { worker, node, program: program.to_owned(), args });
        Afar::new(Arc::clone(&self.shared), node, worker, how).worker(said, waiting, longest)
    }

    /// Why a node is lost.
    pub fn why_lost(&self, node: &str) -> Option<String> {
        self.shared.lock().lost.get(node).cloned()
    }

    /// Why the engine has ended.
    pub fn why_ended(&self) -> Option<String> {
        self.shared.lock().ended.clone()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        self.shared.say(&Order::End);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
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

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is looked for, now or after a change of the state. It looks again after a moment, too, for what is not in the state.
    fn wait_for<T>(&self, mut look: impl FnMut(&State) -> Option<T>) -> T {
        let mut state = self.lock();
        loop {
            if let Some(found) = look(&state) {
                return found;
            }
            let waited = self.changed.wait_timeout(state, GLANCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn listen(&self, mut engine: Worker) {
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
        let said: Said = serde_json::from_slice(line).map_err(|e| {
            anyhow!("the engine said what is no message ({e}): {}", clean_bytes(&line[..line.len().min(80)]))
        })?;
        let mut state = self.lock();
        match said {
            Said::Nodes { nodes } => {
                if nodes.len() > MOST_NODES {
                    bail!("the engine named over {MOST_NODES} nodes");
                }
                state.nodes = Some(nodes.into_iter().map(Node::cleaned).collect());
            }
            Said::Put { node, sha256, path, why } => {
                let why = || words(&why.unwrap_or_else(|| "no reason was given".into()));
                let put = path.filter(|path| path.is_absolute()).ok_or_else(why);
                if let Some(asked) = state.puts.get_mut(&(node, sha256)) {
                    *asked = Some(put);
                }
            }
            Said::Line { worker, line } => state.pass_on(worker, line, self),
            Said::Ended { worker, how } => {
                if let Some(port) = state.workers.remove(&worker) {
                    afar::tell(&port.how, words(&how));
                }
            }
            Said::Lost { node, why } => {
                let why = format!("node {} was lost: {}", clean(&node), words(&why));
                state.drop_workers(|port| port.node == node, &why);
                if state.nodes.iter().flatten().any(|known| known.node == node) {
                    state.lost.insert(node, why);
                }
            }
            Said::Fault { why } => {
                state.ended.get_or_insert(words(&why));
            }
        }
        drop(state);
        self.changed.notify_all();
        Ok(())
    }
}

impl State {
    fn why_gone(&self, node: &str) -> Option<String> {
        self.ended.as_ref().or_else(|| self.lost.get(node)).cloned()
    }

    fn drop_workers(&mut self, which: impl Fn(&Port) -> bool, why: &str) {
        for (_, port) in self.workers.extract_if(|_, port| which(port)) {
            afar::tell(&port.how, why.to_owned());
        }
    }

    /// Passes a line on; a worker that says more than is heard is ended. Others are not kept waiting for it.
    fn pass_on(&mut self, worker: u64, line: String, shared: &Shared) {
        let Some(port) = self.workers.get(&worker) else { return };
        let lines = port.waiting.lines.fetch_add(1, Ordering::SeqCst);
        let bytes = port.waiting.bytes.fetch_add(line.len(), Ordering::SeqCst);
        if lines > MOST_LINES || bytes > MOST_BYTES + port.longest {
            afar::tell(&port.how, "it said more than was heard".into());
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
            [node, address, host, kind, system, machine].map(|text| words(text));
        Node { node, address, host, kind, system, machine, ..self }
    }
}

/// Words of the engine's, safe to print and not too many.
fn words(text: &str) -> String {
    clean(text).chars().take(WORDS).collect()
}

/// What a worker's lines pass before they are heard: too long ones are told from others.
pub(super) fn heard(line: Vec<u8>, longest: usize) -> Heard {
    if line.len() > longest { Heard::TooLong(line[..80].to_vec()) } else { Heard::Line(line) }
}

/// The receiving end of a worker's lines.
pub(super) type Lines = Receiver<Vec<u8>>;
