//! How to send pages, assets and downloads. Each kind has its rule in its own file; a run with several kinds has one
//! combined answer.
//!
//! URLs of running servers get no recommendation: the CPU time of these servers is unknown, and nothing competes.

mod assets;
mod downloads;
pub(crate) mod pages;

use crate::advice::{Advice, Recommended, Sentence};
use crate::finding::Evidence;
use crate::finding::delivery::Sent;

/// What one kind of content contributes to the answer.
#[derive(Default)]
struct Said {
    recommended: Vec<Recommended>,
    sentences: Vec<Sentence>,
}

/// The recommendation; none if nothing competes.
pub fn advise(evidence: &Evidence) -> Option<Advice> {
    let kinds = [pages::advise(evidence), assets::advise(evidence), downloads::advise(evidence)];
    let said = kinds.into_iter().flatten().reduce(|mut all, one| {
        all.recommended.extend(one.recommended);
        all.sentences.extend(one.sentences);
        all
    })?;
    Some(Advice::new(said.recommended, said.sentences))
}

fn ids<'s>(rows: impl IntoIterator<Item = &'s Sent<'s>>) -> Vec<String> {
    rows.into_iter().map(Sent::own_id).collect()
}

/// Rounds of the row with the fewest rounds.
fn fewest_rounds<'s>(rows: impl IntoIterator<Item = &'s Sent<'s>>) -> u32 {
    rows.into_iter().filter_map(|row| Some(row.cpu()?.rounds)).min().unwrap_or(0)
}
