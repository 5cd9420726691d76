//! The call table: functions with calls, own and inclusive costs, shares and memory.

use std::cmp::Reverse;

use super::{Choice, Sort, column, headed};
use crate::document::Block;
use crate::profile::document::{Row, Shown};
use crate::table::{Cell, Column, Grid, Kind, Tone};
use crate::text::clean;
use weigh_model::profile::{Inclusion, Recursion};
use weigh_model::units;

pub(super) fn blocks(shown: &Shown, choice: &Choice) -> Vec<Block> {
    let mut rows: Vec<&Row> = shown.functions.iter().collect();
    rows.sort_by_key(|row| Reverse(key(row, choice.sort)));
    let by = match choice.sort {
        Sort::Own => "self",
        Sort::Inclusive => "inclusive",
        Sort::Calls => "calls",
        Sort::Memory => "self memory",
    };
    let left = rows.len().saturating_sub(choice.top);
    rows.truncate(choice.top);
    let mut blocks = headed(format!("Functions by {by}"), "");
    blocks.push(Block::Table(grid(shown, &rows)));
    let mut remarks = Vec::new();
    if left > 0 {
        remarks.push(format!("{} more (--top)", units::count(left, "function", "functions")));
    }
    if rows.iter().any(|row| row.recursion != Recursion::None) {
        remarks.push(match shown.inclusion {
            Inclusion::Graph => {
                "↻ calls itself, ⟳ through others: its inclusive cost is a lower bound".into()
            }
            _ => "↻ calls itself, ⟳ through others: counted once a stack".into(),
        });
    }
    blocks.push(Block::Remark(remarks.join(" · ")));
    blocks
}

fn key(row: &Row, sort: Sort) -> i64 {
    match sort {
        Sort::Own => row.own,
        Sort::Inclusive => row.inclusive,
        Sort::Calls => row.calls.map_or(0, |calls| i64::try_from(calls).unwrap_or(i64::MAX)),
        Sort::Memory => row.own_memory_bytes.unwrap_or(0),
    }
}

fn grid(shown: &Shown, rows: &[&Row]) -> Grid {
    let largest = shown.functions.iter().map(|row| row.inclusive).max().unwrap_or(0);
    let (unit, size) = column(largest, &shown.unit);
    let mut grid = Grid::new(vec![
        Column::new("function", "", Kind::Text(12), 0),
        Column::new("", "", Kind::Text(1), 1),
        Column::new("calls", "", Kind::Whole, 0),
        Column::new("self", unit.clone(), Kind::Three, 0),
        Column::new("self", "%", Kind::Fixed(1), 3),
        Column::new("", "", Kind::Bar, 9),
        Column::new("inclusive", unit, Kind::Three, 0),
        Column::new("inclusive", "%", Kind::Fixed(1), 2),
        Column::new("self memory", "KB", Kind::Three, 4),
        Column::new("memory", "KB", Kind::Three, 5),
        Column::new("file", "", Kind::Text(12), 8),
    ]);
    for row in rows {
        let kilobytes = |bytes: Option<i64>| bytes.map(|bytes| bytes as f64 / 1e3);
        let cells: Vec<Cell> = vec![
            clean(&row.name).into(),
            recursion(row.recursion).into(),
            row.calls.map(|calls| calls as f64).into(),
            (row.own as f64 / size).into(),
            (row.share * 100.0).into(),
            row.share.max(0.0).into(),
            (row.inclusive as f64 / size).into(),
            (row.inclusive_share * 100.0).into(),
            kilobytes(row.own_memory_bytes).into(),
            kilobytes(row.inclusive_memory_bytes).into(),
            row.file.as_deref().map_or(String::new(), clean).into(),
        ];
        grid.push(Tone::Plain, cells);
    }
    grid
}

/// A sign for what is on a stack twice.
pub(super) fn recursion(kind: Recursion) -> &'static str {
    match kind {
        Recursion::None => "",
        Recursion::Direct => "↻",
        Recursion::Mutual => "⟳",
    }
}
