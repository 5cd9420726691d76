//! The protocol between the program and a worker: one JSON object per line, requests on the worker's stdin, replies on
//! its stdout, payloads by path. A worker stays running, answers in order, and measures its own times. The native
//! worker is this same binary; the PHP worker is `php/worker.php`. Both use this protocol.

mod blame;
pub mod client;
mod description;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::clean;

pub use description::{CodecDescription, Description, Levels, OptionDescription, SerializerDescription};

/// The protocol's version; a worker that reports another version is refused.
pub const PROTOCOL: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "op")]
pub enum Request {
    /// Describe yourself, and what you can measure.
    Describe { id: u64 },
    /// Measure one cell once: one visit.
    Visit(VisitRequest),
    /// Decode a file with a decoder that shares no code with the codecs, and compute the digest of the result. Only the
    /// native worker supports this.
    Check(CheckRequest),
}

/// The phases of a cell. `Encode` and `Decode` are the whole operation. Cells with a serializer also have `Compress`
/// and `Decompress` (the codec only, on the serialized bytes). Deliveries have only `Serve`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Value or bytes in, encoded bytes out.
    Encode,
    /// Encoded bytes in, value or bytes out.
    Decode,
    /// Serialized bytes in, encoded bytes out.
    Compress,
    /// Encoded bytes in, serialized bytes out.
    Decompress,
    /// A request in, a response out: CPU time of the server's and PHP's processes per response. One sample per visit.
    Serve,
    /// A write to a store or a read from it: CPU time of the workers' and the store's processes per transaction. One
    /// sample per visit.
    Transact,
}

/// One visit to a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitRequest {
    pub id: u64,
    /// The codec's name, as in its description.
    pub codec: String,
    /// The level, if the codec has levels.
    pub level: Option<i32>,
    /// Options by name.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// The serializer's name for a cell that encodes a value, otherwise null.
    pub serializer: Option<String>,
    /// Absolute path of the payload's blob.
    pub blob: String,
    /// SHA-256 of the blob: the worker refuses other content.
    pub sha256: String,
    /// Lengths of the items in bytes.
    pub items: Vec<u64>,
    /// The form of the value that each item is (`serialize`), for cells with a serializer.
    pub value: Option<String>,
    /// Whether the items are instances of one shape. Then the worker also samples the first instance alone, repeatedly,
    /// and measures only its memory.
    #[serde(default)]
    pub family: bool,
    pub phases: Vec<Phase>,
    /// Samples of each phase in this visit, at least 1.
    pub samples: u32,
    /// Take no further samples of a phase after this much wall time.
    pub budget_ns: u64,
    /// Repeat the call within a sample until it lasts this long, so that the clock's own cost is below 1%; but start no
    /// further call after `max_batch_ns`. A sample's times are divided by the number of calls.
    pub min_batch_ns: u64,
    /// See `min_batch_ns`.
    pub max_batch_ns: u64,
    /// Check the round trip of every item byte by byte, untimed, before the samples.
    pub verify: bool,
    /// Measure the peak memory of the encode and of the decode (untimed, one call each).
    pub memory: bool,
    /// Write the encoded items, one after the other, to this absolute path.
    pub dump: Option<String>,
}

/// Decode a dumped output independently.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRequest {
    pub id: u64,
    pub format: String,
    /// Absolute path of the encoded items, one after the other.
    pub path: String,
    /// Length in bytes of each encoded item.
    pub encoded: Vec<u64>,
    /// Length in bytes of each decoded item: the decoder may not produce more.
    pub decoded: Vec<u64>,
    /// The file of the dictionaries that the items need, in the form of [`Visit::dictionary_path`]; null: none.
    pub dictionary: Option<String>,
}

/// One reply; its fields show which kind it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reply {
    /// The answer to [`Request::Describe`].
    Description(Box<Description>),
    /// The answer to [`Request::Visit`].
    Visit(Box<Visit>),
    /// The answer to [`Request::Check`].
    Checked(Checked),
    /// The answer to a request that could not be carried out.
    Fault(FaultReply),
}

/// The result of a visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    pub id: u64,
    /// Uncompressed length of each item in bytes; for a value, of its serialized form.
    pub decoded: Vec<u64>,
    /// Encoded length of each item in bytes.
    pub encoded: Vec<u64>,
    pub format: String,
    /// SHA-256 of all decoded items, one after the other, as the cell's own codec sees them.
    pub sha256_decoded: String,
    /// SHA-256 of all encoded items.
    pub sha256_encoded: String,
    /// Whether the round trip was compared byte by byte in this visit.
    pub verified: bool,
    /// Length in bytes of a dictionary that has to be stored or known in addition to the items; 0: no dictionary. With
    /// the two dictionaries of a cross-fit, their mean length, because one such dictionary would be shipped.
    #[serde(default)]
    pub dictionary_bytes: u64,
    /// Where the dictionaries were written when a dump was requested: for each, its length as 8 bytes little-endian,
    /// then the dictionary. Item `i` needs dictionary number `i` modulo their count.
    pub dictionary_path: Option<String>,
    pub phases: BTreeMap<Phase, Samples>,
    /// Samples of `encode` and `decode` of the first instance of a family alone, repeatedly.
    #[serde(default)]
    pub again: BTreeMap<Phase, Samples>,
    /// Peak memory in bytes above the idle process, by phase (`encode`, `decode`), when requested.
    #[serde(default)]
    pub peak_bytes: BTreeMap<Phase, u64>,
}

/// The samples of one phase in one visit. Each number is for one pass over all items, also for a family.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Samples {
    /// Passes in one sample; the times below are already divided by this number.
    pub batch: u32,
    /// CPU time (user + system) in nanoseconds per pass.
    pub cpu_ns: Vec<f64>,
    /// Wall time in nanoseconds per pass.
    pub wall_ns: Vec<f64>,
    /// Involuntary context switches during all samples of the phase.
    pub preempted: u64,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    pub id: u64,
    /// The decoder, `ruzstd`, `miniz_oxide`, …
    pub decoder: String,
    /// SHA-256 of all decoded items, one after the other.
    pub sha256: String,
}

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultReply {
    /// The request's id; 0 if it could not be read.
    pub id: u64,
    pub fault: Fault,
}

/// Why a cell has no number, and how to fix that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// The kind.
    pub kind: FaultKind,
    /// One line: what happened.
    pub message: String,
    /// How to fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Fault {
    /// The same, safe to print.
    pub fn cleaned(self) -> Fault {
        let Fault { kind, message, remedy } = self;
        Fault { kind, message: clean(&message), remedy: remedy.as_deref().map(clean) }
    }
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The codec, serializer or extension is not installed.
    Missing,
    /// The codec does not take these parameters.
    Parameter,
    /// The payload cannot be read, or its content is not the planned one.
    Payload,
    /// Encoding or decoding failed.
    Codec,
    /// The round trip did not return the source.
    RoundTrip,
    /// The independent decoder disagreed.
    Independent,
    /// The worker exited during the visit.
    Crash,
    /// The worker did not answer in time.
    Timeout,
    /// The worker answered with something that is not a reply.
    Garbage,
    /// The server or PHP did not start.
    Start,
    /// A response of an unexpected kind: another status, a PHP error, a broken body.
    Response,
}
