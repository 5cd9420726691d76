//! Facts by name, and how their amounts are written.

use weigh_model::units;

use crate::block::Block;
use crate::load::figures::Time;
use crate::output::Options;
use crate::table::Cell;
use crate::text::{clean, columns, wrap};

pub(crate) use crate::label::seconds;
pub(crate) use crate::text::dotted as parts;

/// Columns of the names of facts.
pub(crate) const NAMES: usize = 13;

/// Facts wider than this are hard to read.
pub(crate) const WIDEST: usize = 110;

/// A name with its text.
pub(crate) type Fact = (&'static str, String);

/// Facts, one under the other, wrapped within the width.
pub(crate) fn facts(rows: &[Fact], options: &Options) -> Vec<Block> {
    let width = options.width.min(WIDEST).saturating_sub(NAMES + 2).max(20);
    let mut blocks = Vec::new();
    for (name, text) in rows {
        for (index, line) in wrap(&clean(text), width).iter().enumerate() {
            let name = if index == 0 { name } else { "" };
            let room = " ".repeat(NAMES.saturating_sub(columns(name)));
            blocks.push(Block::Literal(format!("{name}{room}{line}")));
        }
    }
    blocks
}

/// A time in milliseconds for a table, or its lower bound.
pub(crate) fn milliseconds(time: Option<Time>) -> Cell {
    match time {
        Some(Time::Beyond(seconds)) => beyond(seconds * 1e3).into(),
        Some(Time::Took(seconds)) => (seconds * 1e3).into(),
        None => Cell::Number(None),
    }
}

/// Not a number, but more than this.
pub(crate) fn beyond(number: f64) -> String {
    format!("> {}", units::significant(number))
}

/// A whole number with thousands separated.
pub(crate) fn whole(number: u64) -> String {
    units::count(usize::try_from(number).unwrap_or(usize::MAX), "", "").trim().to_owned()
}
