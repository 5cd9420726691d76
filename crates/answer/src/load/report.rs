//! The report of a block of load: the server's responses, the results, the cost. Terminal, CSV of slices and
//! HdrHistogram log; JSON is the document itself.

mod calibration;
mod capacity;
mod compare;
pub mod csv;
mod faults;
pub mod hlog;
mod outcome;
mod preflight;
mod remedies;
mod rest;
mod times;

use std::fmt::Write;

use crate::document::Block;
use crate::format::{Detail, Options, terminal};
use crate::load::figures::Time;
use crate::load::{Document, Measured, Run};
use crate::table::Cell;
use crate::text::{clean, columns, wrap};

/// Columns of the names of facts.
const NAMES: usize = 13;
/// Facts wider than this are hard to read.
const WIDEST: usize = 110;

/// The columns that may be left out.
const JSON: &str = "--json";

/// The report for a terminal.
pub fn terminal(document: &Document, options: &Options) -> String {
    let options = &Options { more: JSON, ..options.clone() };
    let blocks = match &document.measured {
        Measured::Run(run) => run_blocks(run, options),
        Measured::Comparison(compared) => compare::blocks(compared, options),
        Measured::Calibration(calibration) => calibration::blocks(calibration),
        Measured::Capacity(searched) => capacity::blocks(searched, options),
    };
    terminal::text(&blocks, options)
}

fn run_blocks(run: &Run, options: &Options) -> Vec<Block> {
    let full = options.detail == Detail::Full;
    let mut blocks = preflight::blocks(run, options);
    blocks.extend(outcome::blocks(run, options));
    blocks.extend(times::blocks(run, options));
    blocks.extend(faults::blocks(run));
    blocks.extend(rest::client(run, options));
    if full {
        blocks.extend(rest::bytes(run, options));
    }
    blocks.extend(remedies::blocks(run));
    blocks
}

/// A name with its text.
type Fact = (&'static str, String);

/// Facts, one under the other, wrapped within the width.
fn facts(rows: &[Fact], options: &Options) -> Vec<Block> {
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
fn parts(parts: &[String]) -> String {
    let filled: Vec<&str> = parts.iter().map(String::as_str).filter(|p| !p.is_empty()).collect();
    filled.join(" · ")
}

/// A time in seconds.
fn seconds(time: f64) -> String {
    weigh_model::units::ns(time * 1e9)
}

/// A time in milliseconds for a table, or its lower bound.
fn milliseconds(time: Option<Time>) -> Cell {
    match time {
        Some(Time::Beyond(seconds)) => beyond(seconds * 1e3).into(),
        Some(Time::Took(seconds)) => (seconds * 1e3).into(),
        None => Cell::Number(None),
    }
}

/// Not a number, but more than this.
fn beyond(number: f64) -> String {
    format!("> {}", weigh_model::units::significant(number))
}

/// A whole number with thousands separated.
fn whole(number: u64) -> String {
    weigh_model::units::count(usize::try_from(number).unwrap_or(usize::MAX), "", "").trim().to_owned()
}

#[cfg(test)]
mod tests;
