//! The table of times, and the list of percentiles.

use crate::document::Block;
use crate::format::{Detail, Options};
use crate::load::Run;
use crate::load::figures::{ClassFigures, Spread};
use crate::table::{Cell, Column, Grid, Kind, Tone};

pub(super) fn blocks(run: &Run, options: &Options) -> Vec<Block> {
    let full = options.detail == Detail::Full;
    let mut blocks = Vec::new();
    let total = &run.figures.total;
    if total.response.is_none() && total.connect.is_none() {
        return blocks;
    }
    blocks.push(Block::Heading(2, "Times".into()));
    blocks.push(Block::Table(table(total, run.is_open())));
    if full {
        for class in run.figures.classes.iter().filter(|_| run.figures.classes.len() > 1) {
            blocks.push(Block::Heading(2, format!("Times of {}", class.name)));
            blocks.push(Block::Table(table(class, run.is_open())));
        }
        if let Some(response) = &total.response {
            blocks.push(Block::Heading(2, "Responses within".into()));
            blocks.push(Block::Table(percentiles(response)));
        }
    }
    blocks
}

/// One row a phase, as `ab` has it; the response time is another than the service time in an open model alone.
fn table(class: &ClassFigures, open: bool) -> Grid {
    let phases = [
        ("connect", &class.connect),
        ("TLS", &class.tls),
        ("waiting", &class.ttfb),
        ("transfer", &class.transfer),
        ("service", &class.service),
        ("response", &class.response),
    ];
    let total = if open { "response" } else { "service" };
    let shown = phases.into_iter().filter(|(name, _)| open || *name != "response");
    let rows: Vec<(&str, &Spread)> = shown.filter_map(|(name, s)| Some((name, s.as_ref()?))).collect();
    let column = |name, priority| Column::new(name, "ms", Kind::Three, priority);
    // Histograms tell times apart from a microsecond on.
    let ms = |seconds: f64| (seconds * 1e6).round() / 1e3;
    let percentile = |s: &Spread, percent| Cell::Number(s.percentile(percent).map(ms));
    Grid::of(
        &rows,
        |(name, _)| if *name == total { Tone::Strong } else { Tone::Plain },
        &[
            (Column::new("phase", "", Kind::Text(8), 0), &|(name, _)| (*name).into()),
            (column("min", 3), &|(_, s)| ms(s.min).into()),
            (column("mean", 1), &|(_, s)| ms(s.mean).into()),
            (column("sd", 4), &|(_, s)| ms(s.sd).into()),
            (column("median", 0), &|(_, s)| ms(s.median).into()),
            (column("p90", 2), &|(_, s)| percentile(s, 90.0)),
            (column("p99", 0), &|(_, s)| percentile(s, 99.0)),
            (column("p99.9", 2), &|(_, s)| percentile(s, 99.9)),
            (column("max", 0), &|(_, s)| ms(s.max).into()),
            (Column::new("values", "", Kind::Whole, 5), &|(_, s)| (s.count as f64).into()),
        ],
    )
}

fn percentiles(response: &Spread) -> Grid {
    Grid::of(
        &response.percentiles,
        |_| Tone::Plain,
        &[
            (Column::new("percent", "%", Kind::Text(5), 0), &|p| p.percent.to_string().into()),
            (Column::new("within", "ms", Kind::Three, 0), &|p| (p.seconds * 1e3).into()),
            (Column::new("", "", Kind::Bar, 0), &|p| p.seconds.into()),
        ],
    )
}
