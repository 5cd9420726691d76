//! A Ray cluster of several nodes on this machine, each in a network namespace of its own, all connected to a further one, the hub. A node has
//! temporary files of its own, and its processes are in a PID namespace, so that a kill takes all of them, as a power cut does.

use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use weigh_os::network::Network;

/// The hub's address; those of the nodes follow it.
pub const HUB: &str = "10.77.0.1";
const PORT: u16 = 6379;
const BRIDGE: &str = "hub";
/// Calls Ray's command: scripts of an environment that was moved name the place where it was.
const RAY: [&str; 2] = ["-c", "from ray.scripts.scripts import main; main()"];
const START_ARGS: [&str; 7] =
    ["start", "--num-cpus", "1", "--object-store-memory", "104857600", "--disable-usage-stats", "--block"];
const HEAD_ARGS: [&str; 4] = ["--head", "--include-dashboard", "false", "--port"];
/// Carries out the rest with a folder for temporary files that is its own, as another machine's is. Ray's environment stays where it is, also
/// below that folder.
const OWN_FILES: &str = r#"
own=$1 environment=$2
shift 2
case $environment in
    /tmp/*) mkdir -p "$own${environment#/tmp}" && mount --bind "$environment" "$own${environment#/tmp}" ;;
esac
mount --rbind "$own" /tmp && exec "$@""#;
/// How long a node may take to be there.
const START: Duration = Duration::from_secs(90);

/// The nodes. Dropping them ends every process in their namespaces, and the namespaces with them.
pub struct Nodes {
    pub hub: Network,
    nodes: Vec<Node>,
    token: String,
    files: TempDir,
}

struct Node {
    address: String,
    network: Network,
    child: Child,
}

impl Nodes {
    /// A node with one processor of each of these kinds around this hub, from an environment with this Python. The first leads the cluster.
    pub fn start(hub: Network, python: &Path, kinds: &[&str]) -> anyhow::Result<Nodes> {
        hub.within(|| {
            ip(&["link", "add", BRIDGE, "type", "bridge"])?;
            ip(&["address", "add", &format!("{HUB}/24"), "dev", BRIDGE])?;
            ip(&["link", "set", BRIDGE, "up"])
        })??;
        // Names of Ray's sockets have to be short.
        let files = tempfile::Builder::new().prefix("weigh-ray-").tempdir_in("/tmp")?;
        let mut all = Nodes { hub, nodes: Vec::new(), token: "0".repeat(64), files };
        for (index, kind) in kinds.iter().enumerate() {
            let node = all.node(python, index, kind)?;
            all.nodes.push(node);
            // One after the other: nodes that start at once are not made for sharing a machine.
            let deadline = Instant::now() + START;
            while !std::fs::read_to_string(all.log(index))?.contains("Ray runtime started") {
                let is_over = all.nodes[index].child.try_wait()?.is_some() || Instant::now() > deadline;
                assert!(!is_over, "node {index} did not start: {}", std::fs::read_to_string(all.log(index))?);
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        Ok(all)
    }

    fn node(&self, python: &Path, index: usize, kind: &str) -> anyhow::Result<Node> {
        let (address, device) = (format!("10.77.0.{}", index + 11), format!("node{index}"));
        let network = Network::private()?;
        let there = network.path();
        self.hub.within(|| {
            let there = there.to_str().unwrap();
            ip(&["link", "add", &device, "type", "veth", "peer", "name", "eth0", "netns", there])?;
            ip(&["link", "set", &device, "master", BRIDGE, "up"])
        })??;
        network.within(|| {
            ip(&["address", "add", &format!("{address}/24"), "dev", "eth0"])?;
            ip(&["link", "set", "dev", "eth0", "up"])
        })??;
        let private = self.files.path().join(format!("tmp{index}"));
        std::fs::create_dir(&private)?;
        let mut command = Command::new("unshare");
        command.args([
            "--mount",
            "--pid",
            "--fork",
            "--mount-proc",
            "--kill-child",
            "sh",
            "-c",
            OWN_FILES,
            "sh",
        ]);
        let environment = python.parent().and_then(Path::parent).unwrap();
        command
            .arg(private)
            .arg(environment)
            .arg(python)
            .args(RAY)
            .args(START_ARGS)
            .args(["--node-ip-address", &address]);
        command.args(["--labels", &format!("weigh-kind={kind}")]);
        match index {
            0 => command
                .args(HEAD_ARGS)
                .arg(PORT.to_string())
                .arg("--temp-dir")
                .arg(self.files.path().join("ray")),
            _ => command.args(["--address", &format!("{}:{PORT}", self.head())]),
        };
        let log = File::create(self.log(index))?;
        command.envs(self.environment()).env("RAY_worker_niceness", "0").env("TMPDIR", "/tmp");
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = network.within(|| command.process_group(0).spawn())??;
        Ok(Node { address, network, child })
    }

    fn log(&self, index: usize) -> PathBuf {
        self.files.path().join(format!("log{index}"))
    }

    fn head(&self) -> &str {
        self.nodes.first().map_or("10.77.0.11", |node| &node.address)
    }

    /// What whoever uses the cluster is told.
    pub fn environment(&self) -> [(&'static str, String); 2] {
        [("RAY_AUTH_MODE", "token".to_owned()), ("RAY_AUTH_TOKEN", self.token.clone())]
    }

    /// As `--on` has it.
    pub fn on(&self) -> String {
        format!("ray://{}:{PORT}", self.head())
    }

    /// A listener in the hub.
    pub fn listener(&self) -> TcpListener {
        self.hub.within(|| TcpListener::bind((HUB, 0))).unwrap().unwrap()
    }

    /// Kills all processes of a node.
    pub fn kill(&mut self, index: usize) -> String {
        let node = &mut self.nodes[index];
        node.child.kill().unwrap();
        node.child.wait().unwrap();
        node.address.clone()
    }

    /// The nodes on which agents run.
    pub fn busy(&self) -> Vec<usize> {
        let own: Vec<PathBuf> =
            self.nodes.iter().map(|node| std::fs::read_link(node.network.path()).unwrap()).collect();
        let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_agent = |path: &PathBuf| {
            let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("\0agent\0--")
        };
        let node = |path: PathBuf| {
            let there = std::fs::read_link(path.join("ns/net")).ok()?;
            own.iter().position(|own| *own == there)
        };
        processes.filter(is_agent).filter_map(node).collect()
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let _ = node.child.kill();
            let _ = node.child.wait();
        }
    }
}

fn ip(words: &[&str]) -> io::Result<()> {
    let said = Command::new("ip").args(words).output()?;
    let why =
        || io::Error::other(format!("ip {}: {}", words.join(" "), String::from_utf8_lossy(&said.stderr)));
    if said.status.success() { Ok(()) } else { Err(why()) }
}
