//! CPU time per response at the rate of the site's busiest hour. Between single requests caches get cold and the processor sleeps. So a response takes more
//! CPU time than on a busy server, and cheap ones take several times as much.

use weigh_model::cell::Cell;
use weigh_model::policy::{AtRate, Decision, Policy};
use weigh_model::site::{Kind, Site};
use weigh_model::units;

use super::ground::subject;
use crate::first::distinct;
use crate::metric::delivery::CPU;
use crate::names::per_second;
use crate::report::Report;
use crate::row::Row;

/// What was measured of each kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates(Vec<(Kind, AtRate)>);

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

impl Rates {
    pub fn of(reports: &[Report]) -> Rates {
        let rows = || reports.iter().flat_map(|report| &report.rows);
        let mut found = Rates::default();
        for row in rows() {
            let Some(every_ms) = every_ms(&row.cell) else { continue };
            let Some(kind) = Kind::ALL.into_iter().find(|kind| subject(*kind) == row.cell.subject) else {
                continue;
            };
            let closed =
                rows().find(|other| is_closed(&other.cell, &row.cell)).and_then(|row| row.value(CPU));
            let Some((closed, at_rate)) = closed.zip(row.value(CPU)) else { continue };
            let point = [closed, (at_rate - closed).max(0.0)];
            match found.0.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, known)) => known.points.push(point),
                None => found.0.push((kind, AtRate { every_ms, points: vec![point] })),
            }
        }
        found.0.iter_mut().for_each(|(_, own)| own.points.sort_by(|a, b| a[0].total_cmp(&b[0])));
        found
    }

    pub fn of_policy(policy: &Policy) -> Rates {
        let of = |decision: &Decision| Some((decision.kind, decision.at_rate.clone()?));
        Rates(policy.decisions.iter().filter_map(of).collect())
    }

    /// That of a kind; none: it was not measured.
    pub fn of_kind(&self, kind: Kind) -> Option<&AtRate> {
        self.0.iter().find(|(known, _)| *known == kind).map(|(_, own)| own)
    }

    /// CPU nanoseconds of a response beyond those on a busy server; 0 where that was not measured, which [`Rates::words`] says.
    pub fn beyond(&self, row: &Row) -> f64 {
        let own = self.0.iter().find(|(kind, _)| subject(*kind) == row.cell.subject);
        own.zip(row.value(CPU)).map_or(0.0, |((_, own), cpu)| own.more(cpu))
    }

    /// For what load the CPU time of these kinds holds, in a line; none: no server sends any of them.
    pub fn words(&self, kinds: impl Iterator<Item = Kind>, site: &Site) -> Option<String> {
        let sent = distinct(kinds.filter(|kind| *kind != Kind::Value));
        let (known, unknown): (Vec<Kind>, Vec<Kind>) =
            sent.into_iter().partition(|kind| self.of_kind(*kind).is_some());
        let at_rate = known.first().and_then(|kind| self.of_kind(*kind)).map(|own| {
            let peak = match site.visitors.peak {
                Some(peak) => format!("the site's busiest hour has {}", units::significant(peak.value)),
                None => "the site's busiest hour was not counted".into(),
            };
            let rate = per_second(own.every_ms);
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
