//! What the lab and the engine of a cluster say to each other: one JSON object a line. docs/SCALE-OUT.md describes it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What the lab says.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase", tag = "say")]
pub enum Order<'a> {
    /// First: connect, and take nodes.
    Open {
        /// `HOST:PORT` of the head node; null: start a cluster on this machine.
        address: Option<String>,
        /// Fewer nodes are a fault.
        least: u32,
        /// Further nodes are left alone; null: all are taken.
        most: Option<u32>,
        /// How long they may take to be there.
        seconds: f64,
    },
    /// Bring a file onto a node.
    Put {
        /// The node.
        node: &'a str,
        /// The file on the lab's machine.
        file: PathBuf,
        /// Its SHA-256, hexadecimal.
        sha256: &'a str,
    },
    /// Start a process that speaks lines.
    Start {
        /// What it is called from now on.
        worker: u64,
        /// The node.
        node: &'a str,
        /// The program there.
        program: PathBuf,
        /// Its arguments.
        args: &'a [String],
    },
    /// A line for a worker, without its newline.
    Line {
        /// The worker.
        worker: u64,
        /// Its node.
        node: &'a str,
        /// The line.
        line: &'a str,
    },
    /// Close a worker's input.
    Close {
        /// The worker.
        worker: u64,
        /// Its node.
        node: &'a str,
    },
    /// End a worker with all that it started.
    Kill {
        /// The worker.
        worker: u64,
        /// Its node.
        node: &'a str,
    },
    /// Last: end everything.
    End,
}

/// What the engine says.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", tag = "say")]
pub enum Said {
    /// The nodes that were taken.
    Nodes {
        /// Each with its name.
        nodes: Vec<Node>,
    },
    /// What came of bringing a file onto a node.
    Put {
        /// The node.
        node: String,
        /// Its digest.
        sha256: String,
        /// Its path there.
        path: Option<PathBuf>,
        /// Why it is not there.
        why: Option<String>,
    },
    /// A line of a worker.
    Line {
        /// The worker.
        worker: u64,
        /// The line.
        line: String,
    },
    /// A worker has ended.
    Ended {
        /// The worker.
        worker: u64,
        /// How, with the last line of its stderr.
        how: String,
    },
    /// A node does not answer any more; its workers count as ended.
    Lost {
        /// The node.
        node: String,
        /// Why.
        why: String,
    },
    /// The engine cannot do what it was told.
    Fault {
        /// Why.
        why: String,
    },
}

/// A node of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Node {
    /// Its name: its address, with a number where several nodes have one.
    pub node: String,
    /// Its address.
    pub address: String,
    /// Its host's name.
    pub host: String,
    /// What kind of machine it is: a label of the cluster's, else its processor and their number.
    pub kind: String,
    /// `Linux`.
    pub system: String,
    /// Its architecture, such as `x86_64`.
    pub machine: String,
    /// The processors that its workers may use.
    pub cpus: u32,
    /// Memory in bytes.
    pub memory: u64,
    /// The priority that its workers have; 0 is the usual one.
    pub nice: i32,
    /// It is the machine of the lab itself.
    pub own: bool,
    /// The cluster is led from it.
    #[serde(default)]
    pub head: bool,
}
