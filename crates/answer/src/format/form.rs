//! What a format is.

use std::fmt::Debug;

use anyhow::Result;

use crate::format::composed::Composed;
use crate::output::{Options, Rendered};
use crate::report::Report;

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

/// What is known of a format beside how it writes.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// What `--format` takes.
    pub name: &'static str,
    /// The extension of its files, without a dot.
    pub extension: &'static str,
    pub medium: Medium,
}

/// One form of a report.
pub trait Format: Debug + Sync {
    fn form(&self) -> Form;

    fn name(&self) -> &'static str {
        self.form().name
    }

    fn extension(&self) -> &'static str {
        self.form().extension
    }

    fn medium(&self) -> Medium {
        self.form().medium
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

    /// The files of a result that is not a run.
    ///
    /// # Errors
    /// It has no such form; the message says which it has.
    fn render_composed(&self, composed: &Composed, _: &Options) -> Result<Vec<Rendered>> {
        let (name, noun) = (self.name(), composed.noun);
        anyhow::bail!("{noun} has no format {name}; use terminal, html, markdown, json, svg or png")
    }
}
