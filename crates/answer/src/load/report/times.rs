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
    let column = |name, priority| Column::new(name, "ms", Kind::Three, priority);
    let mut grid = Grid::new(vec![
        Column::new("phase", "", Kind::Text(8), 0),
        column("min", 3),
        column("mean", 1),
        column("sd", 4),
        column("median", 0),
        column("p90", 2),
        column("p99", 0),
        column("p99.9", 2),
        column("max", 0),
        Column::new("values", "", Kind::Whole, 5),
    ]);
    let phases = [
        ("connect", &class.connect),
        ("TLS", &class.tls),
        ("waiting", &class.ttfb),
        ("transfer", &class.transfer),
        ("service", &class.service),
        ("response", &class.response),
    ];
    for (name, spread) in phases {
        let is_total = name == if open { "response" } else { "service" };
        let shown = spread.as_ref().filter(|_| open || name != "response");
        if let Some(spread) = shown {
            grid.push(if is_total { Tone::Strong } else { Tone::Plain }, row(name, spread));
        }
    }
    grid
}

fn row(name: &'static str, spread: &Spread) -> Vec<Cell> {
    // Histograms tell times apart from a microsecond on.
    let ms = |seconds: Option<f64>| Cell::Number(seconds.map(|s| (s * 1e6).round() / 1e3));
    vec![
        name.into(),
        ms(Some(spread.min)),
        ms(Some(spread.mean)),
        ms(Some(spread.sd)),
        ms(Some(spread.median)),
        ms(spread.percentile(90.0)),
        ms(spread.percentile(99.0)),
        ms(spread.percentile(99.9)),
        ms(Some(spread.max)),
        (spread.count as f64).into(),
    ]
}

fn percentiles(response: &Spread) -> Grid {
    let mut grid = Grid::new(vec![
        Column::new("percent", "%", Kind::Text(5), 0),
        Column::new("within", "ms", Kind::Three, 0),
        Column::new("", "", Kind::Bar, 0),
    ]);
    for p in &response.percentiles {
        let ms = p.seconds * 1e3;
        grid.push(Tone::Plain, vec![format!("{}", p.percent).into(), ms.into(), ms.into()]);
    }
    grid
}
