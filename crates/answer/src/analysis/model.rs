//! What analysis hands to reports: everything is derived, nothing is measured here.

mod links;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use links::{BestAt, BreakEven, LinkMix, LinkTotals, Mix, usual_reads};

use weigh_model::caveat::Caveat;
use weigh_model::cell::Cell;
use weigh_model::payload::Payload;
use weigh_model::plan::{Exclusion, Runtime};
use weigh_model::protocol::{Fault, Phase};
use weigh_model::record::StopReason;
use weigh_model::study::StudyText;

/// The results of one run.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Analysis {
    /// The question and how to read the answer.
    pub study: StudyText,
    /// Facts of the run, for the heading.
    pub run: RunFacts,
    /// The inputs.
    pub payloads: Vec<Payload>,
    /// The runtimes.
    pub runtimes: Vec<Runtime>,
    /// Every planned cell that has at least one visit, in the plan's order.
    pub cells: Vec<CellResult>,
    /// One group of competing cells for each payload and runtime.
    pub groups: Vec<Group>,
    /// The published table beside ours, if the study has one and its cells were measured.
    pub published: Option<Vec<PublishedComparison>>,
    /// The answer, in sentences written from the data.
    pub findings: Vec<Finding>,
    /// Cells that were planned and not measured: why.
    pub faults: Vec<FaultRow>,
    /// Cells that were planned and for which the budget did not suffice.
    pub unmeasured: Vec<String>,
    /// Cells that were never planned: why.
    pub exclusions: Vec<Exclusion>,
    /// Caveats of the whole run; those of a cell stand with the cell.
    pub caveats: Vec<Caveat>,
}

/// Facts of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RunFacts {
    /// RFC 3339, UTC.
    pub started: String,
    /// Weighbridge's version.
    pub version: String,
    /// The seed.
    pub seed: u64,
    /// Seconds of wall time.
    pub seconds: f64,
    /// Rounds.
    pub rounds: u32,
    /// The run ended by itself (it was not interrupted for good).
    pub complete: bool,
    /// One line on the machine: processor, cores, kernel.
    pub machine: String,
}

/// What was measured of one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Estimate {
    /// Samples.
    pub samples: u32,
    /// Rounds they come from.
    pub rounds: u32,
    /// Smallest CPU time of a sample, nanoseconds a pass over all items.
    pub min: f64,
    /// The headline: the 0.1 quantile over rounds of the median CPU time within a round, nanoseconds a pass. Neighbours
    /// on the machine only ever add CPU time, so this is what the code costs when it is left alone.
    pub cpu: f64,
    /// The median over rounds of the same: what a round in the middle took, neighbours and all.
    pub cpu_median: f64,
    /// Median absolute deviation of CPU time, over all samples.
    pub mad: f64,
    /// Lower end of the 95% bootstrap interval of `cpu`, over rounds; while there is one round, of the median of its
    /// samples; of a single sample, the sample. With few rounds it lies below every one of them.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The median over rounds of the median wall time within a round.
    pub wall_median: f64,
    /// Involuntary context switches over all samples.
    pub preempted: u64,
}

impl Estimate {
    /// Codec throughput in MB/s (10⁶ bytes): uncompressed bytes ÷ CPU time, both ways.
    pub fn throughput(&self, uncompressed_bytes: u64) -> f64 {
        if self.cpu > 0.0 { uncompressed_bytes as f64 * 1e3 / self.cpu } else { 0.0 }
    }
}

