//! What the analysis of deliveries hands to reports: everything is derived, nothing is measured here.

mod fairness;
mod negotiation;
mod published;

use serde::{Deserialize, Serialize};

pub use fairness::{FairnessResult, Outcome};
pub use negotiation::{Judged, NegotiationResult, Quirk, Remark, Variant, places};
pub use published::{Agreement, Disagreement, Measure, PublishedTable, RowComparison};

use crate::analysis::model::{FaultRow, Finding, Quantity, Relative, RunFacts};
use weigh_model::caveat::Caveat;
use weigh_model::cell::{Cell, Transport};
use weigh_model::link::{LinkSpec, Measured};
use weigh_model::payload::Payload;
use weigh_model::plan::{Exclusion, Runtime, Server};
use weigh_model::record::StopReason;
use weigh_model::record::delivery::Workers;
use weigh_model::study::StudyText;

/// The results of one run of a delivery study.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DeliveryAnalysis {
    /// The question and how to read the answer.
    pub study: StudyText,
    /// Facts of the run, for the heading.
    pub run: RunFacts,
    /// The contents that were sent.
    pub payloads: Vec<Payload>,
    /// The PHP runtimes.
    pub runtimes: Vec<Runtime>,
    /// The web servers.
    pub servers: Vec<Server>,
    /// Every planned cell that has at least one visit, in the plan's order.
    pub cells: Vec<DeliveryResult>,
    /// One group of competing cells for each payload, server, runtime, transport, number of connections and link.
    pub groups: Vec<DeliveryGroup>,
    /// From which size on pre-encoded files pay, server by server.
    pub crossovers: Vec<Crossover>,
    /// How servers negotiate, one for each server and way; empty where the study does not ask.
    #[serde(default)]
    pub negotiations: Vec<NegotiationResult>,
    /// What slow clients do to everybody else, one a cell that has them, in the plan's order.
    #[serde(default)]
    pub fairness: Vec<FairnessResult>,
    /// The published table beside ours, if the study has one and its cells were measured.
    pub published: Option<PublishedTable>,
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

/// CPU nanoseconds a response: the 0.1 quantile over rounds, because neighbours on the machine only ever add CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Cpu {
    /// Server and PHP together: the sum of the two figures.
    pub total: Quantity,
    /// The server's processes; null when they were not read.
    pub server: Option<Quantity>,
    /// PHP's processes; null without PHP.
    pub php: Option<Quantity>,
    /// The load generator's, median over rounds; it is in none of the others.
    pub client: f64,
}

/// Times of all rounds in one histogram, seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Times {
    /// How many there are.
    pub count: u64,
    /// The smallest.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    /// The median.
    pub p50: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The largest.
    pub max: f64,
    /// Percent and seconds, as `ab` has them.
    pub percentiles: Vec<(u32, f64)>,
}

/// Context switches of the server's and PHP's processes a response, mean over all rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SwitchRate {
    /// The process waited for something.
    pub voluntary: f64,
    /// The process was put aside for another.
    pub involuntary: f64,
}

/// The results of one cell.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DeliveryResult {
    /// Its factors.
    pub cell: Cell,
    /// Library and version of the way.
    pub library: Option<String>,
    /// The content coding of the response as the server named it; null for identity.
    pub coding: Option<String>,
    /// Rounds with a response.
    pub rounds: u32,
    /// Responses that ended as they should, all rounds together.
    pub requests: u64,
    /// Requests that ended in a fault.
    pub faulted: u64,
    /// Bytes of the content.
    pub decoded_bytes: u64,
    /// Bytes of the body of a response, in its content coding.
    pub body_bytes: u64,
    /// Bytes of a response over the connection with head and framing, without TLS; mean.
    pub wire_bytes: f64,
    /// CPU time a response; null when nobody's was read.
    pub cpu: Option<Cpu>,
    /// Responses a second, median over rounds.
    pub rate: Option<Quantity>,
    /// Bytes a second over the connections, median over rounds.
    pub transfer: Option<Quantity>,
    /// Seconds a response when requests come one after the other, median over rounds; null with several connections. Times a
    /// hundred it is the published column.
    pub one_by_one: Option<Quantity>,
    /// Scheduled send → last byte.
    pub response: Option<Times>,
    /// Send → last byte.
    pub service: Option<Times>,
    /// Send → first byte.
    pub ttfb: Option<Times>,
    /// Most memory that the server's processes had after a block: PSS, bytes.
    pub server_pss: Option<u64>,
    /// Most memory that PHP's processes had after a block: PSS, bytes.
    pub php_pss: Option<u64>,
    /// Most bytes that PHP's memory manager had for one response.
    pub php_peak: Option<u64>,
    /// The workers of the PHP pool over all rounds.
    pub workers: Option<Workers>,
    /// Seconds that a worker of the pool is busy for a response: busy workers × wall time ÷ responses.
    pub worker_seconds: Option<f64>,
    /// Context switches a response.
    pub switches: Option<SwitchRate>,
    /// Bytes read from disk a response.
    pub read_bytes: Option<f64>,
    /// Bytes written to disk a response: spooled to temporary files.
    pub written_bytes: Option<f64>,
    /// Share of a core that the generator's busiest thread used, the largest of all rounds.
    pub client_share: f64,
    /// On its group's Pareto front of CPU time and body bytes.
    pub front: bool,
    /// The cell that beats it on both axes, when it is not on the front.
    pub dominated_by: Option<String>,
    /// CPU time ÷ that of the group's reference.
    pub to_reference: Option<Relative>,
    /// CPU time ÷ that of the group's gzip.
    pub to_gzip: Option<Relative>,
    /// Why it was no longer visited; null while the run goes on.
    pub stop: Option<StopReason>,
    /// What to keep in mind.
    pub caveats: Vec<Caveat>,
}

