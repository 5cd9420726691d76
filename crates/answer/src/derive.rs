//! Derives a report from a plan and its records: rows, what differs, groups, exhibits, caveats, the recommendation and the
//! evidence. It is computed each time, with the same result each time.

pub(crate) mod caveats;
pub(crate) mod group;
pub(crate) mod judge;
pub(crate) mod row;

use weigh_model::link::LinkSpec;
use weigh_model::plan::Plan;
use weigh_model::record::{Record, VisitRecord};

use crate::advice::advise;
use crate::finding::findings;
use crate::gather::{Gathered, gather};
use crate::metric::MetricDescription;
use crate::report::finding::Evidence;
use crate::report::shape::Shape;
use crate::report::{OverLink, Report, RunFacts};
use crate::row::Row;
use crate::subject;
use group::groups;
use judge::judge;
use row::row;

/// The links that were measured.
pub(crate) fn links(plan: &Plan, gathered: &Gathered) -> Vec<OverLink> {
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
pub(crate) fn rows_of(shape: &Shape, plan: &Plan, gathered: &Gathered) -> Vec<Row> {
    let measured = gathered.cells.iter().filter(|m| (shape.is_row)(m.cell));
    let mut rows: Vec<Row> = measured.map(|m| row(shape, plan, m)).collect();
    (shape.complete)(&mut rows);
    rows
}

/// The rows of a run alone, without what compares them: what a history keeps of one that is not complete.
pub fn rows(plan: &Plan, records: &[Record]) -> Vec<Row> {
    rows_of(subject::of_plan(plan), plan, &gather(plan, records))
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
            shape,
            payloads: plan.payloads.clone(),
            runtimes: plan.runtimes.clone(),
            servers: plan.servers.clone(),
            stores: plan.stores.clone(),
            links: links(plan, &gathered),
            metrics: shape.metrics().map(MetricDescription::from).collect(),
            comparisons,
            rows,
            groups,
            faults: gathered.faults.clone(),
            unmeasured: gathered.unmeasured.clone(),
            exclusions: plan.exclusions.clone(),
            ..Report::default()
        };
        report.exhibits = (shape.exhibits)(&Evidence { plan, report: &report }, &gathered);
        caveats::add(shape, plan, &gathered, &mut report);
        report.advice = advise(&Evidence { plan, report: &report });
        report.findings = findings(shape.findings, &Evidence { plan, report: &report });
        report
    }
}
