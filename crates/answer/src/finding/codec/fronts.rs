//! The Pareto front in one sentence a payload.

use super::*;

/// Payloads told of: the largest ones.
const SHOWN: usize = 3;

pub fn ends(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (_, groups) in by_runtime(evidence) {
        for (place, group) in groups.iter().rev().take(SHOWN).enumerate() {
            drafts.extend(sentence(evidence, group, place == 0));
        }
    }
    drafts
}

fn sentence(evidence: &Evidence, group: &Group, lead: bool) -> Option<Draft> {
    let members = members(evidence, group);
    let mut front: Vec<&Row> = members.iter().filter(|c| c.front).copied().collect();
    front.sort_by(|a, b| stored(b).total_cmp(&stored(a)));
    let (fastest, smallest) = (front.first()?, front.last()?);
    if members.len() < 2 {
        return None;
    }
    let count = units::count(members.len(), "setting", "settings");
    let place = place(evidence, group);
    let text = if fastest.id() == smallest.id() {
        format!("On {place} one of {count} is both the fastest and the smallest: {}.", words(fastest))
    } else {
        format!(
            "On {place} {} of {count} are on the Pareto front of encode CPU time and bytes, from {} to {}.",
            label::number(front.len()),
            words(fastest),
            words(smallest)
        )
    };
    let cells = front.iter().map(id_of).collect();
    Some(Draft::new(lead, text, cells))
}

/// `lz4 (421 MB/s, 52.9% of the serialized bytes)`; the whole of encode, serializer included.
fn words(row: &Row) -> String {
    let rate = row.value("encode-rate").map_or(String::new(), |rate| units::mb_s(rate / 1e6));
    let left = units::percent(1.0 - row.value("saving").unwrap_or(0.0));
    format!("{} ({rate}, {left} of the bytes left)", label::of_cell(&row.cell))
}
