//! Records: a run appends them to `records.ndjson`, one JSON object per line. Every estimate is computed from them.

pub mod client;
pub mod delivery;
pub mod fairness;
pub mod negotiation;
pub mod steal;

use serde::{Deserialize, Serialize};

use crate::caveat::Caveat;
use crate::protocol::{Fault, Phase, Samples};
use std::collections::BTreeMap;

pub use client::ClientVisit;
pub use delivery::DeliveryVisit;
use steal::Steal;

/// One line of `records.ndjson`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Record {
    /// One visit to one cell.
    Visit(VisitRecord),
    /// A failure: a cell without a number.
    Fault {
        /// The cell's id.
        cell: String,
        /// The round.
        round: u32,
        /// Why.
        fault: Fault,
    },
    /// A cell is done: it gets no further visits.
    Stop {
        /// The cell's id.
        cell: String,
        /// After which round.
        round: u32,
        /// Why.
        reason: StopReason,
    },
    /// A warning about the run or about one cell.
    Caveat {
        /// The cell's id, or null for the whole run.
        cell: Option<String>,
        /// The caveat.
        caveat: Caveat,
    },
    /// The run was resumed after an interruption.
    Resumed {
        /// Seconds since the epoch.
        at: i64,
    },
    /// The run is complete.
    End {
        /// Seconds since the epoch.
        at: i64,
        /// Rounds measured.
        rounds: u32,
        /// Seconds of wall time of this run, without interruptions.
        seconds: f64,
    },
}

/// One visit: everything that the worker observed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct VisitRecord {
    /// The cell's id.
    pub cell: String,
    /// The round, from 1.
    pub round: u32,
    /// Seconds of wall time from the start of the run (its parts added up) to the end of this visit.
    pub at: f64,
    /// Seconds of wall time of the whole visit, with untimed work.
    pub took: f64,
    /// CPU time that the hypervisor took during the visit; null where the system does not report it, and in older
    /// records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal: Option<Steal>,
    /// The number of instances of a family; figures here cover all of them, and each instance has an equal share. 0:
    /// not a family.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub instances: u32,
    /// Uncompressed bytes of all items; for a delivery, of the payload.
    pub decoded_bytes: u64,
    /// Encoded bytes of all items; for a delivery, of the body of one response.
    pub encoded_bytes: u64,
    /// Bytes of a dictionary in addition to the items.
    #[serde(default)]
    pub dictionary_bytes: u64,
    /// SHA-256 of the encoded items; empty for a delivery, whose bodies are compared as they arrive.
    pub sha256_encoded: String,
    /// Whether the items were compared byte by byte in this visit.
    pub verified: bool,
    /// The independent decoder that gave the same result in this visit; null: none was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub independent: Option<String>,
    /// All samples, by phase.
    pub phases: BTreeMap<Phase, Samples>,
    /// Samples of one instance of a family, measured repeatedly, by phase.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub again: BTreeMap<Phase, Samples>,
    /// Peak memory in bytes, by phase, when measured in this visit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub peak_bytes: BTreeMap<Phase, u64>,
    /// Set for a sample of files, for which sizes and times here are those of all files that it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// What was observed of a delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Box<DeliveryVisit>>,
    /// What was observed of a client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Box<ClientVisit>>,
}

/// How a visit's figures follow from a sample of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Sample {
    /// The share of the bytes that was measured, from 0 to 1.
    pub share: f64,
    /// Half the width of the 95% interval of `encoded_bytes`, as a share of it; null: too few files to tell.
    #[serde(default)]
    pub error: Option<f64>,
}

impl VisitRecord {
    /// The share of its times that was spent: less than 1 for a sample.
    pub fn spent(&self) -> f64 {
        self.sample.map_or(1.0, |sample| sample.share)
    }

    /// A visit with only its cell and round.
    pub fn of(cell: &str, round: u32) -> VisitRecord {
        VisitRecord { cell: cell.to_owned(), round, ..VisitRecord::default() }
    }

    /// An instance's share of an amount that covers all items.
    pub fn share(&self, amount: f64) -> f64 {
        amount / f64::from(self.instances.max(1))
    }

    /// Whether the output is the same as in another visit to the cell: for a codec by its digest, for a delivery by its
    /// length.
    pub fn is_same_output(&self, other: &VisitRecord) -> bool {
        self.sha256_encoded == other.sha256_encoded && self.encoded_bytes == other.encoded_bytes
    }
}

fn is_zero(instances: &u32) -> bool {
    *instances == 0
}

/// Caveats of a cell after these visits, except those that follow from its figures; totals are over all visits.
pub fn caveats(visits: &[&VisitRecord]) -> Vec<Caveat> {
    let deliveries: Vec<&DeliveryVisit> = visits.iter().filter_map(|v| v.delivery.as_deref()).collect();
    let clients: Vec<&ClientVisit> = visits.iter().filter_map(|v| v.client.as_deref()).collect();
    let stolen = steal::caveat(visits.iter().map(|visit| visit.steal.as_ref()));
    delivery::caveats(&deliveries).into_iter().chain(client::caveats(&clients)).chain(stolen).collect()
}

/// Why a cell gets no further visits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum StopReason {
    /// Its intervals are as narrow as requested.
    Settled,
    /// Its place on the front is settled at the study's confidence level; its intervals may be wider than requested.
    Placed,
    /// Another cell is better on every axis, with a significant difference.
    Dominated {
        /// The other cell's id.
        by: String,
    },
    /// The budget of the cell or of the run was used up.
    Budget,
    /// It had the largest number of rounds that the study allows.
    Rounds,
    /// It failed.
    Fault,
}
