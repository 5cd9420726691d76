//! CPU time per response at the rate of the site's busiest hour. Between single requests caches get cold and the processor sleeps. So a response takes more
//! CPU time than on a busy server, and cheap ones take several times as much.

use weigh_model::cell::{Cell, Subject};
use weigh_model::site::{Kind, Site};
use weigh_model::units;

use super::ground::subject;
use crate::finding::delivery::label::per_second;
use crate::first::distinct;
use crate::report::Report;
use crate::row::Row;
use crate::subject::delivery::CPU;

/// What was measured of responses at a rate and one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct AtRate {
    /// The kind of cell, its CPU nanoseconds one after the other, and how many more it takes at the rate; ascending.
    points: Vec<(Subject, f64, f64)>,
    /// Milliseconds between requests; none: nothing was measured at a rate.
    every_ms: Option<u32>,
}

/// The milliseconds between requests; none: they come one after the other.
fn every_ms(cell: &Cell) -> Option<u32> {
    cell.delivery.as_ref()?.every_ms
}

/// Whether a cell is the same as one at a rate, one request after the other.
fn is_closed(cell: &Cell, at_rate: &Cell) -> bool {
    let mut same = at_rate.clone();
    if let Some(delivery) = &mut same.delivery {
        delivery.every_ms = None;
    }
    cell.payload == at_rate.payload && cell.factors(&cell.runtime) == same.factors(&same.runtime)
}

impl AtRate {
    /// What reports have of it.
    pub fn of(reports: &[Report]) -> AtRate {
        let rows = || reports.iter().flat_map(|report| &report.rows);
        let point = |row: &Row| {
            let closed = rows().find(|other| is_closed(&other.cell, &row.cell))?.value(CPU)?;
            Some((row.cell.subject.clone(), closed, (row.value(CPU)? - closed).max(0.0)))
        };
        let at_rate = rows().filter(|row| every_ms(&row.cell).is_some());
        let mut points: Vec<_> = at_rate.clone().filter_map(point).collect();
        points.sort_by(|a, b| a.1.total_cmp(&b.1));
        AtRate { points, every_ms: at_rate.filter_map(|row| every_ms(&row.cell)).next() }
    }

    /// CPU nanoseconds of a response beyond those of one after the other: between two that were measured in proportion, outside of them as of the nearest; 0
    /// if none was.
    pub fn beyond(&self, row: &Row) -> f64 {
        let own = || self.points.iter().filter(|(subject, ..)| *subject == row.cell.subject);
        let cpu = row.value(CPU).unwrap_or(0.0);
        let below = own().rfind(|point| point.1 <= cpu).or_else(|| own().next());
        let above = own().find(|point| point.1 > cpu).or(below);
        let (Some(below), Some(above)) = (below, above) else { return 0.0 };
        let share = (cpu - below.1) / (above.1 - below.1);
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        below.2 + share * (above.2 - below.2)
    }

    /// The milliseconds between requests with which a kind was measured; none: it was not, or nothing to compare that with.
    pub fn every_ms(&self, kind: Kind) -> Option<u32> {
        let is_own = |(of, ..): &(Subject, f64, f64)| *of == subject(kind);
        self.every_ms.filter(|_| self.points.iter().any(is_own))
    }

    /// The same of these kinds alone.
    pub fn only(mut self, is_meant: impl Fn(Kind) -> bool) -> AtRate {
        let kinds: Vec<Subject> = Kind::ALL.into_iter().filter(|kind| is_meant(*kind)).map(subject).collect();
        self.points.retain(|(of, ..)| kinds.contains(of));
        self
    }

    /// For what load the CPU time of these kinds holds, in a line; none: no server sends any of them.
    pub fn words(&self, kinds: impl Iterator<Item = Kind>, site: &Site) -> Option<String> {
        let sent = distinct(kinds.filter(|kind| *kind != Kind::Value));
        let (known, unknown): (Vec<Kind>, Vec<Kind>) =
            sent.into_iter().partition(|kind| self.every_ms(*kind).is_some());
        let at_rate = known.first().and_then(|kind| self.every_ms(*kind)).map(|ms| {
            let peak = match site.visitors.peak {
                Some(peak) => format!("the site's busiest hour has {}", units::significant(peak.value)),
                None => "the site's busiest hour was not counted".into(),
            };
            let rate = per_second(ms);
            format!("CPU time is that at {rate} requests/s at random times ({peak}). A busier server needs less per request.")
        });
        let busy = (!unknown.is_empty()).then(|| {
            let names: Vec<&str> = unknown.iter().map(|kind| kind.plural()).collect();
            let names = units::list(&names);
            format!("CPU time of {names} is that of a busy server. With fewer requests it is higher per request; by how much was not measured.")
        });
        let all: Vec<String> = at_rate.into_iter().chain(busy).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }
}
