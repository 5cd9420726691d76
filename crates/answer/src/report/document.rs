//! The report as blocks of plain text and tables, before anyone decides how they look. Terminal and
//! Markdown are two renderings of this one document, so that they cannot disagree.

use super::grid::Grid;
use super::sections;
use super::view;
use super::{Detail, Options};
use crate::analysis::model::Analysis;

/// A part of the report. Texts are cleaned, and not escaped for any format.
#[derive(Clone, Debug)]
pub(super) enum Block {
    /// A heading; 1 is the report's own.
    Heading(u8, String),
    /// A paragraph.
    Text(String),
    /// A paragraph that stands back: what a table shows, where a number comes from.
    Remark(String),
    /// Numbered sentences.
    Steps(Vec<String>),
    /// Sentences, the second part being what to do about it.
    Points(Vec<(String, Option<String>)>),
    /// A table.
    Table(Grid),
    /// A command or other literal line.
    Literal(String),
    /// The place of a group's charts (its index among the groups), where a format shows pictures.
    Charts(usize),
    /// The place of the charts of the whole study.
    StudyCharts,
}

/// The whole report, the answer first.
pub(super) fn build(analysis: &Analysis, options: &Options) -> Vec<Block> {
    let groups = view::groups(analysis);
    let full = options.detail == Detail::Full;
    let facts = sections::answer::facts(&analysis.run, analysis.cells.len());
    let mut blocks = sections::answer::head(&analysis.study, &analysis.payloads, facts.clone());
    blocks.extend(sections::answer::findings(&analysis.findings, options.findings));
    if groups.len() > 3 {
        blocks.extend(sections::group::overview(&groups));
    }
    blocks.extend(sections::links::overview(&groups));
    blocks.extend(sections::published::section(analysis));
    blocks.push(Block::StudyCharts);
    for (index, group) in groups.iter().enumerate() {
        if full {
            blocks.extend(sections::group::section(group));
            blocks.push(Block::Charts(index));
            blocks.extend(sections::links::section(group));
        } else if groups.len() <= 3 {
            blocks.extend(sections::group::front(group));
        }
    }
    blocks.extend(sections::rest::faults(&analysis.faults, full));
    blocks.extend(sections::rest::not_measured(&analysis.exclusions, &analysis.unmeasured, full));
    blocks.extend(sections::rest::caveats(&analysis.caveats, analysis.cells.iter().flat_map(|c| &c.caveats)));
    if full {
        blocks.extend(sections::method::section(sections::method::Parts::of(analysis, facts), options));
    }
    blocks
}
