//! A list of URLs: one a line with an optional weight after it; `#` begins a comment at the start of a word, so that
//! a fragment is none.

use super::build::{Draft, Drafts};
use super::{MOST_REQUESTS, Wrong};
use crate::escape::shown;

pub(super) fn drafts(text: &str) -> Result<Drafts, Wrong> {
    let mut drafts = Drafts::default();
    for (index, content) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
        let mut words = content.split_whitespace().take_while(|word| !word.starts_with('#'));
        let Some(url) = words.next() else { continue };
        let line = index + 1;
        let wrong = |word: &str, what: &str| Wrong::new(line, format!("{}: {what}", shown(word.as_bytes())));
        let read = |word: &str| word.parse().map_err(|_| wrong(word, "no weight; write URL, or URL WEIGHT"));
        let weight = words.next().map(read).transpose()?;
        if let Some(more) = words.next() {
            return Err(wrong(more, "too much; write URL, or URL WEIGHT, one a line"));
        }
        if drafts.requests.len() == MOST_REQUESTS {
            return Err(Wrong::new(line, format!("more than {MOST_REQUESTS} requests")));
        }
        drafts.requests.push(Draft { line, url: url.into(), weight, ..Draft::default() });
    }
    Ok(drafts)
}
