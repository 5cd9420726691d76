//! Peak memory of encoding.

use crate::analysis::estimate::IDENTITY;
use crate::analysis::findings::{Candidate, Draft, Evidence, label};
use weigh_model::protocol::Phase;
use weigh_model::units;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (_, groups) in evidence.by_runtime() {
        let Some(largest) = groups.last() else { continue };
        let peak = |c: &Candidate| c.result.peak_bytes.get(&Phase::Encode).copied();
        let reference = evidence.reference(largest).filter(|c| c.codec() != IDENTITY);
        let on_front: Vec<Candidate> = evidence
            .members(largest)
            .into_iter()
            .filter(|c| c.result.front && c.codec() != IDENTITY && peak(c).is_some())
            .collect();
        let (Some(least), Some(most)) =
            (on_front.iter().min_by_key(|c| peak(c)), on_front.iter().max_by_key(|c| peak(c)))
        else {
            continue;
        };
        if least.index == most.index {
            continue;
        }
        let words =
            |c: &Candidate| format!("{} ({})", units::bytes(peak(c).unwrap_or(0)), label::of(&c.result.cell));
        let mut text = format!(
            "Encoding {} peaks between {} and {} above the idle process among the settings on the front",
            evidence.place(largest),
            words(least),
            words(most)
        );
        let mut cells = vec![least.id(), most.id()];
        if let Some(reference) =
            reference.filter(|r| peak(r).is_some() && ![least.index, most.index].contains(&r.index))
        {
            text.push_str(&format!("; the reference takes {}", words(&reference)));
            cells.push(reference.id());
        }
        text.push('.');
        drafts.push(Draft::lead(text, cells));
    }
    drafts
}