/// The results of one cell.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CellResult {
    /// Its factors.
    pub cell: Cell,
    /// Codec library and version.
    pub library: Option<String>,
    /// Uncompressed bytes of all items; for a value, of its serialization by this cell's serializer.
    pub decoded_bytes: u64,
    /// Encoded bytes of all items, dictionaries left out.
    pub encoded_bytes: u64,
    /// Bytes of a dictionary beside them.
    pub dictionary_bytes: u64,
    /// Statistics by phase.
    pub phases: BTreeMap<Phase, Estimate>,
    /// Peak memory in bytes, by phase.
    pub peak_bytes: BTreeMap<Phase, u64>,
    /// The cost of the serializer alone (encode and decode of the identity cell beside it), if measured.
    pub serializer_alone: Option<(Estimate, Estimate)>,
    /// On its group's Pareto front of encode CPU time and encoded bytes.
    pub front: bool,
    /// The cell that beats it on both axes, when it is not on the front.
    pub dominated_by: Option<String>,
    /// Encode CPU time ÷ that of the group's reference cell, with its interval over the rounds of both.
    pub relative: Option<Relative>,
    /// Why it was no longer visited; `None` while the run goes on.
    pub stop: Option<StopReason>,
    /// The independent decoder that agreed.
    pub independent: Option<String>,
    /// What to keep in mind.
    pub caveats: Vec<Caveat>,
}

impl CellResult {
    /// Compression ratio: uncompressed ÷ compressed.
    pub fn ratio(&self) -> f64 {
        self.decoded_bytes as f64 / (self.encoded_bytes.max(1)) as f64
    }

    /// Space saving: 1 − compressed ÷ uncompressed.
    pub fn space_saving(&self) -> f64 {
        1.0 - self.encoded_bytes as f64 / (self.decoded_bytes.max(1)) as f64
    }

    /// The codec alone: `Compress` where it was measured apart, else `Encode`.
    pub fn compress(&self) -> Option<&Estimate> {
        self.phases.get(&Phase::Compress).or_else(|| self.phases.get(&Phase::Encode))
    }

    /// The codec alone: `Decompress` where it was measured apart, else `Decode`.
    pub fn decompress(&self) -> Option<&Estimate> {
        self.phases.get(&Phase::Decompress).or_else(|| self.phases.get(&Phase::Decode))
    }
}

/// A number with its 95% interval over rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Quantity {
    /// The number.
    pub value: f64,
    /// Lower end; of a single round, the number.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A ratio with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Relative {
    /// The ratio.
    pub ratio: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Cells that compete: same payload, same runtime.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Group {
    /// The payload's name.
    pub payload: String,
    /// The runtime's name.
    pub runtime: String,
    /// Ids of the cells on the front, by encoded bytes, descending (fastest first).
    pub front: Vec<String>,
    /// The id of the reference cell of `relative`.
    pub reference: Option<String>,
    /// Total times over links, when the study asks for them.
    pub links: Vec<LinkMix>,
}

/// One level, as published and as measured here.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PublishedComparison {
    /// The published row.
    pub published: weigh_model::study::PublishedRow,
    /// The cell measured here.
    pub cell: String,
    /// MB/s of uncompressed bytes.
    pub compress_mb_s: f64,
    /// MB/s of uncompressed bytes.
    pub decompress_mb_s: f64,
    /// The published rate corrected: as published × ratio as published.
    pub decompress_mb_s_corrected: f64,
    /// Compression ratio.
    pub ratio: f64,
    /// Percent.
    pub space_saving: f64,
    /// Ratio ÷ compression seconds, as in the publication.
    pub ratio_per_time: f64,
    /// Milliseconds of CPU time to compress the object.
    pub ms: f64,
}

/// One sentence of the answer with what it rests on.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Finding {
    /// `link` (the answer), `beats`, `break-even`, `serializer`, `published`, `level`, `size`, `total`, `dominated`,
    /// `front`, `memory`, `marshaller`.
    pub topic: String,
    /// The sentence, plain text.
    pub text: String,
    /// Ids of the cells it rests on.
    pub cells: Vec<String>,
    /// 0 is the most important; the terminal shows the first few.
    pub rank: u32,
}

/// A planned cell without a number.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FaultRow {
    /// The cell's id.
    pub cell: String,
    /// The round.
    pub round: u32,
    /// Why.
    pub fault: Fault,
}
