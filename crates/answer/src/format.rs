//! Formats: one report in many forms. This module decides how results look; it does not measure, read records, or use
//! the file system: every format returns bytes.
//!
//! A new format is a file in `format/` and its line in [`FORMATS`] (with the `mod` above it).

pub mod composed;
pub mod csv;
pub mod html;
pub mod json;
pub mod live;
pub mod markdown;
pub mod png;
pub mod svg;
pub mod terminal;

use std::fmt::Debug;
use std::sync::Arc;

use anyhow::Result;

use weigh_model::suggest::nearest_hint;

use crate::page::Flame;
use crate::report::Report;
use crate::table::{Columns, Sheet};
use crate::text::clean;
use composed::Composed;

/// How a format's files are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Printed, in the terminal's width; not kept in a run's folder.
    Screen,
    /// Printed, or written to files.
    Text,
    /// Written to files: they are not text for a screen.
    Picture,
}

/// One form of a report.
pub trait Format: Debug + Sync {
    /// What `--format` takes.
    fn name(&self) -> &'static str;
    /// The extension of its files, without a dot.
    fn extension(&self) -> &'static str;
    fn about(&self) -> &'static str;
    /// How its files are used.
    fn medium(&self) -> Medium {
        Medium::Text
    }
    /// Why this build does not have it, and what to do; none if it has.
    fn unavailable(&self) -> Option<&'static str> {
        None
    }
    /// The files of the report, not yet written.
    ///
    /// # Errors
    /// The report cannot be expressed in this form; the message says what and why.
    fn render(&self, report: &Report, options: &Options) -> Result<Vec<Rendered>>;
    /// The files of a result that is no run.
    ///
    /// # Errors
    /// It has no such form; the message says which it has.
    fn render_composed(&self, composed: &Composed, _: &Options) -> Result<Vec<Rendered>> {
        let (name, noun) = (self.name(), composed.noun);
        anyhow::bail!("{noun} has no format {name}; use terminal, html, markdown, json, svg or png")
    }
}

/// Every format, in the order of help.
pub static FORMATS: &[&dyn Format] =
    &[&terminal::Terminal, &html::Html, &markdown::Markdown, &csv::Csv, &json::Json, &svg::Svg, &png::Png];

/// The formats that this build has.
pub fn available() -> impl Iterator<Item = &'static dyn Format> {
    FORMATS.iter().copied().filter(|format| format.unavailable().is_none())
}

/// The format of that name.
///
/// # Errors
/// One line that names the nearest, or those there are.
pub fn named(name: &str) -> Result<&'static dyn Format> {
    let known = || FORMATS.iter().map(|format| format.name());
    FORMATS.iter().copied().find(|format| format.name() == name).ok_or_else(|| {
        anyhow::anyhow!("no report format named {}{}", clean(name), nearest_hint(name, known()))
    })
}

/// One file of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// A plain name without folders, safe on every file system.
    pub file_name: String,
    pub bytes: Vec<u8>,
}

impl Rendered {
    pub fn new(file_name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Rendered {
        Rendered { file_name: file_name.into(), bytes: bytes.into() }
    }
}

/// How a report should look.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Columns of the terminal.
    pub width: usize,
    /// Style with colours and weights (the caller has looked at `NO_COLOR` and at the pipe).
    pub color: bool,
    /// How much is shown: a summary, or every cell.
    pub detail: Detail,
    /// The most findings to show.
    pub findings: usize,
    /// The command that makes this run again, for the report's last section.
    pub command: Option<String>,
    /// The same command without what only that run had (its folder, its profiles), to which `--configuration` is added
    /// for one configuration; none if it measured more than studies.
    pub repeat: Option<String>,
    /// Flame graphs of the run's profiles, for the page.
    pub flames: Arc<[Flame]>,
    /// The columns of tables.
    pub columns: Columns,
    /// How a reader gets the other columns.
    pub more: &'static str,
}

impl Options {
    /// The same with everything, whatever was requested: a page has room.
    pub fn whole(&self) -> Options {
        Options { detail: Detail::Full, findings: usize::MAX, ..self.clone() }
    }

    /// What its tables are drawn on.
    pub fn sheet(&self) -> Sheet<'_> {
        let is_brief = self.detail == Detail::Summary;
        Sheet { width: self.width, color: self.color, columns: &self.columns, more: self.more, is_brief }
    }
}

/// The detail of a terminal report. Other formats are always complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// The answer, the front of each group, and counts of the rest.
    #[default]
    Summary,
    /// Every cell, every link, every fault.
    Full,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            width: 100,
            color: false,
            detail: Detail::Summary,
            findings: 10,
            command: None,
            repeat: None,
            flames: Arc::default(),
            columns: Columns::Few,
            more: "--columns all",
        }
    }
}
