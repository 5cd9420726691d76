//! Two profiles beside each other.

use super::{Choice, amount, column};
use crate::document::Block;
use crate::profile::compare::{Comparison, Row};
use crate::table::{Cell, Column, Grid, Kind, Tone};
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
    let calls = |unit| Column::new("calls", unit, Kind::Whole, 1);
    let three = |name, unit: &str, priority| Column::new(name, unit, Kind::Three, priority);
    let scaled = |amount: i64| Cell::from(amount as f64 / size);
    Grid::of(
        &rows[..top.min(rows.len())],
        |_| Tone::Plain,
        &[
            (Column::new("function", "", Kind::Text(12), 0), &|row| clean(&row.name).into()),
            (calls("before"), &|row| row.calls_before.map(|calls| calls as f64).into()),
            (calls("after"), &|row| row.calls_after.map(|calls| calls as f64).into()),
            (three("self", &before, 2), &|row| scaled(row.own.before)),
            (three("self", &after, 2), &|row| scaled(row.own.after)),
            (three("difference", &unit, 0), &|row| scaled(row.own.difference)),
            (three("ratio", "×", 3), &|row| row.own.ratio.into()),
            (three("inclusive", &before, 5), &|row| scaled(row.inclusive.before)),
            (three("inclusive", &after, 5), &|row| scaled(row.inclusive.after)),
            (three("ratio", "×", 6), &|row| row.inclusive.ratio.into()),
        ],
    )
}
