//! How it was measured, on what, and how to do it again.

use super::super::document::Block;
use super::super::grid::{Column, Grid, Kind, Tone};
use super::super::text::clean;
use super::super::{Options, view};
use super::answer;
use crate::analysis::model::Analysis;
use crate::units;

/// Reading, method, content, versions, reproduction.
pub(in crate::report) fn section(analysis: &Analysis, options: &Options) -> Vec<Block> {
    let mut blocks = Vec::new();
    let paragraphs: Vec<_> =
        analysis.study.reading.split("\n\n").filter(|text| !text.trim().is_empty()).collect();
    if !paragraphs.is_empty() {
        blocks.push(Block::Heading(2, "How to read it".into()));
        blocks.extend(paragraphs.into_iter().map(|text| Block::Text(clean(&text.replace('\n', " ")))));
    }
    blocks.push(Block::Heading(2, "Method".into()));
    blocks.push(Block::Text(METHOD.into()));
    blocks.push(Block::Heading(2, "Content".into()));
    blocks.push(Block::Table(content(analysis)));
    blocks.push(Block::Heading(2, "Machine and versions".into()));
    blocks.push(Block::Text(answer::facts(analysis)));
    blocks.push(Block::Table(versions(analysis)));
    blocks.push(Block::Heading(2, "Measure it again".into()));
    let seed = analysis.run.seed;
    let command =
        options.command.clone().unwrap_or_else(|| format!("weigh run {} --seed {seed}", analysis.study.name));
    blocks.push(Block::Literal(clean(&command)));
    blocks
}

const METHOD: &str = "Resident workers time themselves; CPU time is the headline, wall time stands beside it. Cells are visited in \
    rounds, in an order drawn afresh from the seed for each round. A figure is the 0.1 quantile over rounds with a 95% bootstrap \
    interval: neighbours on the machine only ever add CPU time, so a low quantile is what the code costs when it is left alone. \
    Ratios are those of two figures. Every cell's round trip was compared byte for byte. Throughput divides \
    by uncompressed bytes, both ways.";

fn content(analysis: &Analysis) -> Grid {
    let mut grid = Grid::new(vec![
        Column::new("content", "", Kind::Text(12), 0),
        Column::new("kind", "", Kind::Text(6), 1),
        Column::new("size", "", Kind::Text(8), 0),
        Column::new("items", "", Kind::Whole, 3),
        Column::new("origin", "", Kind::Text(16), 0),
        Column::new("licence", "", Kind::Text(8), 4),
        Column::new("SHA-256", "first digits", Kind::Text(12), 2),
    ]);
    for payload in &analysis.payloads {
        let licence = match &payload.origin {
            crate::payload::Origin::Corpus { licence, .. } => clean(licence),
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

fn versions(analysis: &Analysis) -> Grid {
    let mut grid = Grid::new(vec![
        Column::new("runtime", "", Kind::Text(8), 0),
        Column::new("what", "", Kind::Text(10), 0),
        Column::new("version or value", "", Kind::Text(16), 0),
    ]);
    for runtime in &analysis.runtimes {
        let own = [("version", &runtime.version)];
        let libraries = runtime.libraries.iter().map(|(name, version)| (name.as_str(), version));
        let facts = runtime.facts.iter().map(|(name, value)| (name.as_str(), value));
        for (name, value) in own.into_iter().chain(libraries).chain(facts) {
            grid.push(
                Tone::Plain,
                vec![clean(&runtime.name).into(), clean(name).into(), clean(value).into()],
            );
        }
    }
    grid
}
