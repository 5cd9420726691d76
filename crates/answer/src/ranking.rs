//! Ranks the configurations of a group under conditions that a reader chooses: link, connection, reads per write,
//! prices. The page computes the same in the browser (`web/src/ranking.ts`); both are held together by generated cases.
//!
//! An operation costs CPU time, whose figure varies, and time on the link, which is computed from its bytes. As in the
//! rest of a report, [`crate::verdict`] decides whether one costs less than another.

mod conditions;
pub mod document;

pub(crate) use conditions::OPERATIONS;
pub use conditions::{Conditions, Goal, LinkShare};

use weigh_model::payload::Payload;
use weigh_model::record::StopReason;

use crate::estimate::Estimate;
use crate::group::Group;
use crate::metric::Per;
use crate::report::Report;
use crate::row::Row;
use crate::subject::Shape;
use crate::verdict::is_total_less;

/// What an operation of a subject costs: its metrics, each with its name for readers.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// CPU time of a write; none if nothing is written.
    pub write: Option<(&'static str, &'static str)>,
    /// CPU time of a read.
    pub read: (&'static str, &'static str),
    /// Bytes over the link; none if they are not known.
    pub bytes: Option<(&'static str, &'static str)>,
}

/// The costs of one operation of a row.
#[derive(Clone, Debug)]
pub struct Contender<'a> {
    /// The row.
    pub row: &'a Row,
    /// CPU nanoseconds of a write.
    pub write: Option<Estimate>,
    /// CPU nanoseconds of a read.
    pub read: Option<Estimate>,
    /// Bytes over the link.
    pub bytes: Option<f64>,
    /// Nanoseconds that driver and store take for a byte of a write and of a read.
    pub stored: (f64, f64),
    /// Whether it may be the best. A row whose visits ended because another is significantly better on every axis may
    /// not: its few figures could only be ahead by chance.
    pub candidate: bool,
}

impl<'a> Contender<'a> {
    /// Of a row; none if its subject has no costs.
    pub fn of(report: &Report, row: &'a Row) -> Option<Contender<'a>> {
        let shape = report.shape();
        let costs = shape.costs.as_ref()?;
        let operations = report.payload(&row.cell.payload).map_or(1, Payload::operations) as f64;
        let share = |id: &str| if is_per_pass(shape, id) { 1.0 / operations } else { 1.0 };
        let time = |id: &str| Some(row.get(id)?.scaled(share(id)));
        let links = report.study.links.as_ref();
        let stored = |of: fn(&weigh_model::study::Links) -> Option<f64>| links.and_then(of).unwrap_or(0.0);
        Some(Contender {
            row,
            write: costs.write.and_then(|(id, _)| time(id)),
            read: time(costs.read.0),
            bytes: costs.bytes.and_then(|(id, _)| Some(row.value(id)? * share(id))),
            stored: (stored(|links| links.write_ns_per_byte), stored(|links| links.read_ns_per_byte)),
            candidate: !matches!(row.stop, Some(StopReason::Dominated { .. })),
        })
    }

    /// CPU nanoseconds of an operation that is to these shares a write and a read; none if a part is needed and missing.
    pub fn cost(&self, (writes, reads): (f64, f64)) -> Option<Estimate> {
        let part = |of: &Option<Estimate>, weight: f64| Some(of.as_ref()?.scaled(weight));
        match (writes, reads) {
            (writes, 0.0) => part(&self.write, writes),
            (0.0, reads) => part(&self.read, reads),
            (writes, reads) => Some(part(&self.write, writes)?.plus(&part(&self.read, reads)?)),
        }
    }

    /// Nanoseconds that driver and store take for the bytes of such an operation.
    pub fn stored_ns(&self, (writes, reads): (f64, f64)) -> f64 {
        self.bytes.unwrap_or(0.0) * (writes * self.stored.0 + reads * self.stored.1)
    }
}

fn is_per_pass(shape: &Shape, id: &str) -> bool {
    shape.metrics().any(|metric| metric.id == id && metric.per == Per::Pass)
}

/// The contenders of a group, in the plan's order.
pub fn contenders<'r>(report: &'r Report, group: &'r Group) -> Vec<Contender<'r>> {
    report.members(group).filter_map(|row| Contender::of(report, row)).collect()
}

/// The place of one configuration.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Ranked {
    /// The cell's id.
    pub id: String,
    /// What an operation costs: nanoseconds, or for [`Goal::Money`] the currency per million operations.
    pub total: f64,
    /// Lower end of its 95% interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// It may be the best, and no significant difference to the best is known. The best one ties with itself.
    pub tie: bool,
    /// It is the best.
    pub best: bool,
    /// It may be the best; a configuration that was given up early may not.
    pub candidate: bool,
}

/// An amount that varies by a factor of the CPU time, and one that is known.
struct Total<'c, 'r> {
    contender: &'c Contender<'r>,
    varies: Estimate,
    known: f64,
}

/// Ranks contenders of one group, the cheapest first. Those that lack a needed figure are left out.
pub fn rank(contenders: &[Contender], conditions: &Conditions) -> Vec<Ranked> {
    let writes_are_known = contenders.iter().any(|contender| contender.write.is_some());
    let shares = conditions.shares(writes_are_known);
    let of = |contender| total(contender, conditions, shares);
    let mut totals: Vec<Total> = contenders.iter().filter_map(of).collect();
    totals.sort_by(|a, b| a.value().total_cmp(&b.value()));
    let best = totals.iter().position(|total| total.contender.candidate);
    let ranked = |(at, total): (usize, &Total)| Ranked {
        id: total.contender.row.id().to_owned(),
        total: total.value(),
        low: total.varies.low.map(|low| low + total.known),
        high: total.varies.high.map(|high| high + total.known),
        tie: total.contender.candidate && best.is_some_and(|best| !totals[best].is_less(total)),
        best: Some(at) == best,
        candidate: total.contender.candidate,
    };
    totals.iter().enumerate().map(ranked).collect()
}

fn total<'c, 'r>(
    contender: &'c Contender<'r>,
    conditions: &Conditions,
    shares: (f64, f64),
) -> Option<Total<'c, 'r>> {
    let cost = contender.cost(shares)?;
    let bytes = contender.bytes.unwrap_or(0.0);
    let transfer = contender.bytes.map_or(0.0, |bytes| conditions.transfer_ns(bytes));
    let (per_ns, known) = conditions.value(transfer + contender.stored_ns(shares), bytes);
    Some(Total { contender, varies: cost.scaled(per_ns), known })
}

impl Total<'_, '_> {
    fn value(&self) -> f64 {
        self.varies.value + self.known
    }

    fn is_less(&self, other: &Total) -> bool {
        if self.varies.value == 0.0 && other.varies.value == 0.0 {
            return self.known < other.known;
        }
        is_total_less((&self.varies, self.known), (&other.varies, other.known))
    }
}

#[cfg(test)]
mod tests;
