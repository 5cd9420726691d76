//! How to send pages, assets and downloads. Each kind has its rule in its own file; a run that has several gets one answer of them all.
//!
//! URLs that others serve get no recommendation: their servers' CPU time is not known, and nothing there competes.

mod assets;
mod downloads;
mod pages;

use crate::advice::{Advice, Recommended, Sentence};
use crate::finding::Evidence;
use crate::finding::delivery::Sent;

/// What one kind of thing adds to the answer.
#[derive(Default)]
struct Said {
    recommended: Vec<Recommended>,
    sentences: Vec<Sentence>,
}

/// What to do; none where nothing competes.
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

/// Rounds of the row that has the fewest.
fn fewest_rounds<'s>(rows: impl IntoIterator<Item = &'s Sent<'s>>) -> u32 {
    rows.into_iter().filter_map(|row| Some(row.cpu()?.rounds)).min().unwrap_or(0)
}
