//! What the lab and a worker say to each other: one JSON object a line, requests on the worker's stdin,
//! replies on its stdout, payloads by path. A worker is resident, answers in order, and times itself.
//! The native worker is this same binary; the PHP worker is `php/worker.php`. Both speak this.

mod blame;
pub mod client;
mod description;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use description::{CodecDescription, Description, Levels, OptionDescription, SerializerDescription};

/// The protocol's version; a worker that reports another one is refused.
pub const PROTOCOL: u32 = 1;

/// One request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "op")]
pub enum Request {
    /// What are you, and what can you measure?
    Describe {
        /// Echoed in the reply.
        id: u64,
    },
    /// Measure one cell once: one visit.
    Visit(VisitRequest),
    /// Decode a file with a decoder that shares no code with the codecs, and digest the result.
    /// Only the native worker answers this one.
    Check(CheckRequest),
}

/// The phases of a cell. `Encode` and `Decode` are the whole operation; cells with a serializer have
/// `Compress` and `Decompress` (the codec alone, on the serialized bytes) beside them. Deliveries have `Serve` alone.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
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
    /// A request in, a response out: CPU time of the server's and of PHP's processes a response. One sample a visit.
    Serve,
    /// A write to a store or a read from it: CPU time of the workers and of the store's processes a transaction. One sample a visit.
    Transact,
}

/// One visit to a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VisitRequest {
    /// Echoed in the reply.
    pub id: u64,
    /// The codec's name as described.
    pub codec: String,
    /// The level, if the codec has levels.
    pub level: Option<i32>,
    /// Options by name.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// The serializer's name for a cell on a value, else null.
    pub serializer: Option<String>,
    /// Absolute path of the payload's blob.
    pub blob: String,
    /// SHA-256 of the blob: the worker refuses another content.
    pub sha256: String,
    /// Lengths of the items in bytes.
    pub items: Vec<u64>,
    /// The form of the value that each item is (`serialize`), for cells with a serializer.
    pub value: Option<String>,
    /// The items are instances of one shape: samples of the first one again and again are taken beside those of all, and
    /// its memory stands for theirs.
    #[serde(default)]
    pub family: bool,
    /// The phases to time.
    pub phases: Vec<Phase>,
    /// Samples of each phase to take in this visit, at least 1.
    pub samples: u32,
    /// Stop taking further samples of a phase once this much wall time went into it.
    pub budget_ns: u64,
    /// Repeat the call within a sample until it lasts this long (so that the clock's own cost is under
    /// 1%), but never start a further call past `max_batch_ns`. A sample's times are divided by the batch.
    pub min_batch_ns: u64,
    /// See `min_batch_ns`.
    pub max_batch_ns: u64,
    /// Round-trip every item and compare byte for byte, untimed, before the samples.
    pub verify: bool,
    /// Measure the peak memory of the encode and of the decode (untimed, one call each).
    pub memory: bool,
    /// Write the encoded items, one after the other, to this absolute path.
    pub dump: Option<String>,
}

/// Decode a dumped output independently.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRequest {
    /// Echoed in the reply.
    pub id: u64,
    /// The format's name.
    pub format: String,
    /// Absolute path of the encoded items, one after the other.
    pub path: String,
    /// Length in bytes of each encoded item.
    pub encoded: Vec<u64>,
    /// Length in bytes of each decoded item: the decoder may not produce more.
    pub decoded: Vec<u64>,
    /// The file of the dictionaries the items need, in the form of [`Visit::dictionary_path`], if any.
    pub dictionary: Option<String>,
}

/// One reply; its fields tell which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reply {
    /// To [`Request::Describe`].
    Description(Box<Description>),
    /// To [`Request::Visit`].
    Visit(Box<Visit>),
    /// To [`Request::Check`].
    Checked(Checked),
    /// To any request that could not be carried out.
    Fault(FaultReply),
}

/// The result of a visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    /// The request's id.
    pub id: u64,
    /// Uncompressed length of each item in bytes; for a value, of its serialization.
    pub decoded: Vec<u64>,
    /// Encoded length of each item in bytes.
    pub encoded: Vec<u64>,
    /// The format written.
    pub format: String,
    /// SHA-256 of all decoded items, one after the other, as the cell's own codec sees them.
    pub sha256_decoded: String,
    /// SHA-256 of all encoded items.
    pub sha256_encoded: String,
    /// `true` when the round trip was compared byte for byte in this visit.
    pub verified: bool,
    /// Length in bytes of a dictionary that has to be stored or known beside the items; 0 without. Of the
    /// two dictionaries of a cross-fit it is the mean: one like them would be shipped.
    #[serde(default)]
    pub dictionary_bytes: u64,
    /// Where the dictionaries were written when a dump was asked for: for each, its length in bytes as 8
    /// bytes little-endian, then the dictionary. Item `i` needs number `i` modulo their count.
    #[serde(default)]
    pub dictionary_path: Option<String>,
    /// Samples by phase.
    pub phases: BTreeMap<Phase, Samples>,
    /// Of a family, samples of `encode` and `decode` of its first instance again and again.
    #[serde(default)]
    pub again: BTreeMap<Phase, Samples>,
    /// Peak memory in bytes above the idle process, by phase (`encode`, `decode`), when asked for.
    #[serde(default)]
    pub peak_bytes: BTreeMap<Phase, u64>,
}

/// The samples of one phase in one visit. Each number is for one pass over all items, instances of a family as well.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Samples {
    /// Passes within one sample; the times below are already divided by it.
    pub batch: u32,
    /// CPU time (user + system) in nanoseconds a pass.
    pub cpu_ns: Vec<f64>,
    /// Wall time in nanoseconds a pass.
    pub wall_ns: Vec<f64>,
    /// Involuntary context switches during all samples of the phase.
    pub preempted: u64,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// The request's id.
    pub id: u64,
    /// The decoder used, `ruzstd`, `miniz_oxide`, …
    pub decoder: String,
    /// SHA-256 of all decoded items, one after the other.
    pub sha256: String,
}

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultReply {
    /// The request's id, 0 when it could not be read.
    pub id: u64,
    /// What went wrong.
    pub fault: Fault,
}

/// A cell without a number: why, and what would mend it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Fault {
    /// Which kind.
    pub kind: FaultKind,
    /// One line: what happened.
    pub message: String,
    /// What would mend it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// The kinds of fault.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The codec, serializer or extension is not there.
    Missing,
    /// Parameters the codec does not take.
    Parameter,
    /// The payload cannot be read, or is another content than planned.
    Payload,
    /// Encoding or decoding failed.
    Codec,
    /// The round trip did not give the source back.
    RoundTrip,
    /// The independent decoder disagreed.
    Independent,
    /// The worker ended during the visit.
    Crash,
    /// The worker did not answer in time.
    Timeout,
    /// The worker answered something that is not a reply.
    Garbage,
    /// The server or PHP did not start.
    Start,
    /// A response that is none of the planned kind: another status, a PHP error, a broken body.
    Response,
}
