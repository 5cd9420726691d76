//! The table of times, and the list of percentiles.

use crate::block::Block;
use crate::load::document::Run;
use crate::load::figures::{ClassFigures, Spread};
use crate::load::report::fact::milliseconds;
use crate::output::{Detail, Options};
use crate::table::{Column, Grid, Kind, Tone, factor, field};

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

/// One row per phase, as in `ab`; response time and service time differ only in an open model.
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
    let rows = shown.filter_map(|(name, spread)| Some((name, spread.as_ref()?)));
    let ms = |seconds: Option<f64>| seconds.map(|s| s * 1e3);
    Grid::toned(rows, |(name, spread)| {
        let percentile = |percent| milliseconds(spread.percentile(percent));
        let fields = vec![
            factor("phase", name),
            field("min", "ms", Kind::Three, 3, ms(spread.min)),
            field("mean", "ms", Kind::Three, 1, ms(spread.mean)),
            field("sd", "ms", Kind::Three, 4, ms(spread.sd)),
            field("median", "ms", Kind::Three, 0, percentile(50.0)),
            field("p90", "ms", Kind::Three, 2, percentile(90.0)),
            field("p99", "ms", Kind::Three, 0, percentile(99.0)),
            field("p99.9", "ms", Kind::Three, 2, percentile(99.9)),
            field("max", "ms", Kind::Three, 0, percentile(100.0)),
            field("values", "", Kind::Whole, 5, spread.count as f64),
            field("unanswered", "", Kind::Whole, 1, unanswered(spread)),
        ];
        (if name == total { Tone::Strong } else { Tone::Plain }, fields)
    })
}

/// The number of requests without a response; empty if all have one.
fn unanswered(spread: &Spread) -> Option<f64> {
    Some(spread.unanswered as f64).filter(|count| *count > 0.0)
}

fn percentiles(response: &Spread) -> Grid {
    Grid::of(&response.percentiles, |p| {
        vec![
            (Column::factor("percent", "%", Kind::Text), p.percent.to_string().into()),
            field("within", "ms", Kind::Three, 0, milliseconds(p.time())),
            field("", "", Kind::Bar, 0, p.seconds),
        ]
    })
}
