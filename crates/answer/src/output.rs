//! What a reader asks of an output, and what comes out: options, files, pictures.

use std::fmt::Debug;
use std::sync::Arc;

use crate::chart::Chart;
use crate::flame::Flame;
use crate::table::{Columns, Sheet};

#[derive(Clone, Debug)]
pub struct Picture {
    /// The file's name without extension.
    pub stem: String,
    /// What it shows, as text.
    pub about: String,
    /// The group's index; none for a picture of the whole study.
    pub group: Option<usize>,
    pub(crate) chart: Chart,
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
