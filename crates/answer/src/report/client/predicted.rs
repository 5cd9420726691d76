//! Calls computed from their parts beside calls as measured.

use super::super::document::Block;
use super::super::grid::{Cell, Column, Grid, Kind, Tone};
use super::super::text::clean;
use super::view;
use crate::analysis::client::model::{Advice, ClientAnalysis, Prediction};
use weigh_model::link::Rate;
use weigh_model::units;

/// Rows of a summary.
const FEW: usize = 8;

const LEGEND: &str = "Computed: encoding or decoding as measured, stored bytes over the link's bandwidth, and one round trip; without a link, coding \
    alone. Measured is the mean of a round, median over rounds. Where the two pick different settings, go by the measurement.";

/// What links were asked to be and what they were measured as, where there are any.
pub(super) fn links(analysis: &ClientAnalysis) -> Vec<Block> {
    if analysis.links.is_empty() {
        return Vec::new();
    }
    let mut grid = Grid::new(vec![
        Column::new("link", "", Kind::Text(10), 0),
        Column::new("made by", "", Kind::Text(8), 1),
        Column::new("down", "asked Mbit/s", Kind::Three, 2),
        Column::new("down", "Mbit/s", Kind::Three, 0),
        Column::new("up", "asked Mbit/s", Kind::Three, 2),
        Column::new("up", "Mbit/s", Kind::Three, 0),
        Column::new("round trip", "asked ms", Kind::Three, 2),
        Column::new("round trip", "ms", Kind::Three, 0),
        Column::new("±", "ms", Kind::Three, 3),
        Column::new("not as asked", "", Kind::Text(16), 0),
    ]);
    for link in &analysis.links {
        let measured = link.measured.as_ref();
        let mbit = |rate: Option<&Rate>| rate.map(|rate| rate.measured_kbps / 1e3);
        let trip = measured.and_then(|m| m.round_trip.as_ref());
        let off = measured.map(|m| m.off(&link.asked).join("; "));
        grid.push(
            Tone::Plain,
            vec![
                clean(&link.asked.name).into(),
                measured.map_or("", |m| m.way.name()).into(),
                link.asked.down_kbps.map(|kbps| kbps / 1e3).into(),
                mbit(measured.and_then(|m| m.down.as_ref())).into(),
                link.asked.up_kbps.map(|kbps| kbps / 1e3).into(),
                mbit(measured.and_then(|m| m.up.as_ref())).into(),
                link.asked.rtt_ms.into(),
                trip.map(|trip| trip.median_ms).into(),
                trip.map(|trip| trip.mad_ms).into(),
                clean(&off.unwrap_or_default()).into(),
            ],
        );
    }
    vec![Block::Heading(2, "Links".into()), Block::Table(grid)]
}

/// The tables, where something was computed.
pub(super) fn section(analysis: &ClientAnalysis, full: bool) -> Vec<Block> {
    if analysis.predictions.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![
        Block::Heading(2, "Computed and measured".into()),
        Block::Remark(LEGEND.into()),
        Block::Table(best(analysis)),
    ];
    let shown = if full { analysis.predictions.len() } else { FEW.min(analysis.predictions.len()) };
    let mut grid = Grid::new(vec![
        Column::new("content", "", Kind::Text(7), 1),
        Column::new("client", "", Kind::Text(20), 0),
        Column::new("over", "", Kind::Text(8), 0),
        Column::new("call", "", Kind::Text(3), 0),
        Column::new("coding", "ms", Kind::Three, 2),
        Column::new("transfer", "ms", Kind::Three, 2),
        Column::new("round trip", "ms", Kind::Three, 3),
        Column::new("computed", "ms", Kind::Three, 0),
        Column::new("measured", "ms", Kind::Three, 0),
        Column::new("p50", "ms", Kind::Three, 4),
        Column::new("ratio", "×", Kind::Fixed(2), 1),
    ]);
    for prediction in &analysis.predictions[..shown] {
        grid.push(Tone::Plain, cells(analysis, prediction));
    }
    blocks.push(Block::Table(grid));
    if shown < analysis.predictions.len() {
        let more = units::count(analysis.predictions.len() - shown, "more call", "more calls");
        blocks.push(Block::Remark(format!("{more} in the full report.")));
    }
    blocks
}

fn cells(analysis: &ClientAnalysis, of: &Prediction) -> Vec<Cell> {
    let own = analysis.works.iter().find(|work| work.cells.contains(&of.cell));
    let ms = |seconds: f64| Cell::from(seconds * 1e3);
    vec![
        clean(own.map_or("", |work| &work.payload)).into(),
        view::label(analysis, &of.cell).into(),
        clean(of.link.as_deref().unwrap_or("-")).into(),
        of.operation.name().into(),
        ms(of.coding),
        of.link.as_ref().map(|_| of.transfer * 1e3).into(),
        of.link.as_ref().map(|_| of.round_trip * 1e3).into(),
        ms(of.predicted),
        ms(of.measured.value),
        ms(of.p50),
        of.ratio.into(),
    ]
}

/// The best setting by both, one row a content, client, link and call.
fn best(analysis: &ClientAnalysis) -> Grid {
    let mut grid = Grid::new(vec![
        Column::new("content", "", Kind::Text(7), 1),
        Column::new("client", "", Kind::Text(12), 2),
        Column::new("over", "", Kind::Text(8), 0),
        Column::new("call", "", Kind::Text(3), 0),
        Column::new("best computed", "", Kind::Text(14), 0),
        Column::new("best measured", "", Kind::Text(14), 0),
        Column::new("computed takes", "× of measured", Kind::Fixed(2), 1),
        Column::new("of", "settings", Kind::Whole, 2),
        Column::new("", "", Kind::Text(12), 1),
    ]);
    for advice in &analysis.advice {
        let own = analysis.works.iter().find(|work| work.cells.contains(&advice.model));
        let setting = |id: &str| view::row(analysis, id).map(|row| row.setting).unwrap_or_default();
        let row = view::row(analysis, &advice.model);
        let client = row.map(|row| format!("{} {}", row.place, row.runtime)).unwrap_or_default();
        grid.push(
            if advice.corrected { Tone::Strong } else { Tone::Plain },
            vec![
                clean(own.map_or("", |work| &work.payload)).into(),
                client.into(),
                clean(advice.link.as_deref().unwrap_or("-")).into(),
                advice.operation.name().into(),
                setting(&advice.model).into(),
                setting(&advice.measured).into(),
                advice.lost.map(|lost| lost.ratio).into(),
                f64::from(advice.settings).into(),
                verdict(advice).into(),
            ],
        );
    }
    grid
}

fn verdict(advice: &Advice) -> &'static str {
    match (advice.corrected, advice.model == advice.measured) {
        (true, _) => "corrected by measurement",
        (false, true) => "the same",
        (false, false) => "cannot be told apart",
    }
}
