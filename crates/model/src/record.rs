//! Records: what a run appends to `records.ndjson`, one JSON object a line. Records are the truth; every
//! estimate is derived from them again.

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
    /// A cell without a number.
    Fault {
        /// The cell's id.
        cell: String,
        /// The round.
        round: u32,
        /// Why.
        fault: Fault,
    },
    /// A cell is done: no further visits.
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
        /// What to keep in mind.
        caveat: Caveat,
    },
    /// The run was taken up again after an interruption.
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
        /// Seconds of wall time this run took, interruptions left out.
        seconds: f64,
    },
}

/// One visit: everything the worker observed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct VisitRecord {
    /// The cell's id.
    pub cell: String,
    /// The round, from 1.
    pub round: u32,
    /// Seconds of wall time from the run's start (of all its parts) to the end of this visit.
    pub at: f64,
    /// Seconds of wall time the visit took in all, untimed work included.
    pub took: f64,
    /// What the hypervisor took meanwhile; null where the system does not tell, and in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal: Option<Steal>,
    /// The items are so many instances of a family: what one takes and has is its share of the figures here. 0: no family.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub instances: u32,
    /// Uncompressed bytes of all items; of a delivery, of the payload.
    pub decoded_bytes: u64,
    /// Encoded bytes of all items; of a delivery, of the body of one response.
    pub encoded_bytes: u64,
    /// Bytes of a dictionary beside them.
    #[serde(default)]
    pub dictionary_bytes: u64,
    /// SHA-256 of the encoded items; empty for a delivery, whose bodies are compared as they come.
    pub sha256_encoded: String,
    /// Compared byte for byte in this visit.
    pub verified: bool,
    /// The independent decoder that agreed in this visit, if it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub independent: Option<String>,
    /// Samples by phase: every one is kept.
    pub phases: BTreeMap<Phase, Samples>,
    /// Samples of one instance of a family again and again, by phase.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub again: BTreeMap<Phase, Samples>,
    /// Peak memory in bytes, by phase, when measured in this visit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub peak_bytes: BTreeMap<Phase, u64>,
    /// What was observed of a delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<Box<DeliveryVisit>>,
    /// What was observed of a client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Box<ClientVisit>>,
}

impl VisitRecord {
    /// A visit of which nothing is known yet but where it was.
    pub fn of(cell: &str, round: u32) -> VisitRecord {
        VisitRecord { cell: cell.to_owned(), round, ..VisitRecord::default() }
    }

    /// An instance's share of an amount that the record has of all items.
    pub fn share(&self, amount: f64) -> f64 {
        amount / f64::from(self.instances.max(1))
    }

    /// Whether the output is the one of another visit to the same cell: of a codec by its digest, of a delivery by its
    /// length.
    pub fn is_same_output(&self, other: &VisitRecord) -> bool {
        self.sha256_encoded == other.sha256_encoded && self.encoded_bytes == other.encoded_bytes
    }
}

fn is_zero(instances: &u32) -> bool {
    *instances == 0
}

/// What to keep in mind of a cell after these visits, beside what follows from its figures: totals are those of all visits.
pub fn caveats(visits: &[&VisitRecord]) -> Vec<Caveat> {
    let deliveries: Vec<&DeliveryVisit> = visits.iter().filter_map(|v| v.delivery.as_deref()).collect();
    let clients: Vec<&ClientVisit> = visits.iter().filter_map(|v| v.client.as_deref()).collect();
    let stolen = steal::caveat(visits.iter().map(|visit| visit.steal.as_ref()));
    delivery::caveats(&deliveries).into_iter().chain(client::caveats(&clients)).chain(stolen).collect()
}

/// Why a cell is no longer visited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum StopReason {
    /// Its intervals are as narrow as asked for.
    Settled,
    /// Its place on the front is beyond doubt; its intervals may be wider than asked for.
    Placed,
    /// Another cell beats it on every axis, beyond doubt.
    Dominated {
        /// The other cell's id.
        by: String,
    },
    /// The budget ended (its own, or the run's).
    Budget,
    /// It had as many rounds as the study gives at most.
    Rounds,
    /// It faulted.
    Fault,
}
