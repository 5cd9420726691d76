//! What the lab and a client worker (`php/client.php`) say to each other: as with other workers, one JSON object a line.
//!
//! A client worker is one PHP process that speaks with a store. The lab starts fresh ones for every block, has them prepare, and lets
//! all go at once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::client::{Keys, ValueKind};
use crate::protocol::{CodecDescription, Fault, SerializerDescription};

/// One request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "op")]
pub enum ClientRequest {
    /// What are you, and which drivers do you have?
    Describe {
        /// Echoed in the reply.
        id: u64,
    },
    /// Connect, fill the key space, warm up.
    Prepare(Box<Prepare>),
    /// Make the transactions.
    Go {
        /// Echoed in the reply.
        id: u64,
    },
    /// Remove every key that was written.
    Clean {
        /// Echoed in the reply.
        id: u64,
    },
}

/// What a worker is to do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prepare {
    /// Echoed in the reply.
    pub id: u64,
    /// The store's name.
    pub store: String,
    /// The driver's name.
    pub driver: String,
    /// Where the store is.
    pub address: Address,
    /// Seconds for connecting and for each answer.
    pub timeout: f64,
    /// What is written.
    pub value: ValueOf,
    /// How the worker encodes it first; null: the driver has it as it is.
    pub encode: Option<Encode>,
    /// Which keys.
    pub keys: Keys,
    /// What every key begins with.
    pub prefix: String,
    /// This worker's number, from 0.
    pub worker: u32,
    /// How many there are.
    pub workers: u32,
    /// Seed of everything drawn.
    pub seed: u64,
    /// Transactions to make.
    pub transactions: u64,
    /// See [`crate::client::Mix`].
    pub write_every: u32,
    /// Transactions a second of this worker; null: a closed loop.
    pub rate: Option<f64>,
}

/// Where a store is; what does not apply is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Address {
    /// A unix socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unix: Option<PathBuf>,
    /// A host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// A TCP port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// A private folder, for a store that is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// A database by number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<u32>,
    /// A namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Who asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Their password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

/// What is written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueOf {
    /// What it is.
    #[serde(flatten)]
    pub kind: ValueKind,
    /// Its file, for texts and values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<PathBuf>,
    /// The file's SHA-256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// How the worker encodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Encode {
    /// The serializer's name; null: the codec takes values itself.
    pub serializer: Option<String>,
    /// The codec's name.
    pub codec: String,
    /// Its level.
    pub level: Option<i32>,
    /// Its options.
    pub options: BTreeMap<String, String>,
}

/// What a client worker says it is.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ClientDescription {
    /// Echo of the request.
    pub id: u64,
    /// The protocol's version.
    pub protocol: u32,
    /// PHP's version.
    pub version: String,
    /// Settings that change results, by name.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
    /// Every driver that is defined, there or not.
    pub drivers: Vec<DriverDescription>,
    /// The codecs that it can encode with.
    #[serde(default)]
    pub codecs: Vec<CodecDescription>,
    /// The serializers.
    #[serde(default)]
    pub serializers: Vec<SerializerDescription>,
}

/// A driver as it describes itself.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct DriverDescription {
    /// The store's name: the folder.
    pub store: String,
    /// The driver's name: the file.
    pub name: String,
    /// One line.
    #[serde(default)]
    pub about: String,
    /// Name and version of what carries it out; null when it is not there.
    pub library: Option<String>,
    /// Null: can be used. Else why not.
    pub missing: Option<String>,
    /// What would mend it.
    #[serde(default)]
    pub remedy: Option<String>,
    /// How it reaches the store: `unix`, `tcp`, `folder`; none: it is in the process.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// The kinds of value that it stores as they are: `integer`, `text`, `record`, `value`.
    #[serde(default)]
    pub native: Vec<String>,
    /// All processes see the same store.
    #[serde(default = "yes")]
    pub shared: bool,
}

fn yes() -> bool {
    true
}

/// The answer to [`Prepare`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Prepared {
    /// Echo of the request.
    pub id: u64,
    /// It is.
    pub ready: bool,
    /// What carries the driver out.
    #[serde(default)]
    pub library: Option<String>,
    /// The store's version as it says.
    #[serde(default)]
    pub server: Option<String>,
    /// Bytes that the driver is given for one value; null where that is no text.
    #[serde(default)]
    pub stored_bytes: Option<u64>,
}

