//! The report of a study of clients as blocks: the answer first, then what was compared, then tables by content and work. Owns which
//! figures of a transaction are shown and in which order; how they look is the formats' business, as for codecs.

mod compared;
pub mod csv;
pub(super) mod group;
pub mod json;
mod method;
mod predicted;
mod published;
#[cfg(test)]
mod tests;
pub(super) mod view;

use super::document::Block;
use super::sections::{answer, rest};
use super::{Detail, Options};
use crate::analysis::client::model::ClientAnalysis;

/// The whole report.
pub(super) fn build(analysis: &ClientAnalysis, options: &Options) -> Vec<Block> {
    let full = options.detail == Detail::Full;
    let groups = view::groups(analysis);
    let facts = answer::facts(&analysis.run, analysis.cells.len());
    let mut blocks = answer::head(&analysis.study, &analysis.payloads, facts.clone());
    blocks.extend(answer::findings(&analysis.findings, options.findings));
    blocks.extend(published::section(analysis, full));
    blocks.extend(compared::section(analysis, full));
    blocks.extend(predicted::links(analysis));
    blocks.extend(predicted::section(analysis, full));
    blocks.push(Block::StudyCharts);
    if full {
        for (index, group) in groups.iter().enumerate() {
            blocks.extend(group::section(group, index == 0));
            blocks.push(Block::Charts(index));
        }
    } else {
        blocks.extend(group::overview(&groups));
    }
    blocks.extend(rest::faults(&analysis.faults, full));
    blocks.extend(rest::not_measured(&analysis.exclusions, &analysis.unmeasured, full));
    blocks.extend(rest::caveats(&analysis.caveats, analysis.cells.iter().flat_map(|c| &c.caveats)));
    if full {
        blocks.extend(method::section(analysis, facts, options));
    }
    blocks
}
