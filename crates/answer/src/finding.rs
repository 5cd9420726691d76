//! The evidence: sentences generated from the data.
//!
//! A sentence names the cells that it is based on, gives numbers with intervals, and claims an order only if it is
//! significant; otherwise it says so.

pub(crate) mod client;
pub(crate) mod codec;
pub(crate) mod delivery;
pub mod label;
pub(crate) mod published;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weigh_model::plan::Plan;

use crate::report::Report;

/// One sentence of the evidence with the cells that it is based on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its topic, such as `link` or `beats`.
    pub topic: String,
    /// The sentence, plain text.
    pub text: String,
    /// Ids of the cells that it is based on.
    pub cells: Vec<String>,
    /// 0 is the most important; the terminal shows the first few.
    pub rank: u32,
}

/// The input of sentences: the whole report without its sentences.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    pub plan: &'a Plan,
    pub report: &'a Report,
}

/// Writes the sentences of one topic.
pub type Topic = fn(&Evidence) -> Vec<Draft>;

/// A sentence before it has its rank.
pub struct Draft {
    pub text: String,
    /// Ids of the cells that it is based on.
    pub cells: Vec<String>,
    /// Whether it comes before the sentences with details.
    pub lead: bool,
}

impl Draft {
    /// A sentence that leads its topic.
    pub fn lead(text: String, cells: Vec<String>) -> Draft {
        Draft { text, cells, lead: true }
    }

    pub fn detail(text: String, cells: Vec<String>) -> Draft {
        Draft { text, cells, lead: false }
    }

    /// A sentence that leads, or one with details.
    pub fn new(lead: bool, text: String, cells: Vec<String>) -> Draft {
        Draft { text, cells, lead }
    }
}

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
