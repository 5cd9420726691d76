//! Two profiles beside each other.

use super::{Choice, amount, column};
use crate::document::Block;
use crate::profile::compare::{Comparison, Row};
use crate::table::{Grid, Kind, factor, field};
use crate::text::clean;
use weigh_model::units;

pub(super) fn blocks(comparison: &Comparison, choice: &Choice) -> Vec<Block> {
    let Comparison { before, after, unit, total, functions } = comparison;
    let ratio = total.ratio.map_or(String::new(), |ratio| format!(": {}", units::times(ratio)));
    let is_chosen = |row: &&Row| {
        choice.function.as_ref().is_none_or(|name| row.name.to_lowercase().contains(&name.to_lowercase()))
    };
    let rows: Vec<&Row> = functions.iter().filter(is_chosen).collect();
    let mut blocks = vec![
        Block::Heading(1, format!("{} → {}", clean(before), clean(after))),
        Block::Text(format!(
            "{} → {}{ratio}. Functions by how much of the difference is theirs.",
            amount(total.before, unit),
            amount(total.after, unit)
        )),
        Block::Table(grid(comparison, &rows, choice.top)),
    ];
    if rows.len() > choice.top {
        let left = units::count(rows.len() - choice.top, "function", "functions");
        blocks.push(Block::Remark(format!("{left} more (--top)")));
    }
    blocks
}

fn grid(comparison: &Comparison, rows: &[&Row], top: usize) -> Grid {
    let largest = comparison.functions.iter().map(|row| row.inclusive.before.max(row.inclusive.after)).max();
    let (unit, size) = column(largest.unwrap_or(0), &comparison.unit);
    let (before, after) = (format!("{unit} before"), format!("{unit} after"));
    let scaled = |amount: i64| amount as f64 / size;
    let calls = |calls: Option<u64>| calls.map(|calls| calls as f64);
    Grid::of(&rows[..top.min(rows.len())], |row| {
        vec![
            factor("function", clean(&row.name)),
            field("calls", "before", Kind::Whole, 1, calls(row.calls_before)),
            field("calls", "after", Kind::Whole, 1, calls(row.calls_after)),
            field("self", &before, Kind::Three, 2, scaled(row.own.before)),
            field("self", &after, Kind::Three, 2, scaled(row.own.after)),
            field("difference", &unit, Kind::Three, 0, scaled(row.own.difference)),
            field("ratio", "×", Kind::Three, 3, row.own.ratio),
            field("inclusive", &before, Kind::Three, 5, scaled(row.inclusive.before)),
            field("inclusive", &after, Kind::Three, 5, scaled(row.inclusive.after)),
            field("ratio", "×", Kind::Three, 6, row.inclusive.ratio),
        ]
    })
}
