//! The charts of a study of clients: for each content throughput, total time, time inside a call and memory beside each other, and the
//! CPU time of a transaction by whom it falls on.

use anyhow::{Context, Result};

use super::super::client::view::{self, GroupView};
use super::super::text::slug;
use super::title::Source;
use super::{Entry, Kind as Chart};
use crate::analysis::client::model::ClientAnalysis;

mod panels;
mod row;
mod split;

/// Which chart of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Kind {
    Panels,
    Split,
}

impl<'a> From<&'a ClientAnalysis> for Source<'a> {
    fn from(analysis: &'a ClientAnalysis) -> Source<'a> {
        Source { run: &analysis.run, study: &analysis.study.name }
    }
}

/// The charts that an analysis has, in the report's order.
pub(in crate::report) fn index(analysis: &ClientAnalysis) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (index, group) in view::groups(analysis).iter().enumerate() {
        let name = format!("{:02}-{}", index + 1, slug(&group.title()));
        let mut push = |kind: Kind, stem: &str, about: &str| {
            entries.push(Entry {
                stem: format!("{stem}-{name}"),
                about: format!("{about}: {}", group.title()),
                group: Some(index),
                kind: Chart::Client(kind),
            });
        };
        push(Kind::Panels, "clients", "Throughput, total time, time inside a call and memory");
        if split::possible(group) {
            push(Kind::Split, "cpu", "CPU time of a transaction by whom it falls on");
        }
    }
    entries
}

/// Every chart as SVG.
pub(in crate::report) fn draw(analysis: &ClientAnalysis) -> Result<Vec<(Entry, String)>> {
    let groups = view::groups(analysis);
    let one = |entry: Entry| {
        let group: &GroupView =
            entry.group.and_then(|index| groups.get(index)).context("the chart has no content")?;
        let svg = match entry.kind {
            Chart::Client(Kind::Split) => split::draw(analysis, group),
            _ => panels::draw(analysis, group),
        };
        let svg = svg.with_context(|| format!("drawing the chart {}", entry.stem))?;
        Ok((entry, svg))
    };
    index(analysis).into_iter().map(one).collect()
}
