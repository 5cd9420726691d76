//! Total times over links: what is best at which link speed.

use super::super::bars::sparkline;
use super::super::document::Block;
use super::super::grid::{Cell, Column, Grid, Kind, Tone};
use super::super::text::clean;
use super::super::view::{self, GroupView};
use crate::analysis::model::{BestAt, LinkMix};
use weigh_model::units;

const COMPUTED: &str =
    "Computed from measured times and bytes: encode + bytes ÷ link speed + decode; no live store was asked.";

/// The best setting of each group at a few link speeds.
pub(in crate::report) fn overview(groups: &[GroupView]) -> Vec<Block> {
    let mixes: Vec<_> =
        groups.iter().filter_map(|group| Some((group, view::main_mix(group.group)?))).collect();
    let Some((_, first)) = mixes.first() else { return Vec::new() };
    let speeds: Vec<f64> = first.best.iter().map(|best| best.mbit).collect();
    let mut columns = vec![
        Column::new("content", "", Kind::Text(10), 0),
        Column::new("", "", Kind::Text(9), 0),
        Column::new("runtime", "", Kind::Text(6), view::runtime_priority(groups)),
    ];
    let order = importance(speeds.len());
    columns.extend(
        speeds
            .iter()
            .zip(&order)
            .map(|(speed, rank)| Column::new("at", units::mbit(*speed), Kind::Text(16), *rank)),
    );
    let mut grid = Grid::new(columns);
    for (group, mix) in &mixes {
        let mark = if group.synthetic() { "SYNTHETIC" } else { "" };
        let mut cells: Vec<Cell> =
            vec![clean(&group.group.payload).into(), mark.into(), clean(&group.group.runtime).into()];
        cells.extend(speeds.iter().map(|speed| {
            let best = mix.best.iter().find(|best| best.mbit == *speed);
            Cell::Text(best.map(|best| group.label(&best.cell)).unwrap_or_default())
        }));
        grid.push(Tone::Plain, cells);
    }
    vec![
        Block::Heading(2, "Best setting by link speed".into()),
        Block::Remark(format!("Least total time, {}. {COMPUTED}", view::mix(first.mix))),
        Block::Table(grid),
    ]
}

/// Which columns stay longest when room is short: the ends, then the middle, then between.
fn importance(count: usize) -> Vec<u8> {
    let mut ranks = vec![u8::MAX; count];
    let mut next = 2;
    let mut step = count.saturating_sub(1).max(1);
    while step > 0 {
        for rank in ranks.iter_mut().step_by(step) {
            if *rank == u8::MAX {
                *rank = next;
                next = next.saturating_add(1).min(u8::MAX - 1);
            }
        }
        step /= 2;
    }
    if let Some(last) = ranks.last_mut() {
        *last = (*last).min(3);
    }
    ranks
}

/// The ranges of link speeds with one best setting, for every mix of a group.
pub(in crate::report) fn section(group: &GroupView) -> Vec<Block> {
    if group.group.links.is_empty() {
        return Vec::new();
    }
    let mut grid = Grid::new(vec![
        Column::new("counted", "", Kind::Text(8), 0),
        Column::new("link", "from", Kind::Text(8), 0),
        Column::new("link", "to", Kind::Text(8), 0),
        Column::new("best setting", "", Kind::Text(16), 0),
        Column::new("total", "at both ends", Kind::Text(10), 1),
        Column::new("saved against", "the reference", Kind::Text(13), 5),
        Column::new("break-even", "95% interval", Kind::Text(34), 2),
        Column::new("with", "", Kind::Text(16), 3),
        Column::new("no worse", "", Kind::Text(12), 4),
    ]);
    for mix in &group.group.links {
        for (index, range) in ranges(&mix.best).into_iter().enumerate() {
            let counted = if index == 0 { view::mix(mix.mix) } else { String::new() };
            let mut cells = vec![Cell::Text(counted)];
            cells.extend(range_cells(group, mix, range));
            grid.push(Tone::Plain, cells);
        }
    }
    let mark = if group.synthetic() { " (SYNTHETIC)" } else { "" };
    vec![
        Block::Heading(3, format!("Over a link: {}{mark}", group.title())),
        Block::Remark(COMPUTED.into()),
        Block::Table(grid),
    ]
}

fn range_cells(group: &GroupView, mix: &LinkMix, range: &[BestAt]) -> Vec<Cell> {
    let (first, last) = (&range[0], &range[range.len() - 1]);
    let mut ties: Vec<_> = range.iter().flat_map(|best| &best.ties).map(|id| group.label(id)).collect();
    ties.sort();
    ties.dedup();
    let totals = if range.len() == 1 {
        units::ns(first.total)
    } else {
        format!("{} … {}", units::ns(first.total), units::ns(last.total))
    };
    let even = mix.break_even.iter().find(|even| even.slow == first.cell);
    vec![
        units::mbit(first.mbit).into(),
        units::mbit(last.mbit).into(),
        group.label(&first.cell).into(),
        totals.into(),
        savings(group, mix, range).into(),
        even.map(|even| units::mbit_interval(even.mbit, even.low, even.high)).unwrap_or_default().into(),
        even.map(|even| group.label(&even.fast)).unwrap_or_default().into(),
        ties.join(", ").into(),
    ]
}

/// Time saved against the reference at each speed of the range, its largest value and a sparkline.
fn savings(group: &GroupView, mix: &LinkMix, range: &[BestAt]) -> String {
    let reference = group.reference().and_then(|id| mix.totals.iter().find(|totals| totals.cell == id));
    let Some(reference) = reference else { return String::new() };
    let saved: Vec<f64> = range
        .iter()
        .filter_map(|best| {
            let at = reference.at.iter().find(|at| at.0 == best.mbit)?;
            Some(1.0 - best.total / at.1)
        })
        .collect();
    let Some(most) = saved.iter().copied().reduce(f64::max) else { return String::new() };
    if most <= 0.0 {
        return "none".into();
    }
    format!("{:>4} {}", units::percent(most), sparkline(&saved))
}

/// Neighbouring speeds with the same best cell, together.
pub(in crate::report) fn ranges(best: &[BestAt]) -> Vec<&[BestAt]> {
    best.chunk_by(|a, b| a.cell == b.cell).collect()
}
