//! What the lab and the engine of a cluster say to each other: one JSON object a line. docs/dev/CLUSTER.md describes it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

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
        node: &'a str,
        program: PathBuf,
        args: &'a [String],
    },
    /// A line for a worker, without its newline.
    Line {
        worker: u64,
        node: &'a str,
        line: &'a str,
    },
    Close {
        worker: u64,
        node: &'a str,
    },
    /// End a worker with all that it started.
    Kill {
        worker: u64,
        node: &'a str,
    },
    End,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", tag = "say")]
pub enum EngineMessage {
    /// The nodes that were taken.
    Nodes { nodes: Vec<Node> },
    /// What came of bringing a file onto a node.
    Put {
        node: String,
        /// Its digest.
        sha256: String,
        path: Option<PathBuf>,
        /// Why it is not there.
        why: Option<String>,
    },
    /// A line of a worker.
    Line { worker: u64, line: String },
    Ended {
        worker: u64,
        /// How, with the last line of its stderr.
        how: String,
    },
    /// A node does not answer any more; its workers count as ended.
    Lost { node: String, why: String },
    /// The engine cannot do what it was told.
    Fault { why: String },
}

/// A node of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Node {
    /// Its name: its address, with a number where several nodes have one.
    pub node: String,
    pub address: String,
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
