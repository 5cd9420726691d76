//! Slow clients beside light requests: who keeps the workers, and what becomes of the light ones.

use super::super::document::Block;
use super::super::grid::{Cell, Column, Grid, Kind, Tone};
use super::super::text::clean;
use super::super::words::note;
use crate::analysis::delivery::model::{DeliveryAnalysis, FairnessResult, Outcome};
use weigh_model::cell::Slow;
use weigh_model::units;

const LEGEND: &str = "Light requests come 50 a second over connections of their own and need a worker of the same PHP pool; their times count \
    from the moment at which they were due. What was not answered by the end of a block of four seconds is in no percentile. Starved: less than half were \
    answered within 0.1 s. Busy is the median over time.";

/// In a summary where slow clients could keep every worker, in full every number of them.
pub(super) fn section(analysis: &DeliveryAnalysis, full: bool) -> Vec<Block> {
    let shown: Vec<(&FairnessResult, &Slow)> = analysis
        .fairness
        .iter()
        .filter_map(|result| Some((result, slow(result)?)))
        .filter(|(_, slow)| full || is_telling(analysis, slow))
        .collect();
    if shown.is_empty() {
        return Vec::new();
    }
    let mut grid = Grid::new(columns());
    for (result, slow) in shown {
        let tone = match result.outcome {
            Outcome::Starved => Tone::Strong,
            Outcome::Alone => Tone::Dim,
            Outcome::Free | Outcome::Kept => Tone::Plain,
        };
        grid.push(tone, cells(result, slow));
    }
    vec![Block::Heading(2, "With slow clients".into()), Block::Remark(LEGEND.into()), Block::Table(grid)]
}

fn slow(result: &FairnessResult) -> Option<&Slow> {
    result.cell.delivery.as_ref()?.slow.as_ref()
}

/// The fewest slow clients that could keep every worker of such a pool, else the most that there are.
fn is_telling(analysis: &DeliveryAnalysis, of: &Slow) -> bool {
    let alike = analysis.fairness.iter().filter_map(slow).filter(|s| s.workers == of.workers);
    let numbers: Vec<u32> = alike.map(|s| s.clients).collect();
    let enough = numbers.iter().filter(|n| **n >= of.workers).min();
    enough.or(numbers.iter().max()) == Some(&of.clients)
}

/// What became of the light requests, in a word.
pub(super) fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Alone => "alone",
        Outcome::Free => "free",
        Outcome::Kept => "kept",
        Outcome::Starved => "starved",
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::new("server", "", Kind::Text(6), 0),
        Column::new("way", "", Kind::Text(22), 0),
        Column::new("PHP", "", Kind::Text(6), 6),
        Column::new("slow", "clients", Kind::Whole, 0),
        Column::new("pool", "workers", Kind::Whole, 2),
        Column::new("busy", "workers", Kind::Fixed(1), 1),
        Column::new("workers", "", Kind::Text(7), 0),
        Column::new("in 0.1 s", "%", Kind::Whole, 0),
        Column::new("answered", "%", Kind::Whole, 3),
        Column::new("p50", "ms", Kind::Three, 1),
        Column::new("p99", "ms", Kind::Three, 1),
        Column::new("longest", "ms", Kind::Three, 3),
        Column::new("failed", "", Kind::Whole, 5),
        Column::new("queue", "most", Kind::Whole, 4),
        Column::new("spooled", "MB", Kind::Three, 3),
        Column::new("PHP", "PSS MB", Kind::Three, 4),
        Column::new("content", "", Kind::Text(10), 7),
        Column::new("n", "", Kind::Whole, 8),
        Column::new("note", "", Kind::Text(11), 5),
    ]
}

fn cells(result: &FairnessResult, slow: &Slow) -> Vec<Cell> {
    let delivery = result.cell.delivery.as_ref();
    let server = delivery.map(|d| clean(&d.server)).unwrap_or_default();
    let way = delivery.map(|d| d.way(&result.cell.setting)).unwrap_or_default();
    let ms =
        |of: fn(&crate::analysis::delivery::model::Times) -> f64| result.light.as_ref().map(|t| of(t) * 1e3);
    let spooled = result.written_bytes.filter(|bytes| *bytes > result.content_bytes / 10);
    let notes: Vec<String> = result.caveats.iter().map(note).collect();
    vec![
        server.into(),
        clean(&way).into(),
        clean(&result.cell.runtime).into(),
        f64::from(slow.clients).into(),
        f64::from(slow.workers).into(),
        result.busy.into(),
        word(result.outcome).into(),
        (result.prompt as f64 / result.due.max(1) as f64 * 100.0).into(),
        (result.answered as f64 / result.due.max(1) as f64 * 100.0).into(),
        ms(|t| t.p50).into(),
        ms(|t| t.p99).into(),
        ms(|t| t.max).into(),
        (result.failed as f64).into(),
        result.queue_max.map(f64::from).into(),
        spooled.map(|bytes| bytes as f64 / 1e6).into(),
        result.php_pss.map(|bytes| bytes as f64 / 1e6).into(),
        format!("{} ({})", clean(&result.cell.payload), units::bytes(result.content_bytes)).into(),
        f64::from(result.rounds).into(),
        notes.join(", ").into(),
    ]
}
