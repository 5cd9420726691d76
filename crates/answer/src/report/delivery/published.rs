//! Figures published elsewhere, beside ours, and where the two disagree.

use super::super::document::Block;
use super::super::grid::{Column, Grid, Kind, Tone};
use super::super::text::clean;
use crate::analysis::delivery::model::{Agreement, DeliveryAnalysis, Disagreement, Measure, PublishedTable};
use weigh_model::cell::NO_PHP;
use weigh_model::units;

/// Disagreements listed in a summary.
const LISTED: usize = 5;

/// The tables, when the study has one and its cells were measured.
pub(super) fn section(analysis: &DeliveryAnalysis, full: bool) -> Vec<Block> {
    let both = analysis.published.as_ref().zip(analysis.study.published_delivery.as_ref());
    let Some((table, published)) = both else { return Vec::new() };
    let mut blocks = vec![
        Block::Heading(2, "Published and measured here".into()),
        Block::Remark(format!(
            "Published: {}. Here: {} from {}{}. Another processor, other libraries: compare the order, not the height.",
            clean(&published.about),
            clean(&published.payload),
            clean(&published.server),
            if table.runtime == NO_PHP { String::new() } else { format!(" ({})", clean(&table.runtime)) }
        )),
        Block::Table(rows(table)),
    ];
    if !published.reading.is_empty() {
        let sentences: Vec<String> = published.reading.iter().map(|text| clean(text)).collect();
        blocks.push(Block::Remark(format!("Its reading: {}", sentences.join(" "))));
    }
    blocks.extend(disagreements(table, full));
    blocks
}

fn rows(table: &PublishedTable) -> Grid {
    let mut grid = Grid::new(vec![
        Column::new("published as", "", Kind::Text(10), 0),
        Column::new("bytes", "pub.", Kind::Whole, 0),
        Column::new("bytes", "here", Kind::Whole, 0),
        Column::new("for all", "pub. s", Kind::Three, 2),
        Column::new("for all", "here s", Kind::Three, 2),
        Column::new("mean", "pub. ms", Kind::Three, 0),
        Column::new("mean", "here ms", Kind::Three, 0),
        Column::new("req/s", "pub.", Kind::Three, 1),
        Column::new("req/s", "here", Kind::Three, 1),
    ]);
    for row in &table.rows {
        let published = &row.published;
        let mean = published.mean_seconds.map(|s| s * 1e3);
        let mean = mean.or_else(|| published.ab.as_ref().map(|ab| ab.per_request_ms));
        grid.push(
            Tone::Plain,
            vec![
                clean(&published.label).into(),
                published.bytes.map(|bytes| bytes as f64).into(),
                (row.bytes as f64).into(),
                published.seconds.into(),
                row.seconds.into(),
                mean.into(),
                row.mean_seconds.map(|s| s * 1e3).into(),
                published.requests_per_second.into(),
                row.requests_per_second.into(),
            ],
        );
    }
    grid
}

/// Every pair of rows that stands otherwise here, with both figures.
fn disagreements(table: &PublishedTable, full: bool) -> Vec<Block> {
    let all: Vec<(&Agreement, &Disagreement)> =
        table.agreements.iter().flat_map(|a| a.disagreements.iter().map(move |d| (a, d))).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let shown = if full { all.len() } else { LISTED };
    let points = all.iter().take(shown).map(|(agreement, d)| (sentence(agreement.measure, d), None));
    let mut blocks =
        vec![Block::Heading(3, "Where the two disagree".into()), Block::Points(points.collect())];
    if all.len() > shown {
        let more = units::count(all.len() - shown, "more pair", "more pairs");
        blocks.push(Block::Remark(format!("{more} in the full report.")));
    }
    blocks
}

fn sentence(measure: Measure, d: &Disagreement) -> String {
    let (what, show): (&str, fn(f64) -> String) = match measure {
        Measure::Bytes => ("bytes", |x| units::bytes(x.round() as u64)),
        Measure::Seconds => ("seconds a request", |x| units::ns(x * 1e9)),
        Measure::Rate => ("requests a second", units::significant),
    };
    format!(
        "{what}: {} {} and {} {} as published{}, {} and {} here",
        clean(&d.labels.0),
        show(d.published.0),
        clean(&d.labels.1),
        show(d.published.1),
        if d.is_alike_as_published() { " (alike)" } else { "" },
        show(d.here.0),
        show(d.here.1)
    )
}
