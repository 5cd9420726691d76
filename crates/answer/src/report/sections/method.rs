//! How it was measured, on what, and how to do it again.

use std::collections::BTreeMap;

use super::super::document::Block;
use super::super::grid::{Column, Grid, Kind, Tone};
use super::super::text::clean;
use super::super::{Options, view};
use crate::analysis::model::{Analysis, RunFacts};
use weigh_model::payload::Payload;
use weigh_model::plan::Runtime;
use weigh_model::study::StudyText;
use weigh_model::units;

/// What the section shows.
pub(in crate::report) struct Parts<'a> {
    pub study: &'a StudyText,
    pub run: &'a RunFacts,
    pub payloads: &'a [Payload],
    /// How it was measured.
    pub method: &'static str,
    /// One line on the run.
    pub facts: String,
    /// Versions and settings, see [`versions`].
    pub versions: Grid,
}

impl<'a> Parts<'a> {
    pub fn of(analysis: &'a Analysis, facts: String) -> Parts<'a> {
        Parts {
            study: &analysis.study,
            run: &analysis.run,
            payloads: &analysis.payloads,
            method: METHOD,
            facts,
            versions: versions(&analysis.runtimes),
        }
    }
}

/// Reading, method, content, versions, reproduction.
pub(in crate::report) fn section(parts: Parts, options: &Options) -> Vec<Block> {
    let mut blocks = Vec::new();
    let paragraphs: Vec<_> =
        parts.study.reading.split("\n\n").filter(|text| !text.trim().is_empty()).collect();
    if !paragraphs.is_empty() {
        blocks.push(Block::Heading(2, "How to read it".into()));
        blocks.extend(paragraphs.into_iter().map(|text| Block::Text(clean(&text.replace('\n', " ")))));
    }
    blocks.push(Block::Heading(2, "Method".into()));
    blocks.push(Block::Text(parts.method.into()));
    blocks.push(Block::Heading(2, "Content".into()));
    blocks.push(Block::Table(content(parts.payloads)));
    blocks.push(Block::Heading(2, "Machine and versions".into()));
    blocks.push(Block::Text(parts.facts));
    blocks.push(Block::Table(parts.versions));
    blocks.push(Block::Heading(2, "Measure it again".into()));
    let seed = parts.run.seed;
    let command =
        options.command.clone().unwrap_or_else(|| format!("weigh run {} --seed {seed}", parts.study.name));
    blocks.push(Block::Literal(clean(&command)));
    blocks
}

const METHOD: &str = "Resident workers time themselves; CPU time is the headline, wall time stands beside it. Cells are visited in \
    rounds, in an order drawn afresh from the seed for each round. A figure is the 0.1 quantile over rounds with a 95% bootstrap \
    interval: neighbours on the machine only ever add CPU time, so a low quantile is what the code costs when it is left alone. \
    Ratios are those of two figures. Every cell's round trip was compared byte for byte. Throughput divides \
    by uncompressed bytes, both ways.";

fn content(payloads: &[Payload]) -> Grid {
    let mut grid = Grid::new(vec![
        Column::new("content", "", Kind::Text(12), 0),
        Column::new("kind", "", Kind::Text(6), 1),
        Column::new("size", "", Kind::Text(8), 0),
        Column::new("items", "", Kind::Whole, 3),
        Column::new("origin", "", Kind::Text(16), 0),
        Column::new("licence", "", Kind::Text(8), 4),
        Column::new("SHA-256", "first digits", Kind::Text(12), 2),
    ]);
    for payload in payloads {
        let licence = match &payload.origin {
            weigh_model::payload::Origin::Corpus { licence, .. } => clean(licence),
            _ => String::new(),
        };
        grid.push(
            Tone::Plain,
            vec![
                clean(&payload.name).into(),
                clean(&payload.kind).into(),
                units::bytes(payload.bytes).into(),
                (payload.items.len() as f64).into(),
                view::origin(&payload.origin).into(),
                licence.into(),
                payload.sha256.chars().take(12).collect::<String>().into(),
            ],
        );
    }
    grid
}

/// Version, libraries and settings of each runtime.
pub(in crate::report) fn versions(runtimes: &[Runtime]) -> Grid {
    let mut grid = Grid::new(vec![
        Column::new("runtime", "", Kind::Text(8), 0),
        Column::new("what", "", Kind::Text(10), 0),
        Column::new("version or value", "", Kind::Text(16), 0),
    ]);
    for runtime in runtimes {
        add_versions(&mut grid, &runtime.name, &runtime.version, [&runtime.libraries, &runtime.facts]);
    }
    grid
}

/// Adds the rows of one runtime or server: its version, then what it has by name.
pub(in crate::report) fn add_versions(
    grid: &mut Grid,
    name: &str,
    version: &str,
    more: [&BTreeMap<String, String>; 2],
) {
    let more = more.into_iter().flatten().map(|(what, value)| (what.as_str(), value.as_str()));
    for (what, value) in std::iter::once(("version", version)).chain(more) {
        grid.push(Tone::Plain, vec![clean(name).into(), clean(what).into(), clean(value).into()]);
    }
}
