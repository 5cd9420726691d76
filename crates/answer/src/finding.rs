//! The evidence: sentences generated from the data.
//!
//! A sentence names the cells that it is based on, gives numbers with intervals, and claims an order only if it is
//! significant; otherwise it says so.

pub(crate) mod client;
pub(crate) mod codec;
pub(crate) mod delivery;
pub(crate) mod published;

use crate::report::finding::{Draft, Evidence, Finding, Topic};

/// Every sentence that the data supports, the most important first: those of the first topic, then the leading sentence
/// of each topic, then the details.
pub fn findings(topics: &[(&str, Topic)], evidence: &Evidence) -> Vec<Finding> {
    let mut drafts: Vec<(u32, &str, Draft)> = Vec::new();
    for (place, (topic, find)) in topics.iter().enumerate() {
        for draft in find(evidence) {
            let order = match (place, draft.lead) {
                (0, _) => 0,
                (_, true) => 1,
                (_, false) => 2,
            };
            drafts.push((order, topic, draft));
        }
    }
    drafts.sort_by_key(|draft| draft.0);
    let finding = |(rank, (_, topic, draft)): (usize, (u32, &str, Draft))| Finding {
        topic: topic.to_owned(),
        text: draft.text,
        cells: draft.cells,
        rank: rank as u32,
    };
    drafts.into_iter().enumerate().map(finding).collect()
}
