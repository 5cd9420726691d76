//! The recommendation of a report, and what it is made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::finding::Evidence;
use crate::report::ranking::{Answer, Conditions, Ranking};
use crate::row::Row;
use crate::verdict::Confidence;

/// The most sentences of an answer.
pub const SENTENCES: usize = 5;

/// Puts what was chosen into sentences; none if nothing was.
pub type Advise = fn(&Case) -> Option<Advice>;

/// The answer to the question of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// How sure it is.
    #[serde(default = "settled")]
    pub confidence: Confidence,
    /// What to use, the most important first; empty with too few rounds, and if the run is not complete.
    pub recommended: Vec<Recommended>,
    /// What is ahead so far where nothing is recommended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ahead: Vec<Recommended>,
    /// The same in at most five sentences, the recommendation first.
    pub sentences: Vec<Sentence>,
}

fn settled() -> Confidence {
    Confidence::Settled
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
    pub part: StatementKind,
    /// The sentence, plain text.
    pub text: String,
    /// Ids of the cells that it is based on.
    pub cells: Vec<String>,
}

/// The kinds of statement in an answer, in the order of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Part", rename_all = "kebab-case")]
pub enum StatementKind {
    /// What to use; without enough rounds what is ahead so far.
    Use,
    /// What it needs: an extension, a module.
    Needs,
    /// What is known exactly, however few the rounds are.
    Known,
    /// What it improves compared with current practice, with the interval.
    Gain,
    /// When something else would be better.
    Change,
    /// How certain it is, and what was not shown.
    Limit,
}

/// What was chosen in a run, under its usual conditions.
pub struct Case<'c> {
    /// The plan and the report without its answer.
    pub evidence: &'c Evidence<'c>,
    /// Everything that can be chosen.
    pub ranking: &'c Ranking<'c>,
    pub conditions: &'c Conditions,
    /// What was chosen, question by question.
    pub answers: Vec<Answer<'c>>,
}

pub(crate) fn ids<'r>(rows: impl IntoIterator<Item = &'r Row>) -> Vec<String> {
    rows.into_iter().map(|row| row.id().to_owned()).collect()
}

impl Advice {
    /// Assembles the answer: at most [`SENTENCES`], in the order of their kinds. If a kind has several, the first ones
    /// stay.
    pub fn new(
        confidence: Confidence,
        recommended: Vec<Recommended>,
        mut sentences: Vec<Sentence>,
    ) -> Advice {
        sentences.sort_by_key(|sentence| sentence.part);
        while sentences.len() > SENTENCES {
            let of = |part: StatementKind| sentences.iter().filter(|sentence| sentence.part == part).count();
            let longest =
                sentences.iter().map(|sentence| sentence.part).max_by_key(|part| (of(*part), *part));
            let last = sentences.iter().rposition(|sentence| Some(sentence.part) == longest);
            sentences.remove(last.unwrap_or(SENTENCES));
        }
        Advice { confidence, recommended, ahead: Vec::new(), sentences }
    }

    pub fn recommends(&self, cell: &str) -> bool {
        self.recommended.iter().any(|one| one.cells.iter().any(|id| id == cell))
    }
}

impl Sentence {
    pub fn new(
        part: StatementKind,
        text: impl Into<String>,
        cells: impl IntoIterator<Item = String>,
    ) -> Sentence {
        Sentence { part, text: text.into(), cells: cells.into_iter().collect() }
    }

    /// What one row improves compared with another: `page from nginx, beside gzip 6: 52% less CPU time.`
    pub(crate) fn gain(what: &str, beside: &str, change: &str, rows: [&Row; 2]) -> Sentence {
        Sentence::new(StatementKind::Gain, format!("{what}, compared with {beside}: {change}."), ids(rows))
    }
}
