//! A cluster with a worker's place on each of its nodes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::engine::Engine;
use super::environment::Environment;
use super::message::Node;
use super::on::{On, Want};
use weigh_content::defs::Definitions;
use weigh_os::digest;
use weigh_os::interrupt::Interrupt;
use weigh_os::process::{SharedWorkerHost, Worker, WorkerHost, WorkerSpec};
use weigh_os::shelter::Shelter;
use weigh_run::lab::Progress;
use weigh_run::subject::codec::sweep::Site;

/// Bytes of the path of an own cluster's folder, at most: a socket in it adds 64 (`/session_DATE_TIME_ID/sockets/plasma_store`), and may have 107.
const LONGEST_ROOM: usize = 43;
/// How long a file may take to a node.
const PUT_LIMIT: Duration = Duration::from_secs(600);

pub struct Opening<'a> {
    /// The engines among the definitions.
    pub definitions: &'a Definitions,
    pub cache: &'a Path,
    /// Hears what takes a moment.
    pub progress: &'a mut dyn Progress,
    /// The user wants an end.
    pub interrupt: &'a Interrupt,
}

/// A cluster with a worker's place on each of its nodes. When it is dropped, what was started on them ends, and the cluster too if it is
/// this process's own. Clones are the same cluster.
#[derive(Clone, Debug)]
pub struct Cluster(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    engine: Engine,
    nodes: Vec<Node>,
    /// This program's file and its digest, once it is needed.
    program: Mutex<Option<(PathBuf, String)>>,
    _room: Shelter,
}

impl Cluster {
    /// Connects to a cluster or starts one on this machine, and takes nodes of it.
    ///
    /// # Errors
    /// One line: the environment is not there, too few nodes are, or their workers would run at a lower priority.
    pub fn open(on: &On, want: Want, with: &mut Opening<'_>) -> Result<Cluster> {
        let python = Environment::new(with.cache).python()?;
        let home = with.definitions.write_engine(with.cache).context("the engine cannot be put in place")?;
        let room = Shelter::new().context("no temporary folder for the cluster")?;
        let length = room.path().as_os_str().len();
        ensure!(
            on.address().is_some() || length <= LONGEST_ROOM,
            "--on {on}: the path of the folder for temporary files is {} bytes too long for Ray's sockets; set TMPDIR to a shorter one",
            length - LONGEST_ROOM
        );
        with.progress.doing(match on.address() {
            Some(_) => "connecting to the cluster",
            None => "starting a cluster on this machine",
        });
        let engine = Engine::start(&python, &home, room.path())?;
        let nodes = engine.open(on, want, with.interrupt)?;
        ensure!(!nodes.is_empty(), "the cluster has no node with a processor");
        if let Some(slow) = nodes.iter().find(|node| node.nice > 0) {
            bail!(
                "node {} runs workers at nice {}, which changes what is measured; start Ray there with RAY_worker_niceness=0",
                slow.node,
                slow.nice
            );
        }
        Ok(Cluster(Arc::new(Inner { engine, nodes, program: Mutex::default(), _room: room })))
    }

    /// Its nodes, those that were lost among them.
    pub fn nodes(&self) -> &[Node] {
        &self.0.nodes
    }

    /// The node of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn node(&self, name: &str) -> Result<&Node> {
        self.0.nodes.iter().find(|node| node.node == name).with_context(|| format!("no node {name}"))
    }

    /// The nodes that can be used still: those that are neither the lab's own machine nor lead the cluster come first.
    pub fn usable(&self) -> Vec<&Node> {
        let mut nodes: Vec<&Node> =
            self.nodes().iter().filter(|node| self.why_lost(&node.node).is_none()).collect();
        nodes.sort_by_key(|node| (node.own, node.head));
        nodes
    }

    /// Why a node is lost; none: it is not.
    pub fn why_lost(&self, node: &str) -> Option<String> {
        self.0.engine.why_lost(node)
    }

    /// Why the whole cluster is lost; none: it is not.
    pub fn why_ended(&self) -> Option<String> {
        self.0.engine.why_ended()
    }

    /// Brings a file onto a node, once however often it is asked for: the path there.
    ///
    /// # Errors
    /// One line: the file cannot be read, or the node is lost.
    pub fn put(&self, node: &str, file: &Path, sha256: &str) -> Result<PathBuf> {
        let put = self.0.engine.put(&self.node(node)?.node, file, sha256, PUT_LIMIT);
        put.map_err(|why| anyhow!("{} cannot be brought to node {node}: {why}", file.display()))
    }

    /// Starts this program on a node: `weigh ARGS…`, which speaks lines. It is used as a local worker is, and ends with this value's drop.
    ///
    /// # Errors
    /// One line: the node is another kind of machine, or is lost.
    pub fn start(&self, node: &str, args: &[String], longest_line: usize) -> Result<Worker> {
        let about = self.node(node)?;
        let (system, machine) = (&about.system, &about.machine);
        ensure!(
            (system.as_str(), machine.as_str()) == ("Linux", std::env::consts::ARCH),
            "node {node} is {system} on {machine}, and this weigh is for Linux on {}; use nodes of one architecture",
            std::env::consts::ARCH
        );
        let (file, sha256) = self.program()?;
        let program = self.put(node, &file, &sha256)?;
        Ok(self.0.engine.worker(node, &program, args, longest_line))
    }

    /// A node as a place for specs of workers: [`WorkerSpec::on`].
    pub fn place(&self, node: &str) -> SharedWorkerHost {
        Arc::new(At::new(self, node))
    }

    fn program(&self) -> Result<(PathBuf, String)> {
        let mut known = self.0.program.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known {
            return Ok(known.clone());
        }
        // Under this name it is there even if the file was replaced.
        let own = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
        let sum = digest::of_file(&own)?.context("this program's file is gone")?;
        Ok(known.insert((own, sum.sha256)).clone())
    }
}

/// A node of a cluster, for specs.
#[derive(Debug)]
pub(super) struct At {
    cluster: Cluster,
    node: String,
}

impl At {
    pub(super) fn new(cluster: &Cluster, node: &str) -> At {
        At { cluster: cluster.clone(), node: node.to_owned() }
    }
}

impl Site for At {
    fn name(&self) -> &str {
        &self.node
    }

    fn put(&self, file: &Path, sha256: &str) -> Result<PathBuf, String> {
        self.cluster.put(&self.node, file, sha256).map_err(|error| format!("{error:#}"))
    }

    fn why_lost(&self) -> Option<String> {
        self.cluster.why_lost(&self.node)
    }

    fn all_lost(&self) -> bool {
        self.cluster.why_ended().is_some()
    }
}

impl WorkerHost for At {
    fn start(&self, spec: &WorkerSpec) -> io::Result<Worker> {
        let args: Option<Vec<String>> =
            spec.args.iter().map(|word| word.to_str().map(str::to_owned)).collect();
        let args = args.ok_or_else(|| io::Error::other("its arguments are no text"))?;
        self.cluster.start(&self.node, &args, spec.longest_line).map_err(io::Error::other)
    }
}
