//! The charts of a delivery study: bytes against CPU time, bars as in published tables, ratios by size, and CPU time by
//! whom it falls on.

use anyhow::{Context, Result};

use super::super::delivery::view::{self, GroupView};
use super::super::text::{clean, slug};
use super::title::Source;
use super::{Entry, Kind as Chart};
use crate::analysis::delivery::model::DeliveryAnalysis;
use weigh_model::cell::Subject;

mod bars;
mod crossover;
mod fairness;
mod stacked;
mod tradeoff;

/// Which chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Kind {
    Tradeoff,
    Bars,
    Crossover,
    Fairness,
    /// Of the content at this place.
    Stacked(usize),
}

impl<'a> From<&'a DeliveryAnalysis> for Source<'a> {
    fn from(analysis: &'a DeliveryAnalysis) -> Source<'a> {
        Source { run: &analysis.run, study: &analysis.study.name }
    }
}

/// The charts that an analysis has, in the report's order.
pub(in crate::report) fn index(analysis: &DeliveryAnalysis) -> Vec<Entry> {
    let mut entries = Vec::new();
    if crossover::possible(analysis) {
        entries.push(Entry {
            stem: "crossover".into(),
            about: "CPU time and rate of files encoded before beside on the fly, by size".into(),
            group: None,
            kind: Chart::Delivery(Kind::Crossover),
        });
    }
    if fairness::possible(analysis) {
        entries.push(Entry {
            stem: "slow-clients".into(),
            about: "What a light request takes beside slow clients, for each server and way".into(),
            group: None,
            kind: Chart::Delivery(Kind::Fairness),
        });
    }
    for (place, payload) in stacked::payloads(analysis).iter().enumerate() {
        entries.push(Entry {
            stem: format!("downloads-{:02}-{}", place + 1, slug(payload)),
            about: format!("CPU time of server and PHP for each way of sending {}", clean(payload)),
            group: None,
            kind: Chart::Delivery(Kind::Stacked(place)),
        });
    }
    for (index, group) in view::groups(analysis).iter().enumerate() {
        let name = format!("{:02}-{}", index + 1, slug(&group.title()));
        let title = group.title();
        let mut push = |kind: Kind, stem: &str, about: &str| {
            entries.push(Entry {
                stem: format!("{stem}-{name}"),
                about: format!("{about}: {title}"),
                group: Some(index),
                kind: Chart::Delivery(kind),
            });
        };
        if tradeoff::possible(group) {
            push(Kind::Tradeoff, "tradeoff", "CPU time against bytes");
        }
        if bars::possible(group) && group.subject() == Some(Subject::Page) {
            push(Kind::Bars, "bars", "Bytes and CPU time of each way");
        }
    }
    entries
}

/// Every chart as SVG.
pub(in crate::report) fn draw(analysis: &DeliveryAnalysis) -> Result<Vec<(Entry, String)>> {
    let groups = view::groups(analysis);
    let payloads = stacked::payloads(analysis);
    let of_group = |entry: &Entry, draw: fn(&DeliveryAnalysis, &GroupView) -> Result<String>| {
        let group = entry.group.and_then(|index| groups.get(index)).context("the chart has no group")?;
        draw(analysis, group)
    };
    let one = |entry: Entry| {
        let svg = match entry.kind {
            Chart::Delivery(Kind::Tradeoff) => of_group(&entry, tradeoff::draw),
            Chart::Delivery(Kind::Bars) => of_group(&entry, bars::draw),
            Chart::Delivery(Kind::Fairness) => fairness::draw(analysis),
            Chart::Delivery(Kind::Stacked(place)) => stacked::draw(analysis, payloads[place]),
            _ => crossover::draw(analysis),
        };
        let svg = svg.with_context(|| format!("drawing the chart {}", entry.stem))?;
        Ok((entry, svg))
    };
    index(analysis).into_iter().map(one).collect()
}
