//! The recommendation: derived once per run. The answer prints it, tables and pictures mark its configurations, and
//! other programs can read it. Everything else in a report is evidence for it.
//!
//! Each subject has its rule for choosing by figures; only [`crate::verdict`] says whether two configurations differ.

pub(crate) mod client;
pub(crate) mod codec;
pub(crate) mod delivery;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::Evidence;

/// The most sentences of an answer.
pub const SENTENCES: usize = 5;
/// The most words of a sentence.
pub const WORDS: usize = 25;

/// Derives the recommendation for a subject's question; none if too little was measured.
pub type Advise = fn(&Evidence) -> Option<Advice>;

/// The answer to the question of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// What to use, the most important first.
    pub recommended: Vec<Recommended>,
    /// The same in at most five sentences, the recommendation first.
    pub sentences: Vec<Sentence>,
}

/// One thing to use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recommended {
    /// The use case: `nginx`, `browsers that take zstd`; empty if it holds for everything measured.
    pub scope: String,
    /// The name in sentences and pictures: `igbinary with zstd 1`.
    pub name: String,
    /// Ids of its cells, one for each content that it holds for. None if only slow clients were measured, which are no rows.
    pub cells: Vec<String>,
}

/// A sentence of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sentence {
    /// The kind of statement.
    pub part: Part,
    /// The sentence, plain text.
    pub text: String,
    /// Ids of the cells that it is based on.
    pub cells: Vec<String>,
}

/// The kinds of statement in an answer, in the order of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// What to use.
    Use,
    /// What it needs: an extension, a module.
    Needs,
    /// What it improves compared with current practice, with the interval.
    Gain,
    /// When something else would be better.
    Change,
    /// How certain it is, and what was not shown.
    Limit,
}

impl Advice {
    /// Assembles the answer: at most [`SENTENCES`], in the order of their kinds. If a kind has several, the first ones
    /// stay.
    pub fn new(recommended: Vec<Recommended>, mut sentences: Vec<Sentence>) -> Advice {
        sentences.sort_by_key(|sentence| sentence.part);
        while sentences.len() > SENTENCES {
            let of = |part: Part| sentences.iter().filter(|sentence| sentence.part == part).count();
            let longest =
                sentences.iter().map(|sentence| sentence.part).max_by_key(|part| (of(*part), *part));
            let last = sentences.iter().rposition(|sentence| Some(sentence.part) == longest);
            sentences.remove(last.unwrap_or(SENTENCES));
        }
        Advice { recommended, sentences }
    }

    /// Whether a cell is recommended.
    pub fn recommends(&self, cell: &str) -> bool {
        self.recommended.iter().any(|one| one.cells.iter().any(|id| id == cell))
    }
}

impl Sentence {
    /// A sentence.
    pub fn new(part: Part, text: impl Into<String>, cells: impl IntoIterator<Item = String>) -> Sentence {
        Sentence { part, text: text.into(), cells: cells.into_iter().collect() }
    }
}

/// Whether a sentence is short enough.
pub(crate) fn is_short(text: &str) -> bool {
    text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count() <= WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(parts: &[Part]) -> Vec<Part> {
        let sentences = parts.iter().map(|part| Sentence::new(*part, "It is so.", []));
        Advice::new(Vec::new(), sentences.collect()).sentences.iter().map(|one| one.part).collect()
    }

    #[test]
    fn an_answer_has_five_sentences_in_the_order_of_their_parts() {
        use Part::{Change, Gain, Limit, Needs, Use};
        assert_eq!(said(&[Limit, Gain, Use]), [Use, Gain, Limit]);
        assert_eq!(said(&[Use, Gain, Gain, Gain, Needs, Change, Limit]), [Use, Needs, Gain, Change, Limit]);
        assert_eq!(
            said(&[Use, Needs, Gain, Change, Change, Limit, Limit]),
            [Use, Needs, Gain, Change, Limit]
        );
    }
}
