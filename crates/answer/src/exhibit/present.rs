//! How an exhibit is shown.

use anyhow::Result;

use crate::block::Block;
use crate::group::Group;
use crate::output::{Options, Rendered};
use crate::report::Report;

pub trait Exhibit {
    /// The part of a report before its groups; `options` say how much.
    fn blocks(&self, report: &Report, options: &Options) -> Vec<Block>;

    /// Whether it comes before the table of all groups because it answers the question itself.
    fn leads(&self) -> bool {
        false
    }

    /// The part of a full report after the table of a group.
    fn group_blocks(&self, _report: &Report, _group: &Group) -> Vec<Block> {
        Vec::new()
    }

    /// Its tables for other programs.
    ///
    /// # Errors
    /// A table cannot be written.
    fn csv(&self, _report: &Report) -> Result<Vec<Rendered>> {
        Ok(Vec::new())
    }
}
