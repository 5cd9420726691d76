//! The shape of a subject: data and pure functions. Everything done with results is written once, for all shapes.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};
use weigh_model::caveat::Caveat;
use weigh_model::cell::{Cell, Subject};
use weigh_model::plan::Plan;
use weigh_model::protocol::Phase;
use weigh_model::text::clean;

use crate::block::Block;
use crate::gather::{Gathered, Measured};
use crate::group::Group;
use crate::metric::Metric;
use crate::output::Picture;
use crate::report::Report;
use crate::report::advice::Advise;
use crate::report::exhibit::Exhibits;
use crate::report::finding::{Evidence, Topic};
use crate::report::question::{Groups, Question};
use crate::report::ranking::Costs;
use crate::row::Row;
use crate::table::{Cell as Field, Column, Columns, Kind};

/// The facts about a cell, by name, as far as they are known.
pub type Facts = Vec<(&'static str, Option<String>)>;

/// The definition of a subject.
pub struct Shape {
    /// Its name in JSON: `codec`.
    pub name: &'static str,
    pub kinds: &'static [Subject],
    /// The phases whose CPU time decides when a cell is settled, what dominates what, and how long a visit takes; that
    /// of the front is first.
    pub phases: &'static [Phase],
    /// Whether a cell is a row; others appear only in exhibits.
    pub is_row: fn(&Cell) -> bool,
    pub factors: &'static [Factor],
    /// The factors that rows of a group have in common.
    pub group_by: &'static [&'static str],
    /// The metrics of a row, in blocks.
    pub metrics: &'static [&'static [Metric]],
    pub facts: fn(&Plan, &Measured) -> Facts,
    /// Adds results to rows that depend on other rows.
    pub complete: fn(&mut [Row]),
    /// The axes of the front; none if nothing competes.
    pub axes: Option<Axes>,
    /// What an operation costs, for rankings under a reader's conditions; none if nothing competes.
    pub costs: Option<Costs>,
    /// The metrics whose precision matters.
    pub headline: &'static [&'static str],
    /// The rows that the others are compared with.
    pub marks: &'static [Mark],
    /// Caveats of a cell that follow from its visits.
    pub caveats: fn(&Evidence, &Measured, &Row) -> Vec<Caveat>,
    /// Whether wall time ÷ CPU time shows a noisy machine.
    pub watches_wall: bool,
    /// Results that are not a table of metrics.
    pub exhibits: fn(&Evidence, &Gathered) -> Exhibits,
    /// What there is to choose.
    pub questions: fn(&Groups) -> Vec<Question>,
    /// The recommendation, from what was chosen.
    pub advise: Advise,
    /// The topics of the evidence, the most important first.
    pub findings: &'static [(&'static str, Topic)],
    pub look: Look,
}

/// The presentation of a subject's results in tables.
pub struct Look {
    /// The word for one row and for several: `setting`, `settings`.
    pub noun: (&'static str, &'static str),
    pub method: &'static str,
    /// The name of a row inside its group, cleaned.
    pub label: fn(&Row) -> String,
    /// The title of a group, cleaned.
    pub title: fn(&Report, &Group) -> String,
    /// The part that distinguishes groups of one content, cleaned, if these have a common title; none if each has its
    /// own.
    pub part: Option<fn(&Report, &Group) -> String>,
    pub about: fn(&Report, &Group) -> Vec<String>,
    /// The columns of a group's table; others are available for any factor and metric.
    pub columns: fn(&Report, &Group) -> Vec<ShownColumn>,
    /// Short remarks on a row in addition to its caveats.
    pub notes: fn(&Report, &Row) -> Vec<String>,
    /// All groups in one table, for summaries.
    pub overview: fn(&Report, &Columns) -> Vec<Block>,
    /// Its pictures, in the report's order.
    pub pictures: fn(&Report) -> Vec<Picture>,
    /// A summary shows the fronts of at most this many groups; with more groups, the overview.
    pub few: usize,
}

/// A column of a group's table, and its cells.
pub struct ShownColumn {
    pub column: Column,
    /// A row's value in it.
    pub of: Box<OfRow>,
}

/// The value of a row in a column.
type OfRow = dyn Fn(&Report, &Group, &Row) -> Field;

pub fn shown(column: Column, of: impl Fn(&Report, &Group, &Row) -> Field + 'static) -> ShownColumn {
    ShownColumn { column, of: Box::new(of) }
}

pub fn metric(column: Column, id: &'static str, factor: f64) -> ShownColumn {
    shown(column.of(id), move |_, _, row| row.value(id).map(|value| value * factor).into())
}

pub struct Factor {
    /// Its name: `payload`.
    pub id: &'static str,
    pub of: fn(&Cell) -> Option<String>,
}

/// The axes on which rows compete.
pub struct Axes {
    /// Metrics of time with their names: a group uses the first one that one of its rows has; ratios use only the
    /// first.
    pub times: &'static [(&'static str, &'static str)],
    /// The metric of bytes.
    pub size: &'static str,
}

/// A row that the others of its group are compared with.
pub struct Mark {
    /// Its name: `reference`.
    pub name: &'static str,
    /// A word in the note of its row: `plain`.
    pub note: &'static str,
    /// Selects it from a group's rows and those on its front.
    pub pick: for<'r> fn(&[&'r Row], &[&'r Row]) -> Option<&'r Row>,
}

impl Shape {
    /// A column of a factor or metric by its id.
    pub fn column(&self, id: &str) -> Option<ShownColumn> {
        if let Some(factor) = self.factors.iter().find(|factor| factor.id == id) {
            let column = Column::factor(factor.id, "", Kind::Text).of(factor.id);
            let of = factor.of;
            return Some(shown(column, move |_, _, row| clean(&of(&row.cell).unwrap_or_default()).into()));
        }
        let of = self.metrics().find(|metric| metric.id == id)?;
        let (unit, kind, times) = of.unit.column();
        Some(metric(Column::new(of.id, unit, kind, 0), of.id, times))
    }

    /// The meaning of a metric; empty for an unknown one.
    pub fn about(&self, id: &str) -> &'static str {
        self.metrics().find(|metric| metric.id == id).map_or("", |metric| metric.about)
    }

    /// Its metrics, one after the other.
    pub fn metrics(&self) -> impl Iterator<Item = &'static Metric> {
        self.metrics.iter().copied().flatten()
    }

    /// The common factors of a cell's group.
    pub fn key(&self, cell: &Cell) -> BTreeMap<String, String> {
        let by = self.factors.iter().filter(|factor| self.group_by.contains(&factor.id));
        let of = |factor: &Factor| match factor.id {
            "runtime" => Some(cell.runtime_in_common().to_owned()),
            _ => (factor.of)(cell),
        };
        by.filter_map(|factor| Some((factor.id.to_owned(), of(factor)?))).collect()
    }
}

/// (time, bytes) of a row on the axes of its group; none without the time.
pub fn point(axes: &Axes, time: &str, row: &Row) -> Option<[f64; 2]> {
    Some([row.value(time)?, row.value(axes.size).unwrap_or(0.0)])
}

/// The time metric of a group with its name: the first one that one of its rows has.
pub fn time_axis<'r>(
    axes: &Axes,
    rows: impl Iterator<Item = &'r Row> + Clone,
) -> Option<(&'static str, &'static str)> {
    axes.times.iter().copied().find(|(time, _)| rows.clone().any(|row| row.get(time).is_some()))
}

/// In JSON a shape is its name.
impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name)
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name)
    }
}
