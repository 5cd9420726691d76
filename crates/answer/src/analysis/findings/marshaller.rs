//! Symfony's marshaller beside the same work done by hand.

use crate::analysis::findings::{Candidate, Draft, Evidence, label};
use crate::analysis::model::Group;
use weigh_model::protocol::Phase;

/// The codec that is Symfony's DeflateMarshaller as the distribution ships it.
const MARSHALLER: &str = "symfony-deflate";

/// What it may do inside: a serializer of its own choice, then zlib at its default level.
const BY_HAND: [&str; 2] = ["gzdeflate", "gzcompress"];

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (_, groups) in evidence.by_runtime() {
        drafts.extend(groups.iter().rev().find_map(|group| sentence(evidence, group)));
    }
    drafts
}

fn sentence(evidence: &Evidence, group: &Group) -> Option<Draft> {
    let members = evidence.members(group);
    let marshaller = members.iter().copied().find(|c| c.codec() == MARSHALLER)?;
    let difference = |c: &Candidate| (c.bytes() - marshaller.bytes()).abs();
    let by_hand = members
        .iter()
        .copied()
        .filter(|c| BY_HAND.contains(&c.codec()) && c.level() == Some(6))
        .min_by(|a, b| difference(a).total_cmp(&difference(b)))?;
    let ratio = |phase| {
        Some(label::ratio(&evidence.cost(marshaller, phase)?.ratio_to(&evidence.cost(by_hand, phase)?)?))
    };
    let text = format!(
        "Symfony's DeflateMarshaller takes {} of the encode CPU time of {} on {}, {} of its decode CPU time and {}.",
        ratio(Phase::Encode)?,
        label::of(&by_hand.result.cell),
        evidence.place(group),
        ratio(Phase::Decode)?,
        label::bytes_beside(marshaller.bytes(), by_hand.bytes()),
    );
    Some(Draft::lead(text, vec![marshaller.id(), by_hand.id()]))
}