impl DeliveryResult {
    /// CPU nanoseconds a response of server and PHP.
    pub fn cpu_ns(&self) -> Option<f64> {
        self.cpu.as_ref().map(|cpu| cpu.total.value)
    }

    /// Space saving: 1 − body ÷ content.
    pub fn space_saving(&self) -> f64 {
        1.0 - self.body_bytes as f64 / self.decoded_bytes.max(1) as f64
    }
}

/// Cells that compete.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DeliveryGroup {
    /// The group's name: `page-path/nginx/php8.2/http`.
    pub name: String,
    /// The payload's name.
    pub payload: String,
    /// The server's name.
    pub server: String,
    /// The runtime's name; `-` without PHP.
    pub runtime: String,
    /// What responses travel over.
    pub transport: Transport,
    /// Connections.
    pub connections: u32,
    /// The link that its responses went over; null: the machine's own loopback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<OverLink>,
    /// Ids of its cells, in the plan's order.
    pub cells: Vec<String>,
    /// Ids of the cells on the front, by bytes, descending (least CPU time first).
    pub front: Vec<String>,
    /// The id of the reference: the content sent as it is.
    pub reference: Option<String>,
    /// The id of the group's gzip: encoded on the fly, level 6 or the nearest.
    pub gzip: Option<String>,
}

/// A link that responses went over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OverLink {
    /// What was asked of it.
    pub asked: LinkSpec,
    /// What it was measured as before its first use.
    pub measured: Measured,
}

/// From which size on sending a pre-encoded file pays, beside encoding it for each response.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Crossover {
    /// The server's name.
    pub server: String,
    /// What responses travel over.
    pub transport: Transport,
    /// Connections.
    pub connections: u32,
    /// The link by its name; null: the machine's own loopback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The content coding of both.
    pub coding: String,
    /// The way that encodes each response: `server/gzip:6`.
    pub on_the_fly: String,
    /// The way that sends a file made before: `server/gzip_static`.
    pub pre_encoded: String,
    /// One a size, ascending.
    pub sizes: Vec<SizeRatio>,
    /// Where CPU time on the fly ÷ pre-encoded is above 1.
    pub cpu: Option<Pays>,
    /// Where the rate pre-encoded ÷ on the fly is above 1.
    pub rate: Option<Pays>,
}

/// Both at one size.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SizeRatio {
    /// The payload's name.
    pub payload: String,
    /// Its bytes.
    pub bytes: u64,
    /// The id of the cell that encodes each response.
    pub on_the_fly: String,
    /// The id of the cell that sends a file made before.
    pub pre_encoded: String,
    /// CPU time on the fly ÷ pre-encoded.
    pub cpu: Option<Relative>,
    /// Rate pre-encoded ÷ on the fly.
    pub rate: Option<Relative>,
    /// Body bytes pre-encoded ÷ on the fly.
    pub body: f64,
}

/// Where pre-encoded files pay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "pays")]
pub enum Pays {
    /// At every size measured.
    Everywhere {
        /// Upper end of the interval of the size in bytes; null: below the smallest measured.
        high: Option<f64>,
    },
    /// From this size on.
    From {
        /// The size in bytes.
        bytes: f64,
        /// Lower end; null: below the smallest measured.
        low: Option<f64>,
        /// Upper end; null: above the largest measured.
        high: Option<f64>,
    },
    /// Not at the largest size measured.
    Nowhere {
        /// Lower end of the interval of the size in bytes; null: above the largest measured.
        low: Option<f64>,
    },
}
