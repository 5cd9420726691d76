//! The evidence of a report: its sentences, and what they are made of.

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
