//! The charts: one plotting path for SVG and PNG. Owns what is drawn, and how it looks; the scales, axes and
//! the SVG writing are plotters', the pixels resvg's.
//!
//! plotters' own legends and text placement are not used: labels stand beside what they name, placed so that
//! they never cover each other, which no charting crate of the registry does.

use anyhow::{Context, Result};

use super::text::slug;
use super::view;
use crate::analysis::model::Analysis;

mod axis;
mod canvas;
pub(super) mod client;
pub(super) mod delivery;
mod labels;
mod links;
mod palette;
mod published;
mod rows;
mod title;
mod tradeoff;

pub(super) use canvas::fonts;

/// One chart of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The file's name without extension.
    pub stem: String,
    /// What it shows, in words.
    pub about: String,
    /// The group's index; `None` for a chart of the whole study.
    pub group: Option<usize>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Tradeoff,
    Links,
    Published,
    /// One of a delivery study.
    Delivery(delivery::Kind),
    /// One of a study of clients.
    Client(client::Kind),
}

/// The charts that an analysis has, in the report's order.
pub(super) fn index(analysis: &Analysis) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (index, group) in view::groups(analysis).iter().enumerate() {
        let name = format!("{:02}-{}", index + 1, slug(&group.title()));
        let title = group.title();
        if tradeoff::possible(group) {
            entries.push(Entry {
                stem: format!("tradeoff-{name}"),
                about: format!("Encode time against bytes: {title}"),
                group: Some(index),
                kind: Kind::Tradeoff,
            });
        }
        if links::possible(group) {
            entries.push(Entry {
                stem: format!("links-{name}"),
                about: format!("Total time against link speed: {title}"),
                group: Some(index),
                kind: Kind::Links,
            });
        }
    }
    if published::possible(analysis) {
        entries.push(Entry {
            stem: "published".into(),
            about: "Throughput by level, as published and as measured here".into(),
            group: None,
            kind: Kind::Published,
        });
    }
    entries
}

/// Every chart as SVG.
pub(super) fn draw(analysis: &Analysis) -> Result<Vec<(Entry, String)>> {
    let groups = view::groups(analysis);
    let one = |entry: Entry| {
        let svg = match (entry.kind, entry.group.and_then(|index| groups.get(index))) {
            (Kind::Tradeoff, Some(group)) => tradeoff::draw(analysis, group),
            (Kind::Links, Some(group)) => links::draw(analysis, group),
            _ => published::draw(analysis),
        };
        Ok((entry.clone(), svg.with_context(|| format!("drawing the chart {}", entry.stem))?))
    };
    index(analysis).into_iter().map(one).collect()
}
