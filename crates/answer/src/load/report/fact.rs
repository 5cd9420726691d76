//! Facts by name, and how their amounts are written.

use std::fmt::Write;

use weigh_model::units;

use crate::block::Block;
use crate::load::figures::Time;
use crate::output::Options;
use crate::table::Cell;
use crate::text::{clean, columns, wrap};

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
            let mut out = String::new();
            let name = if index == 0 { name } else { "" };
            let _ = write!(out, "{name}{}{line}", " ".repeat(NAMES.saturating_sub(columns(name))));
            blocks.push(Block::Literal(out));
        }
    }
    blocks
}

/// Parts of a line without empty ones.
pub(crate) fn parts(parts: &[String]) -> String {
    let filled: Vec<&str> = parts.iter().map(String::as_str).filter(|p| !p.is_empty()).collect();
    filled.join(" · ")
}

/// A time in seconds.
pub(crate) fn seconds(time: f64) -> String {
    units::ns(time * 1e9)
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
