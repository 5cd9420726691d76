//! A report: all results of a plan and its records. [`crate::derive`] computes it; formats, tables and pictures present it.

pub mod advice;
pub mod exhibit;
pub mod finding;
pub mod question;
pub mod ranking;
pub mod shape;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::caveat::Caveat;
use weigh_model::link::{LinkSpec, Measured};
use weigh_model::payload::Payload;
use weigh_model::plan::{Exclusion, Runtime, Server, Store};
use weigh_model::study::StudyText;

use crate::gather::FaultRow;
use crate::group::Group;
use crate::metric::MetricDescription;
use crate::output::Picture;
use crate::report::advice::Advice;
use crate::report::exhibit::Exhibits;
use crate::report::finding::Finding;
use crate::report::shape::Shape;
use crate::row::Row;

/// The results of one run.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Report {
    /// The question and how to read the answer.
    pub study: StudyText,
    /// Facts of the run, for the heading.
    pub run: RunFacts,
    /// The subject: `codec`, `delivery`, `client`.
    #[serde(rename = "subject")]
    #[schemars(with = "String")]
    pub shape: &'static Shape,
    /// The inputs.
    pub payloads: Vec<Payload>,
    /// The runtimes.
    pub runtimes: Vec<Runtime>,
    /// The web servers.
    pub servers: Vec<Server>,
    /// The stores.
    pub stores: Vec<Store>,
    /// The links of responses or calls, in the plan's order.
    pub links: Vec<OverLink>,
    /// The meaning of the rows' values.
    pub metrics: Vec<MetricDescription>,
    /// The number of comparisons for which significance is corrected: in each group every row with the first and with
    /// the best one, for every metric with a better direction.
    pub comparisons: usize,
    /// Every planned cell with at least one visit, in the plan's order.
    pub rows: Vec<Row>,
    /// Groups of rows that compete.
    pub groups: Vec<Group>,
    /// Results that are not a table of metrics.
    pub exhibits: Exhibits,
    /// The answer with the recommendation; null if too little was measured.
    pub advice: Option<Advice>,
    /// The evidence, in sentences written from the data.
    pub findings: Vec<Finding>,
    /// Planned cells that failed, with reasons.
    pub faults: Vec<FaultRow>,
    /// Planned cells that did not fit into the budget.
    pub unmeasured: Vec<String>,
    /// Cells that were left out of the plan, with reasons.
    pub exclusions: Vec<Exclusion>,
    /// Caveats of the whole run; those of a cell are in its row.
    pub caveats: Vec<Caveat>,
}

/// Facts of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
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
    /// Whether the run ended by itself (it was not interrupted for good).
    pub complete: bool,
    /// The machine: processor, cores, kernel, on one line.
    pub machine: String,
    /// Where it is stored, for commands that go on with it.
    #[serde(skip)]
    pub folder: Option<String>,
    /// The same by name, for comparisons: `processor`, `cores`, `kernel`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
}

/// A link of responses or calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverLink {
    /// What was requested.
    pub asked: LinkSpec,
    /// What was measured before its first use; for a link that was made again after an interruption, the first time.
    pub measured: Measured,
}

impl Report {
    /// The definition of its subject.
    pub fn shape(&self) -> &'static Shape {
        self.shape
    }

    /// Its pictures, in the report's order.
    pub fn pictures(&self) -> Vec<Picture> {
        (self.shape().look.pictures)(self)
    }

    /// Whether the answer recommends a cell.
    pub fn recommends(&self, id: &str) -> bool {
        self.advice.as_ref().is_some_and(|advice| advice.recommends(id))
    }

    /// A row by its cell's id.
    pub fn row(&self, id: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.cell.id == id)
    }

    /// The rows of a group, in the plan's order.
    pub fn members<'r>(&'r self, group: &'r Group) -> impl Iterator<Item = &'r Row> + Clone {
        group.cells.iter().filter_map(|id| self.row(id))
    }

    pub fn link(&self, name: &str) -> Option<&OverLink> {
        self.links.iter().find(|link| link.asked.name == name)
    }

    pub fn payload(&self, name: &str) -> Option<&Payload> {
        self.payloads.iter().find(|payload| payload.name == name)
    }
}
