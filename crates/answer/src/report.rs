//! Reports: one analysis in many forms. This room owns how results look; it refuses to measure, to read
//! records, and to touch the file system: every format hands bytes back.
//!
//! A new format is a file in `report/` and its line in [`FORMATS`] (with the `mod` above it).

use std::fmt::Debug;

use anyhow::Result;
use weigh_model::suggest::nearest;

use crate::analysis::Results;
use crate::analysis::client::model::ClientAnalysis;
use crate::analysis::delivery::model::DeliveryAnalysis;
use crate::analysis::model::Analysis;
use crate::{table as grid, text};

pub(crate) mod bars;
mod chart;
#[cfg(test)]
mod checks;
pub mod client;
pub mod csv;
pub mod delivery;
mod document;
#[cfg(test)]
mod fixture;
pub mod json;
pub mod live;
pub mod load;
pub mod markdown;
pub mod png;
pub mod profile;
mod sections;
pub mod svg;
pub mod terminal;
#[cfg(test)]
mod tests;
mod view;
mod words;

/// What becomes of a format's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Printed, in the terminal's width: the folder of a run has no use for it.
    Screen,
    /// Printed, or kept as files.
    Text,
    /// Kept as files: no screen shows their bytes.
    Picture,
}

/// One form of a report.
pub trait Format: Debug + Sync {
    /// What `--format` takes.
    fn name(&self) -> &'static str;
    /// The extension of its files, without a dot.
    fn extension(&self) -> &'static str;
    /// One line for help.
    fn about(&self) -> &'static str;
    /// What becomes of its files.
    fn medium(&self) -> Medium {
        Medium::Text
    }
    /// The word under which the first few of its files are named after a run, and how many; `None` where they are not.
    fn announced(&self) -> Option<(&'static str, usize)> {
        None
    }
    /// The files of the report; none of them is written.
    ///
    /// # Errors
    /// When the analysis cannot be expressed in this form; the message says what and why.
    fn render(&self, analysis: &Analysis, options: &Options) -> Result<Vec<Rendered>>;
    /// The same of a delivery study.
    ///
    /// # Errors
    /// As [`Format::render`].
    fn render_delivery(&self, analysis: &DeliveryAnalysis, options: &Options) -> Result<Vec<Rendered>>;
    /// The same of a study of clients.
    ///
    /// # Errors
    /// As [`Format::render`].
    fn render_client(&self, analysis: &ClientAnalysis, options: &Options) -> Result<Vec<Rendered>>;

    /// The files of the report on any kind of study.
    ///
    /// # Errors
    /// As [`Format::render`].
    fn render_results(&self, results: &Results, options: &Options) -> Result<Vec<Rendered>> {
        match results {
            Results::Codec(analysis) => self.render(analysis, options),
            Results::Delivery(analysis) => self.render_delivery(analysis, options),
            Results::Client(analysis) => self.render_client(analysis, options),
        }
    }
}

/// Every format, in the order of help.
pub static FORMATS: &[&dyn Format] =
    &[&terminal::Terminal, &markdown::Markdown, &csv::Csv, &json::Json, &svg::Svg, &png::Png];

/// The format of that name.
///
/// # Errors
/// One line naming the formats there are.
pub fn format(name: &str) -> Result<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name).ok_or_else(|| {
        let names: Vec<_> = FORMATS.iter().map(|format| format.name()).collect();
        let near = nearest(name, names.iter().copied());
        let hint = near.map_or_else(String::new, |known| format!("; did you mean {known}?"));
        anyhow::anyhow!("no report format named {}: there are {}{hint}", text::clean(name), names.join(", "))
    })
}

/// One file of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// A plain name without folders, safe on every file system.
    pub file_name: String,
    /// The content.
    pub bytes: Vec<u8>,
}

impl Rendered {
    fn new(file_name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Rendered {
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
    /// How much of it: a summary, or every cell.
    pub detail: Detail,
    /// Findings shown at most.
    pub findings: usize,
    /// The command that makes this run again, for the report's last section.
    pub command: Option<String>,
}

/// How much a terminal report says. The other formats are always complete.
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
        Options { width: 100, color: false, detail: Detail::Summary, findings: 10, command: None }
    }
}
