//! Two profiles beside each other.

use super::{Choice, amount, column};
use crate::document::Block;
use crate::profile::compare::{Comparison, Row};
use crate::table::{Column, Grid, Kind, Tone};
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
    let mut grid = Grid::new(vec![
        Column::new("function", "", Kind::Text(12), 0),
        Column::new("calls", "before", Kind::Whole, 1),
        Column::new("calls", "after", Kind::Whole, 1),
        Column::new("self", format!("{unit} before"), Kind::Three, 2),
        Column::new("self", format!("{unit} after"), Kind::Three, 2),
        Column::new("difference", unit.clone(), Kind::Three, 0),
        Column::new("ratio", "×", Kind::Three, 3),
        Column::new("inclusive", format!("{unit} before"), Kind::Three, 5),
        Column::new("inclusive", format!("{unit} after"), Kind::Three, 5),
        Column::new("ratio", "×", Kind::Three, 6),
    ]);
    for row in rows.iter().take(top) {
        let scaled = |amount: i64| amount as f64 / size;
        let cells = vec![
            clean(&row.name).into(),
            row.calls_before.map(|calls| calls as f64).into(),
            row.calls_after.map(|calls| calls as f64).into(),
            scaled(row.own.before).into(),
            scaled(row.own.after).into(),
            scaled(row.own.difference).into(),
            row.own.ratio.into(),
            scaled(row.inclusive.before).into(),
            scaled(row.inclusive.after).into(),
            row.inclusive.ratio.into(),
        ];
        grid.push(Tone::Plain, cells);
    }
    grid
}
