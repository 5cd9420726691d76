//! The engine of a cluster as a child process, and what it is told.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use super::afar::Afar;
use super::listener::{LONGEST_LINE, Port, Shared, Waiting, tell};
use super::message::{Node, Order};
use super::on::{On, Want};
use weigh_os::interrupt::Interrupt;
use weigh_os::process::{Worker, WorkerSpec};

/// How long Ray may take to start beyond what nodes are waited for.
const START_LIMIT: Duration = Duration::from_secs(120);
/// The parts of the user's environment that are about clusters: their authentication, which is used and never turned off, and encryption.
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
                Some(why) => tell(&how, why),
                None => {
                    let (node, waiting, how) = (node.to_owned(), Arc::clone(&waiting), Arc::clone(&how));
                    state.workers.insert(worker, Port { node, lines, waiting, longest, how });
                }
            }
        }
        self.shared.say(&Order::Start { worker, node, program: program.to_owned(), args });
        Afar::new(Arc::clone(&self.shared), node, worker, how).worker(said, waiting, longest)
    }

    pub fn why_lost(&self, node: &str) -> Option<String> {
        self.shared.lock().lost.get(node).cloned()
    }

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
