//! The Pareto front in one sentence a payload.

use crate::analysis::findings::{Candidate, Draft, Evidence, label};
use crate::analysis::model::{CellResult, Group};
use weigh_model::units;

/// Payloads told of: the largest ones.
const SHOWN: usize = 3;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (_, groups) in evidence.by_runtime() {
        for (place, group) in groups.iter().rev().take(SHOWN).enumerate() {
            drafts.extend(sentence(evidence, group, place == 0));
        }
    }
    drafts
}

fn sentence(evidence: &Evidence, group: &Group, lead: bool) -> Option<Draft> {
    let members = evidence.members(group);
    let mut front: Vec<Candidate> = members.iter().filter(|c| c.result.front).copied().collect();
    front.sort_by(|a, b| b.bytes().total_cmp(&a.bytes()));
    let (fastest, smallest) = (front.first()?, front.last()?);
    if members.len() < 2 {
        return None;
    }
    let count = units::count(members.len(), "setting", "settings");
    let place = evidence.place(group);
    let text = if fastest.index == smallest.index {
        format!("On {place} one of {count} is both the fastest and the smallest: {}.", words(fastest.result))
    } else {
        format!(
            "On {place} {} of {count} are on the Pareto front of encode CPU time and bytes, from {} to {}.",
            label::number(front.len()),
            words(fastest.result),
            words(smallest.result)
        )
    };
    let cells = front.iter().map(Candidate::id).collect();
    Some(if lead { Draft::lead(text, cells) } else { Draft::detail(text, cells) })
}

/// `lz4 (421 MB/s, 52.9% of the serialized bytes)`; the whole of encode, serializer included.
fn words(result: &CellResult) -> String {
    let encode = result.phases.get(&weigh_model::protocol::Phase::Encode);
    let rate = encode.map_or(String::new(), |e| units::mb_s(e.throughput(result.decoded_bytes)));
    let left = units::percent(1.0 - result.space_saving());
    format!("{} ({rate}, {left} of the bytes left)", label::of(&result.cell))
}
