//! A report: all results of a plan and its records. It is computed each time, with the same result each time; formats,
//! tables and pictures present it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::caveat::Caveat;
use weigh_model::link::{LinkSpec, Measured};
use weigh_model::payload::Payload;
use weigh_model::plan::{Exclusion, Plan, Runtime, Server, Store};
use weigh_model::protocol::Fault;
use weigh_model::record::{Record, VisitRecord};
use weigh_model::study::StudyText;

use crate::advice::{Advice, advise};
use crate::caveats;
use crate::exhibit::Exhibits;
use crate::finding::{Evidence, Finding, findings};
use crate::gather::{Gathered, gather};
use crate::group::{Group, groups};
use crate::metric::MetricDescription;
use crate::picture::Picture;
use crate::row::Row;
use crate::subject::{self, Shape};
use crate::verdict::judge;

/// The results of one run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The question and how to read the answer.
    pub study: StudyText,
    /// Facts of the run, for the heading.
    pub run: RunFacts,
    /// The subject: `codec`, `delivery`, `client`.
    pub subject: String,
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

/// The links that were measured.
fn links(plan: &Plan, gathered: &Gathered) -> Vec<OverLink> {
    let of_visit = |visit: &VisitRecord| {
        let delivery = visit.delivery.as_ref().and_then(|d| d.link.as_deref());
        delivery.or(visit.client.as_ref().and_then(|c| c.link.as_deref())).cloned()
    };
    let over = |asked: &LinkSpec| {
        let cells = gathered.cells.iter().filter(|m| m.cell.link() == Some(asked.name.as_str()));
        let measured = cells.flat_map(|m| &m.visits).find_map(|visit| of_visit(visit))?;
        Some(OverLink { asked: asked.clone(), measured })
    };
    plan.links.iter().filter_map(over).collect()
}

/// Every planned cell with at least one visit, in the plan's order.
fn rows_of(shape: &Shape, plan: &Plan, gathered: &Gathered) -> Vec<Row> {
    let measured = gathered.cells.iter().filter(|m| (shape.is_row)(m.cell));
    let mut rows: Vec<Row> = measured.map(|m| Row::of(shape, plan, m)).collect();
    (shape.complete)(&mut rows);
    rows
}

/// The rows of a run alone, without what compares them: what a history keeps of it.
pub fn rows(plan: &Plan, records: &[Record]) -> Vec<Row> {
    rows_of(subject::of_plan(plan), plan, &gather(plan, records))
}

/// A planned cell without a number.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FaultRow {
    /// The cell's id.
    pub cell: String,
    /// The round.
    pub round: u32,
    /// Why.
    pub fault: Fault,
}

impl Report {
    /// Computes it from the records of a run: a complete run, an interrupted one, or one in flight.
    ///
    /// `rounds`, `seconds` and `complete` of the run's facts are computed from the records, the rest comes from `run`.
    /// Records of cells that are not in the plan are left out.
    pub fn of(run: &RunFacts, plan: &Plan, records: &[Record]) -> Report {
        let shape = subject::of_plan(plan);
        let gathered = gather(plan, records);
        let mut rows = rows_of(shape, plan, &gathered);
        let comparisons = judge(shape, &mut rows, plan.seed);
        let groups = groups(shape, &mut rows);
        let mut report = Report {
            study: plan.study.clone(),
            run: RunFacts {
                rounds: gathered.rounds,
                seconds: gathered.seconds,
                complete: gathered.complete,
                ..run.clone()
            },
            subject: shape.name.to_owned(),
            payloads: plan.payloads.clone(),
            runtimes: plan.runtimes.clone(),
            servers: plan.servers.clone(),
            stores: plan.stores.clone(),
            links: links(plan, &gathered),
            metrics: shape.metrics().map(MetricDescription::from).collect(),
            comparisons,
            rows,
            groups,
            exhibits: Exhibits::default(),
            advice: None,
            findings: Vec::new(),
            faults: gathered.faults.clone(),
            unmeasured: gathered.unmeasured.clone(),
            exclusions: plan.exclusions.clone(),
            caveats: Vec::new(),
        };
        report.exhibits = (shape.exhibits)(&Evidence { plan, report: &report }, &gathered);
        caveats::add(shape, plan, &gathered, &mut report);
        report.advice = advise(&Evidence { plan, report: &report });
        report.findings = findings(shape.findings, &Evidence { plan, report: &report });
        report
    }

    /// The definition of its subject.
    pub fn shape(&self) -> &'static Shape {
        subject::named(&self.subject)
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

    /// A link by its name.
    pub fn link(&self, name: &str) -> Option<&OverLink> {
        self.links.iter().find(|link| link.asked.name == name)
    }

    /// A payload by its name.
    pub fn payload(&self, name: &str) -> Option<&Payload> {
        self.payloads.iter().find(|payload| payload.name == name)
    }
}
