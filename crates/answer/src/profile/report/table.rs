//! The call table: functions with calls, own and inclusive costs, shares and memory.

use std::cmp::Reverse;

use weigh_model::profile::{Inclusion, Recursion};
use weigh_model::units;

use super::{Choice, Sort, column, headed};
use crate::block::Block;
use crate::profile::document::{Row, ShownProfile};
use crate::table::{Grid, Kind, factor, field, remark};
use crate::text::clean;

pub(super) fn blocks(shown: &ShownProfile, choice: &Choice) -> Vec<Block> {
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

fn grid(shown: &ShownProfile, rows: &[&Row]) -> Grid {
    let largest = shown.functions.iter().map(|row| row.inclusive).max().unwrap_or(0);
    let (unit, size) = column(largest, &shown.unit);
    let kilobytes = |bytes: Option<i64>| bytes.map(|bytes| bytes as f64 / 1e3);
    Grid::of(rows, |row| {
        vec![
            factor("function", clean(&row.name)),
            remark("", 1, recursion(row.recursion)),
            field("calls", "", Kind::Whole, 0, row.calls.map(|calls| calls as f64)),
            field("self", &unit, Kind::Three, 0, row.own as f64 / size),
            field("self", "%", Kind::Fixed(1), 3, row.share * 100.0),
            field("", "", Kind::Bar, 9, row.share.max(0.0)),
            field("inclusive", &unit, Kind::Three, 0, row.inclusive as f64 / size),
            field("inclusive", "%", Kind::Fixed(1), 2, row.inclusive_share * 100.0),
            field("self memory", "KB", Kind::Three, 4, kilobytes(row.own_memory_bytes)),
            field("memory", "KB", Kind::Three, 5, kilobytes(row.inclusive_memory_bytes)),
            remark("file", 8, row.file.as_deref().map_or(String::new(), clean)),
        ]
    })
}

/// A mark for functions that are on a stack more than once.
pub(super) fn recursion(kind: Recursion) -> &'static str {
    match kind {
        Recursion::None => "",
        Recursion::Direct => "↻",
        Recursion::Mutual => "⟳",
    }
}
