//! Parts of a report: plain text and tables, independent of how they are shown.

use weigh_model::units;

use crate::table::Grid;

/// A part of the report. Texts are cleaned, and not escaped for any format.
#[derive(Clone, Debug)]
pub enum Block {
    /// A heading; 1 is the report's own.
    Heading(u8, String),
    Text(String),
    /// A remark: how to read a table, or the source of a number.
    Remark(String),
    /// The answer: sentences; the first one is the recommendation.
    Answer(Vec<String>),
    Steps(Vec<String>),
    /// Sentences; the second part is the remedy.
    Points(Vec<(String, Option<String>)>),
    Table(Grid),
    /// A command or other literal line.
    Literal(String),
    /// The place of a group's charts (its index among the groups), where a format shows pictures.
    Charts(usize),
    /// The place of the charts of the whole study.
    StudyCharts,
}

/// The number of further ones in the full report; empty if there are none.
pub(crate) fn more(left: usize, one: &str, several: &str) -> Option<Block> {
    (left > 0).then(|| Block::Remark(format!("{} in the full report.", units::count(left, one, several))))
}
