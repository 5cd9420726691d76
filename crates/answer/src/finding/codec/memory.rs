//! Peak memory of encoding.

use super::*;

pub fn peaks(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (_, groups) in by_runtime(evidence) {
        let Some(largest) = groups.last() else { continue };
        let peak = |c: &&Row| c.value("encode-peak").map(|bytes| bytes as u64);
        let reference = reference_of(evidence, largest).filter(|c| c.cell.setting.codec.as_str() != IDENTITY);
        let on_front: Vec<&Row> = members(evidence, largest)
            .into_iter()
            .filter(|c| c.front && c.cell.setting.codec.as_str() != IDENTITY && peak(c).is_some())
            .collect();
        let (Some(least), Some(most)) =
            (on_front.iter().min_by_key(|c| peak(c)), on_front.iter().max_by_key(|c| peak(c)))
        else {
            continue;
        };
        if least.id() == most.id() {
            continue;
        }
        let words =
            |c: &&Row| format!("{} ({})", units::bytes(peak(c).unwrap_or(0)), label::of_cell(&c.cell));
        let mut text = format!(
            "Encoding {} peaks between {} and {} above the idle process among the settings on the front",
            place(evidence, largest),
            words(least),
            words(most)
        );
        let mut cells = vec![least.id().to_owned(), most.id().to_owned()];
        if let Some(reference) =
            reference.filter(|r| peak(r).is_some() && ![least.id(), most.id()].contains(&r.id()))
        {
            text.push_str(&format!("; the reference takes {}", words(&reference)));
            cells.push(reference.id().to_owned());
        }
        text.push('.');
        drafts.push(Draft::lead(text, cells));
    }
    drafts
}
