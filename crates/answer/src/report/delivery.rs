//! The report of a delivery study as blocks: the answer first, then tables by content and server. Owns which figures of a
//! response are shown and in which order; how they look is the formats' business, as for codecs.

mod crossover;
pub mod csv;
mod fairness;
pub(super) mod group;
pub mod json;
mod method;
pub mod negotiation;
mod published;
#[cfg(test)]
mod tests;
pub(super) mod view;

use super::document::Block;
use super::sections::{answer, rest};
use super::{Detail, Options};
use crate::analysis::delivery::model::DeliveryAnalysis;

/// Groups shown with their fronts in a summary; more get one line each.
const FEW: usize = 3;

/// The whole report.
pub(super) fn build(analysis: &DeliveryAnalysis, options: &Options) -> Vec<Block> {
    let groups = view::groups(analysis);
    let full = options.detail == Detail::Full;
    let facts = answer::facts(&analysis.run, analysis.cells.len() + analysis.fairness.len());
    let mut blocks = answer::head(&analysis.study, &analysis.payloads, facts.clone());
    blocks.extend(answer::findings(&analysis.findings, options.findings));
    blocks.extend(crossover::section(analysis, full));
    blocks.extend(negotiation::section(analysis, options, full));
    blocks.extend(fairness::section(analysis, full));
    if groups.len() > FEW {
        blocks.extend(group::overview(&groups));
    }
    blocks.extend(published::section(analysis, full));
    blocks.push(Block::StudyCharts);
    for (index, group) in groups.iter().enumerate() {
        if full {
            blocks.extend(group::section(group, index == 0));
            blocks.push(Block::Charts(index));
        } else if groups.len() <= FEW {
            blocks.extend(group::front(group));
        }
    }
    blocks.extend(rest::faults(&analysis.faults, full));
    blocks.extend(rest::not_measured(&analysis.exclusions, &analysis.unmeasured, full));
    blocks.extend(rest::caveats(&analysis.caveats, analysis.cells.iter().flat_map(|c| &c.caveats)));
    if full {
        blocks.extend(method::section(analysis, facts, options));
    }
    blocks
}
