//! What to do: one recommendation per run, derived once. The answer prints it, tables and pictures mark its configurations, and whatever carries a
//! decision out reads it. Everything else that a run says is evidence for it.
//!
//! It chooses by figures, under a rule that stands with each subject; whether two configurations differ is said by [`crate::verdict`] alone.

pub(crate) mod client;
pub(crate) mod codec;
pub(crate) mod delivery;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::Evidence;

/// Sentences of an answer at most.
pub const SENTENCES: usize = 5;
/// Words of a sentence at most.
pub const WORDS: usize = 25;

/// Derives what to do about a subject's question; none where too little was measured.
pub type Advise = fn(&Evidence) -> Option<Advice>;

/// The answer to the question of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// What to use, the most important first.
    pub recommended: Vec<Recommended>,
    /// The same in sentences, five at most, the recommendation first.
    pub sentences: Vec<Sentence>,
}

/// One thing to use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recommended {
    /// For what: `nginx`, `browsers that take zstd`; empty where it is for all that was measured.
    pub scope: String,
    /// What, as sentences and pictures name it: `igbinary with zstd 1`.
    pub name: String,
    /// Ids of the cells that are it, one for each content that it holds for. None where slow clients alone were measured, which are no rows.
    pub cells: Vec<String>,
}

/// A sentence of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sentence {
    /// What it says of the recommendation.
    pub part: Part,
    /// The sentence, plain text.
    pub text: String,
    /// Ids of the cells that it rests on.
    pub cells: Vec<String>,
}

/// What a sentence of the answer says. Their order is that of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// What to use.
    Use,
    /// What it takes: an extension, a module.
    Needs,
    /// What it brings, beside what is usual today, with its interval.
    Gain,
    /// When something else would be better.
    Change,
    /// How sure it is, and what was not shown.
    Limit,
}

impl Advice {
    /// Puts the answer together: at most [`SENTENCES`], in the order of their parts. Of parts with several the first ones stay.
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

    /// Whether a cell is what is recommended.
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
