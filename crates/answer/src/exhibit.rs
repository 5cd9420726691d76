//! Exhibits: results that are not a table of metrics. Each has its own type and presents itself.

pub mod comparison;
pub mod crossover;
pub mod fairness;
pub mod links;
pub mod negotiation;
pub mod prediction;
pub mod published;
pub mod stored;
pub mod waits;

use anyhow::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Block;
use crate::format::{Options, Rendered};
use crate::group::Group;
use crate::report::Report;
use comparison::Comparisons;
use crossover::Crossovers;
use fairness::SlowClients;
use links::LinkTotals;
use negotiation::Negotiations;
use prediction::ComputedCalls;
use published::BesidePublished;
use waits::Waits;

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

/// How an exhibit is shown.
pub trait Exhibit {
    /// The part of a report before its groups; `options` say how much.
    fn blocks(&self, report: &Report, options: &Options) -> Vec<Block>;

    /// Whether it comes before the table of all groups because it answers the question itself.
    fn leads(&self) -> bool {
        false
    }

    /// The part of a full report after the table of a group.
    fn group_blocks(&self, _report: &Report, _group: &Group) -> Vec<Block> {
        Vec::new()
    }

    /// Its tables for other programs.
    ///
    /// # Errors
    /// A table cannot be written.
    fn csv(&self, _report: &Report) -> Result<Vec<Rendered>> {
        Ok(Vec::new())
    }
}

impl Exhibits {
    /// Cells that are shown here and have no row.
    pub fn cells(&self) -> usize {
        self.fairness.as_ref().map_or(0, |fairness| fairness.0.len())
    }

    /// Those with content, in the order of reports.
    pub fn all(&self) -> Vec<&dyn Exhibit> {
        let all: [Option<&dyn Exhibit>; 8] = [
            self.links.as_ref().map(|e| e as &dyn Exhibit),
            self.crossovers.as_ref().map(|e| e as &dyn Exhibit),
            self.negotiations.as_ref().map(|e| e as &dyn Exhibit),
            self.waits.as_ref().map(|e| e as &dyn Exhibit),
            self.fairness.as_ref().map(|e| e as &dyn Exhibit),
            self.published.as_ref().map(|e| e as &dyn Exhibit),
            self.comparisons.as_ref().map(|e| e as &dyn Exhibit),
            self.computed_calls.as_ref().map(|e| e as &dyn Exhibit),
        ];
        all.into_iter().flatten().collect()
    }
}
