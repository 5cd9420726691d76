//! The report of a profile: the call table and a function's callers and callees for the terminal, the flame graph, and a file of its call
//! paths. JSON is the document itself.

pub mod flame;
mod function;
mod head;
pub mod stacks;
mod table;

use anyhow::{Context, Result};
use weigh_model::profile::Unit;
use weigh_model::units;

use crate::block::Block;
use crate::flame::Flame;
use crate::format::composed::{Composed, joined};
use crate::format::terminal;
use crate::output::Options;
use crate::profile::document::{Document, ShownProfile};

/// The sort order of a table, the largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    #[default]
    Own,
    Inclusive,
    Calls,
    Memory,
}

impl Sort {
    pub const ALL: &[Sort] = &[Sort::Own, Sort::Inclusive, Sort::Calls, Sort::Memory];

    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Sort::Own => "self",
            Sort::Inclusive => "inclusive",
            Sort::Calls => "calls",
            Sort::Memory => "memory",
        }
    }
}

/// The part of a profile that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub sort: Sort,
    /// The most functions; also of callers and callees.
    pub top: usize,
    /// The function whose callers and callees are shown, or a part of its name.
    pub function: Option<String>,
}

pub fn terminal(document: &Document, choice: &Choice, options: &Options) -> String {
    let options = &Options { more: "--json", ..options.clone() };
    terminal::text(&blocks(document, choice, options), options)
}

/// The report in the formats of runs, with these flame graphs.
///
/// # Errors
/// The result cannot be written as JSON.
pub fn composed(
    document: &Document,
    choice: &Choice,
    options: &Options,
    flames: Vec<Flame>,
) -> Result<Composed> {
    let options = &Options { more: "--json", ..options.clone() };
    let json = serde_json::to_string_pretty(document).context("writing the profile as JSON")? + "\n";
    let blocks = joined(blocks(document, choice, options));
    Ok(Composed { noun: "a profile", blocks, pictures: Vec::new(), flames, json })
}

fn blocks(document: &Document, choice: &Choice, options: &Options) -> Vec<Block> {
    let mut blocks = Vec::new();
    for shown in &document.profiles {
        blocks.extend(head::blocks(shown, options));
        match &choice.function {
            Some(name) => blocks.extend(function::blocks(shown, name, choice.top)),
            None => blocks.extend(table::blocks(shown, choice)),
        }
    }
    blocks
}

/// An amount with its unit, for a sentence.
fn amount(number: i64, unit: &Unit) -> String {
    match unit {
        Unit::Nanoseconds => units::ns(number as f64),
        Unit::Samples => units::count(usize::try_from(number).unwrap_or(0), "sample", "samples"),
        Unit::Event(name) => format!("{} {}", units::significant(number as f64), crate::text::clean(name)),
    }
}

/// The unit of a column that suits the largest amount, and its size in the profile's unit.
fn column(largest: i64, unit: &Unit) -> (String, f64) {
    match unit {
        Unit::Nanoseconds => {
            let sizes = [("s", 1e9), ("ms", 1e6), ("µs", 1e3)];
            let fits = sizes.into_iter().find(|(_, size)| largest as f64 >= *size).unwrap_or(("µs", 1e3));
            (fits.0.to_owned(), fits.1)
        }
        Unit::Samples => ("samples".into(), 1.0),
        Unit::Event(name) => (crate::text::clean(name), 1.0),
    }
}

/// The functions with these names, or otherwise with names that contain them.
fn named<'a>(shown: &'a ShownProfile, name: &str) -> Vec<&'a crate::profile::document::Row> {
    let exact: Vec<_> = shown.functions.iter().filter(|row| row.name == name).collect();
    if !exact.is_empty() {
        return exact;
    }
    let low = name.to_lowercase();
    shown.functions.iter().filter(|row| row.name.to_lowercase().contains(&low)).collect()
}

fn headed(title: String, remark: &str) -> Vec<Block> {
    vec![Block::Heading(2, title), Block::Remark(remark.to_owned())]
}
