//! The exhibits of a report: results that are no table of metrics. [`crate::exhibit`] computes and presents them.

pub mod comparison;
pub mod crossover;
pub mod fairness;
pub mod links;
pub mod negotiation;
pub mod prediction;
pub mod published;
pub mod quirk;
pub mod waits;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::exhibit::comparison::Comparisons;
use crate::report::exhibit::crossover::Crossovers;
use crate::report::exhibit::fairness::SlowClients;
use crate::report::exhibit::links::LinkTotals;
use crate::report::exhibit::negotiation::Negotiations;
use crate::report::exhibit::prediction::ComputedCalls;
use crate::report::exhibit::published::BesidePublished;
use crate::report::exhibit::waits::Waits;

/// The exhibits of a report; an exhibit that its study does not request is empty.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Exhibits {
    /// Total times over links, computed, group by group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<LinkTotals>,
    /// Pairs of clients that differ in one factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparisons: Option<Comparisons>,
    /// Calls of clients computed from their parts, compared with measured calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computed_calls: Option<ComputedCalls>,
    /// The size from which on precompressed files pay, server by server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crossovers: Option<Crossovers>,
    /// How servers negotiate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub negotiations: Option<Negotiations>,
    /// The effect of slow clients on other requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<SlowClients>,
    /// A published table beside what was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<BesidePublished>,
    /// Waiting times over links, computed and measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Waits>,
}
