//! The deltas of a file against the version that a returning visitor has, as `weigh pack --against` writes them.
//!
//! Studies have one version of a content. The one before it is made from it by edits as a release has them, so a delta's size says what such edits
//! cost, and its CPU time what sending it costs.

use anyhow::{Context, Result};
use weigh_codec::delta::{self, Coding};
use weigh_load::accept::Accept;
use weigh_model::setting::Setting;

use super::ways::CODING;
use weigh_rig::server::dictionaries::{ending, offered};

/// Bytes from one edit to the next.
const EVERY: usize = 8 << 10;
/// Bytes that an edit replaces.
const EDITED: usize = 24;

/// The version of before: other bytes at the begin, as a version in a comment, and 24 others in every 8 KB.
pub fn previous(content: &[u8]) -> Vec<u8> {
    let mut previous = b"/* the version of before */\n".to_vec();
    for (at, piece) in content.chunks(EVERY).enumerate() {
        let kept = piece.len().saturating_sub(EDITED);
        previous.extend(&piece[..kept]);
        previous.extend(format!("edit{at:08x}").bytes());
    }
    previous
}

/// The codings that a cell asks for: those that it accepts, or the one that its setting names.
pub fn wanted(setting: &Setting, accept: &str) -> Vec<Coding> {
    let only = setting.options.get(CODING);
    let accept = Accept::parse(accept);
    let asked = accept.asked().filter(|coding| only.is_none_or(|only| only == coding));
    asked.filter_map(Coding::from_name).collect()
}

/// What the name of a delta against this version ends in, after the file's name and a dot.
pub fn name_ending(coding: Coding, previous: &[u8]) -> String {
    ending(&delta::digest(previous), coding)
}

/// The delta of a content against this version.
pub fn encode(coding: Coding, previous: &[u8], content: &[u8]) -> Result<Vec<u8>> {
    let body = delta::encode(coding, previous, content, coding.best_level());
    body.with_context(|| format!("a {} delta cannot be made", coding.name()))
}

/// The field by which a client offers a dictionary.
pub fn offer(dictionary: &[u8]) -> (String, String) {
    ("Available-Dictionary".to_owned(), offered(&delta::digest(dictionary)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delta_is_small_and_leads_from_the_version_of_before_to_this_one() {
        let content: Vec<u8> =
            (0..40_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
        let before = previous(&content);
        assert_ne!(before, content);
        for coding in Coding::ALL {
            let body = encode(coding, &before, &content).unwrap();
            assert!(name_ending(coding, &before).ends_with(coding.name()));
            assert!(body.len() < content.len() / 20, "{} bytes of {}", body.len(), content.len());
            let (decoded, _) = delta::decode_independently(coding, &before, &body, content.len()).unwrap();
            assert!(decoded == content);
        }
        assert_eq!(previous(b""), b"/* the version of before */\n");
    }
}
