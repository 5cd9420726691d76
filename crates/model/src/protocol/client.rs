//! What the lab and a client worker (`php/client.php`) say to each other: as with other workers, one JSON object a line.
//!
//! A client worker is one PHP process that speaks with a store. The lab starts fresh ones for every block, has them prepare, and lets
//! all go at once.

mod done;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::client::{Keys, ValueKind};
use crate::protocol::{CodecDescription, Fault, SerializerDescription};

pub use done::{Bins, Done, Failed, Memory, Reads, Writes};

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
    /// Lengths in bytes of the file's values; the keys hold them in turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<u64>,
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
    /// It is an extension of PHP's, which speaks with the store itself.
    #[serde(default)]
    pub extension: bool,
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
