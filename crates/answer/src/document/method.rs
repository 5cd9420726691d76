//! How it was measured, with which versions, and how to repeat it.

use std::collections::BTreeMap;

use weigh_model::payload::{Origin, Payload};
use weigh_model::units;

use crate::block::Block;
use crate::output::Options;
use crate::report::Report;
use crate::table::{Column, Grid, Kind, Tone, factor, field};
use crate::text::clean;

/// Reading, method, content, versions, reproduction.
pub(super) fn section(report: &Report, facts: String, options: &Options) -> Vec<Block> {
    let mut blocks = Vec::new();
    let paragraphs: Vec<_> =
        report.study.reading.split("\n\n").filter(|text| !text.trim().is_empty()).collect();
    if !paragraphs.is_empty() {
        blocks.push(Block::Heading(2, "How to read it".into()));
        blocks.extend(paragraphs.into_iter().map(|text| Block::Text(clean(&text.replace('\n', " ")))));
    }
    blocks.push(Block::Heading(2, "Method".into()));
    blocks.push(Block::Text(report.shape().look.method.into()));
    blocks.push(Block::Heading(2, "Content".into()));
    blocks.push(Block::Table(content(&report.payloads)));
    blocks.push(Block::Heading(2, "Machine and versions".into()));
    blocks.push(Block::Text(facts));
    blocks.push(Block::Table(versions(report)));
    blocks.push(Block::Heading(2, "Measure it again".into()));
    let seed = report.run.seed;
    let command =
        options.command.clone().unwrap_or_else(|| format!("weigh run {} --seed {seed}", report.study.name));
    blocks.push(Block::Literal(clean(&command)));
    blocks
}

fn content(payloads: &[Payload]) -> Grid {
    Grid::of(payloads, |payload| {
        let licence = match &payload.origin {
            Origin::Corpus { licence, .. } => clean(licence),
            _ => String::new(),
        };
        let digest: String = payload.sha256.chars().take(12).collect();
        vec![
            factor("content", clean(&payload.name)),
            field("kind", "", Kind::Text, 1, clean(&payload.kind)),
            field("size", "", Kind::Text, 0, units::bytes(payload.size())),
            field("items", "", Kind::Whole, 3, payload.items.len() as f64),
            field("origin", "", Kind::Text, 0, super::group::origin(&payload.origin)),
            field("licence", "", Kind::Text, 4, licence),
            field("SHA-256", "first digits", Kind::Text, 2, digest),
        ]
    })
}

/// Versions, libraries and settings of runtimes, servers and stores.
fn versions(report: &Report) -> Grid {
    let mut grid = Grid::new(vec![
        Column::factor("runtime", "", Kind::Text),
        Column::factor("what", "", Kind::Text),
        Column::new("version or value", "", Kind::Text, 0),
    ]);
    let none = BTreeMap::new();
    let mut add = |name: &str, version: &str, more: [&BTreeMap<String, String>; 2], url: Option<&str>| {
        let more = more.into_iter().flatten().map(|(what, value)| (what.as_str(), value.as_str()));
        let url = url.map(|url| ("url", url));
        for (what, value) in std::iter::once(("version", version)).chain(more).chain(url) {
            grid.push(Tone::Plain, vec![clean(name).into(), clean(what).into(), clean(value).into()]);
        }
    };
    report.runtimes.iter().for_each(|r| add(&r.name, &r.version, [&r.libraries, &r.facts], None));
    report.servers.iter().for_each(|s| add(&s.name, &s.version, [&s.libraries, &s.facts], None));
    report.stores.iter().for_each(|s| add(&s.name, &s.version, [&s.drivers, &none], s.url.as_deref()));
    grid
}