/// The answer to [`ClientRequest::Go`]: one worker's block.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Done {
    /// Echo of the request.
    pub id: u64,
    /// Seconds since the epoch of the first send.
    pub began: f64,
    /// Seconds since the epoch of the last answer.
    pub ended: f64,
    /// Seconds between the two, by the clock that only goes forward.
    pub seconds: f64,
    /// CPU time of the process in user space, nanoseconds.
    pub cpu_user_ns: u64,
    /// CPU time in the kernel.
    pub cpu_system_ns: u64,
    /// Context switches by waiting.
    #[serde(default)]
    pub voluntary: u64,
    /// Context switches by being preempted.
    #[serde(default)]
    pub involuntary: u64,
    /// Writes.
    pub writes: Writes,
    /// Reads.
    pub reads: Reads,
    /// Time inside PUT.
    pub put: Bins,
    /// Time inside GET.
    pub get: Bins,
    /// From the scheduled send of a write to its answer.
    #[serde(default)]
    pub put_response: Option<Bins>,
    /// From the scheduled send of a read to its answer.
    #[serde(default)]
    pub get_response: Option<Bins>,
    /// Nanoseconds that the worker looked at its clock before scheduled sends; they are in its CPU time.
    #[serde(default)]
    pub spin_ns: u64,
    /// Nanoseconds of serializing and encoding, inside PUT.
    #[serde(default)]
    pub encode_ns: u64,
    /// Nanoseconds of decoding and unserializing, inside GET.
    #[serde(default)]
    pub decode_ns: u64,
    /// Scheduled and never sent.
    #[serde(default)]
    pub dropped: u64,
    /// Memory.
    pub memory: Memory,
    /// CPU nanoseconds of a transaction that are the loop's own.
    pub own_ns: f64,
    /// What failed, by message.
    #[serde(default)]
    pub faults: Vec<Failed>,
    /// Given up: why.
    #[serde(default)]
    pub aborted: Option<String>,
}

/// Writes of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Writes {
    /// Made, failed ones among them.
    pub count: u64,
    /// Failed.
    pub failed: u64,
}

/// Reads of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Reads {
    /// Made, failed ones among them.
    pub count: u64,
    /// Failed.
    pub failed: u64,
    /// Found.
    pub hits: u64,
    /// Not found.
    pub misses: u64,
    /// Another value came than was written.
    pub wrong: u64,
}

/// A histogram as a worker has it, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Bins {
    /// Values.
    pub count: u64,
    /// The smallest.
    pub min: u64,
    /// The largest.
    pub max: u64,
    /// The sum.
    pub sum: u64,
    /// The middle of each bin, and how many values are in it.
    pub bins: Vec<(u64, u64)>,
}

/// What PHP's memory manager says of a worker, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Memory {
    /// `memory_get_usage()` before the first transaction.
    pub begin: u64,
    /// The same after the last.
    pub end: u64,
    /// `memory_get_peak_usage()` over the process's life.
    pub peak: u64,
    /// `memory_get_peak_usage(true)`: what it had from the system.
    pub peak_real: u64,
    /// What the worker's own tables hold of the first three, as it says; taken off in records.
    #[serde(default, skip_serializing)]
    pub own: u64,
}

impl Memory {
    /// Less what the worker's own tables hold, which differs between versions of PHP.
    #[must_use]
    pub fn without_own(self) -> Memory {
        let less = |bytes: u64| bytes.saturating_sub(self.own);
        Memory { begin: less(self.begin), end: less(self.end), peak: less(self.peak), own: 0, ..self }
    }
}

/// What failed, and how often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Failed {
    /// One line.
    pub message: String,
    /// How often.
    pub count: u64,
}

/// The answer to [`ClientRequest::Clean`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Cleaned {
    /// Echo of the request.
    pub id: u64,
    /// Keys that were removed.
    pub removed: u64,
}

/// Any of the answers, or a fault.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Refusal {
    /// Echo of the request.
    pub id: u64,
    /// Why it was not carried out.
    pub fault: Fault,
}
