//! The settings of one group: which are worth considering, and by which the others are beaten.

use super::super::document::Block;
use super::super::grid::{Cell, Column, Grid, Kind, Tone};
use super::super::view::{self, GroupView, Row};
use crate::analysis::model::Estimate;
use weigh_model::protocol::Phase;
use weigh_model::units;

/// Every cell of the group.
pub(in crate::report) fn section(group: &GroupView) -> Vec<Block> {
    let front = group.front().count();
    let worth = units::count(group.rows.len(), "setting", "settings");
    let mut blocks = head(group);
    let are = if group.rows.len() == 1 { "is" } else { "are" };
    let others = if front < group.rows.len() { "; the others are beaten on both by another" } else { "" };
    blocks.push(Block::Remark(format!(
        "{front} of {worth} {are} on the Pareto front (●) of encode time and bytes{others}. {LEGEND}"
    )));
    blocks.push(Block::Table(table(group, group.rows.iter())));
    blocks
}

/// The front and the reference only.
pub(in crate::report) fn front(group: &GroupView) -> Vec<Block> {
    let shown =
        group.rows.iter().filter(|row| row.result.front || group.reference() == Some(&row.result.cell.id));
    let mut blocks = head(group);
    blocks.push(Block::Table(table(group, shown)));
    let hidden = group.rows.iter().filter(|row| !row.result.front).count();
    if hidden > 0 {
        let hidden = units::count(hidden, "setting is", "settings are");
        blocks.push(Block::Remark(format!(
            "{hidden} beaten on both encode time and bytes; the full report names them."
        )));
    }
    blocks
}

const LEGEND: &str = "Times are CPU times of the whole operation, MB/s are of uncompressed bytes, ± is the half-width of the \
    95% interval of the CPU time (the wider of both directions), n the samples; compress, decompress and serialize are the parts measured alone.";

fn head(group: &GroupView) -> Vec<Block> {
    let mark = if group.synthetic() { " (SYNTHETIC)" } else { "" };
    vec![Block::Heading(2, format!("{}{mark}", group.title())), Block::Remark(group.about())]
}

/// The table of some rows of a group.
pub(in crate::report) fn table<'a>(group: &GroupView, rows: impl Iterator<Item = &'a Row<'a>>) -> Grid {
    let mut grid = Grid::new(vec![
        Column::new("", "", Kind::Text(1), 0),
        Column::new("setting", "", Kind::Text(24), 0),
        Column::new("bytes", "B", Kind::Whole, 0),
        Column::new("size", "", Kind::Bar, 0),
        Column::new("saving", "%", Kind::Fixed(1), 3),
        Column::new("ratio", "×", Kind::Fixed(2), 7),
        Column::new("encode", "ms", Kind::Three, 0),
        Column::new("encode", "MB/s", Kind::Three, 5),
        Column::new("decode", "ms", Kind::Three, 2),
        Column::new("decode", "MB/s", Kind::Three, 8),
        Column::new("compress", "ms", Kind::Three, 13),
        Column::new("decompress", "ms", Kind::Three, 14),
        Column::new("serialize", "ms", Kind::Three, 15),
        Column::new("±", "%", Kind::Fixed(1), 4),
        Column::new("vs ref", "×", Kind::Fixed(2), 9),
        Column::new("wall", "/CPU", Kind::Fixed(2), 12),
        Column::new("peak", "MB", Kind::Three, 10),
        Column::new("n", "", Kind::Whole, 11),
        Column::new("beaten by", "", Kind::Text(12), 6),
        Column::new("note", "", Kind::Text(11), 1),
    ]);
    for row in rows {
        grid.push(tone(row), cells(group, row));
    }
    grid
}

fn tone(row: &Row) -> Tone {
    match (row.result.front, &row.dominated_by) {
        (true, _) => Tone::Strong,
        (false, Some(_)) => Tone::Dim,
        (false, None) => Tone::Plain,
    }
}

fn cells(group: &GroupView, row: &Row) -> Vec<Cell> {
    let result = row.result;
    let ms = |estimate: Option<&Estimate>| estimate.map(|estimate| estimate.cpu / 1e6);
    let mut notes = row.notes();
    if group.reference() == Some(&result.cell.id) {
        notes.insert(0, "reference".into());
    }
    let measured = !result.phases.is_empty();
    vec![
        if result.front { "●" } else { "" }.into(),
        row.label.clone().into(),
        measured.then_some(result.encoded_bytes as f64).into(),
        measured.then_some(result.encoded_bytes as f64).into(),
        measured.then_some(result.space_saving() * 100.0).into(),
        measured.then_some(result.ratio()).into(),
        ms(row.encode()).into(),
        row.rate(row.encode()).into(),
        ms(row.decode()).into(),
        row.rate(row.decode()).into(),
        ms(row.alone(Phase::Compress)).into(),
        ms(row.alone(Phase::Decompress)).into(),
        ms(result.serializer_alone.as_ref().map(|(encode, _)| encode)).into(),
        row.interval().into(),
        result.relative.map(|relative| relative.ratio).into(),
        row.wall_over_cpu().into(),
        row.peak().map(|bytes| bytes as f64 / 1e6).into(),
        row.samples().map(f64::from).into(),
        row.dominated_by.clone().unwrap_or_default().into(),
        notes.join(", ").into(),
    ]
}

/// One line a group, when there are too many groups to show their fronts.
pub(in crate::report) fn overview(groups: &[GroupView]) -> Vec<Block> {
    let mut grid = Grid::new(vec![
        Column::new("content", "", Kind::Text(12), 0),
        Column::new("", "", Kind::Text(9), 0),
        Column::new("runtime", "", Kind::Text(6), view::runtime_priority(groups)),
        Column::new("size", "", Kind::Text(6), 3),
        Column::new("front", "of", Kind::Text(6), 4),
        Column::new("fastest", "on the front", Kind::Text(14), 0),
        Column::new("its bytes", "", Kind::Text(8), 1),
        Column::new("smallest", "on the front", Kind::Text(14), 0),
        Column::new("its encode", "", Kind::Text(8), 1),
        Column::new("its bytes", "", Kind::Text(8), 1),
    ]);
    for group in groups {
        let front: Vec<_> = group.front().filter(|row| row.result.cell.setting.codec != "identity").collect();
        let (Some(fast), Some(small)) = (front.first(), front.last()) else { continue };
        let mark = if group.synthetic() { "SYNTHETIC" } else { "" };
        let size = group.payload.map(|payload| units::bytes(payload.bytes)).unwrap_or_default();
        let time = small.encode().map(|encode| units::ns(encode.cpu)).unwrap_or_default();
        grid.push(
            Tone::Plain,
            vec![
                super::super::text::clean(&group.group.payload).into(),
                mark.into(),
                super::super::text::clean(&group.group.runtime).into(),
                size.into(),
                format!("{}/{}", group.front().count(), group.rows.len()).into(),
                fast.label.clone().into(),
                units::bytes(fast.result.encoded_bytes).into(),
                small.label.clone().into(),
                time.into(),
                units::bytes(small.result.encoded_bytes).into(),
            ],
        );
    }
    vec![
        Block::Heading(2, "Each content".into()),
        Block::Remark(
            "The two ends of each Pareto front of encode time and bytes, sending as it is left out. The full report has a table for each.".into(),
        ),
        Block::Table(grid),
    ]
}
