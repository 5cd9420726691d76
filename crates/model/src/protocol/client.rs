//! The protocol between the program and a client worker (`php/client.php`): one JSON object per line, as with other
//! workers.
//!
//! A client worker is one PHP process that uses a store. Each block has new workers: they prepare, then all start
//! together.

mod done;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::client::{Keys, ValueKind};
use crate::protocol::{CodecDescription, Fault, SerializerDescription};

pub use done::{Bins, Done, Failed, Memory, Reads, Writes};

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "op")]
pub enum ClientRequest {
    /// Describe yourself and your drivers.
    Describe { id: u64 },
    /// Connect, fill the key space, warm up.
    Prepare(Box<Prepare>),
    /// Carry out the transactions.
    Go { id: u64 },
    /// Remove every key that was written.
    Clean { id: u64 },
}

/// What a worker has to do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prepare {
    pub id: u64,
    pub store: String,
    pub driver: String,
    /// The address of the store.
    pub address: Address,
    /// Timeout in seconds for connecting and for each answer.
    pub timeout: f64,
    pub value: ValueOf,
    /// How the worker encodes the value first; null: the driver gets the value itself.
    pub encode: Option<Encode>,
    pub keys: Keys,
    /// The prefix of every key.
    pub prefix: String,
    /// This worker's number, from 0.
    pub worker: u32,
    pub workers: u32,
    /// Seed of everything that is drawn at random.
    pub seed: u64,
    /// Transactions to carry out.
    pub transactions: u64,
    /// See [`crate::client::Mix`].
    pub write_every: u32,
    /// Scheduled transactions per second of this worker; null: a closed loop.
    pub rate: Option<f64>,
}

/// The address of a store; fields that do not apply are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Address {
    /// A unix socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unix: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The private folder, for a store that is a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

/// The value that is written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueOf {
    #[serde(flatten)]
    pub kind: ValueKind,
    /// The file with texts or values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<PathBuf>,
    /// The file's SHA-256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Lengths in bytes of the file's values; keys use them in turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<u64>,
}

/// How the worker encodes values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Encode {
    /// The serializer's name; null: the codec takes PHP values itself.
    pub serializer: Option<String>,
    pub codec: String,
    pub level: Option<i32>,
    /// Its options.
    pub options: BTreeMap<String, String>,
}

/// A client worker as it describes itself.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ClientDescription {
    pub id: u64,
    pub protocol: u32,
    pub version: String,
    /// Settings that change results, by name.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
    /// Every driver that is defined, available or not.
    pub drivers: Vec<DriverDescription>,
    /// The codecs that the worker can use.
    #[serde(default)]
    pub codecs: Vec<CodecDescription>,
    /// The serializers that the worker can use.
    #[serde(default)]
    pub serializers: Vec<SerializerDescription>,
}

/// A driver as it describes itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriverDescription {
    /// The store's name: the name of the driver's folder.
    pub store: String,
    /// The driver's name: the name of its file.
    pub name: String,
    /// One line that describes it.
    #[serde(default)]
    pub about: String,
    /// Name and version of the library or extension that it uses; null when it is not installed.
    pub library: Option<String>,
    /// Null: can be used. Otherwise the reason why not.
    pub missing: Option<String>,
    /// How to make it available.
    pub remedy: Option<String>,
    /// How it reaches the store: `unix`, `tcp`, `folder`; none: the store is in the process.
    #[serde(default)]
    pub schemes: Vec<String>,
    /// The kinds of value that it stores without encoding: `integer`, `text`, `record`, `value`.
    #[serde(default)]
    pub native: Vec<String>,
    /// Whether it is a PHP extension that talks to the store itself.
    #[serde(default)]
    pub extension: bool,
    /// Whether all processes see the same store.
    #[serde(default = "yes")]
    pub shared: bool,
}

fn yes() -> bool {
    true
}

/// The answer to [`Prepare`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Prepared {
    pub id: u64,
    /// Whether the worker is ready.
    pub ready: bool,
    /// The library or extension that the driver uses.
    pub library: Option<String>,
    /// The store's version, as reported.
    pub server: Option<String>,
    /// Bytes that the driver gets for one value; null if the value is not a string.
    pub stored_bytes: Option<u64>,
}

/// The answer to [`ClientRequest::Clean`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Cleaned {
    pub id: u64,
    pub removed: u64,
}

/// A failure as the answer to any request.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Refusal {
    pub id: u64,
    /// Why the request was not carried out.
    pub fault: Fault,
}
