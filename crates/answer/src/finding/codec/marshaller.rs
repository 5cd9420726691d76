//! Symfony's marshaller compared with the same work without it.

use super::*;

/// The codec that is Symfony's DeflateMarshaller as the distribution ships it.
const MARSHALLER: &str = "symfony-deflate";

/// What it does inside: a serializer of its choice, then zlib at its default level.
const BY_HAND: [&str; 2] = ["gzdeflate", "gzcompress"];

pub fn beside_by_hand(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (_, groups) in by_runtime(evidence) {
        drafts.extend(groups.iter().rev().find_map(|group| sentence(evidence, group)));
    }
    drafts
}

fn sentence(evidence: &Evidence, group: &Group) -> Option<Draft> {
    let members = members(evidence, group);
    let marshaller = members.iter().copied().find(|c| c.cell.setting.codec == MARSHALLER)?;
    let difference = |c: &&Row| (stored(c) - stored(marshaller)).abs();
    let by_hand = members
        .iter()
        .copied()
        .filter(|c| BY_HAND.contains(&c.cell.setting.codec.as_str()) && c.cell.setting.level == Some(6))
        .min_by(|a, b| difference(a).total_cmp(&difference(b)))?;
    let beside =
        |phase, what| Some(label::change(&ratio(marshaller.get(phase)?, by_hand.get(phase)?)?, what));
    let text = format!(
        "Symfony's DeflateMarshaller compared with {} on {}: {}, {} and {}.",
        label::of_cell(&by_hand.cell),
        describe_group(evidence, group),
        beside(ENCODE, "encode time")?,
        beside(DECODE, "decode time")?,
        label::bytes_beside(stored(marshaller), stored(by_hand)),
    );
    Some(Draft::lead(text, vec![marshaller.id().to_owned(), by_hand.id().to_owned()]))
}
