//! Peak memory of encoding.

use super::*;

pub fn peaks(evidence: &Evidence) -> Vec<Draft> {
    of_largest(evidence, |group| sentence(evidence, group))
}

fn sentence(evidence: &Evidence, group: &Group) -> Option<Draft> {
    let peak = |c: &&Row| c.value("encode-peak").map(|bytes| bytes as u64);
    let encodes = |c: &&Row| c.cell.setting.codec != IDENTITY && peak(c).is_some();
    let on_front: Vec<&Row> =
        members(evidence, group).into_iter().filter(|c| c.front && encodes(c)).collect();
    let least = on_front.iter().min_by_key(|c| peak(c))?;
    let most = on_front.iter().max_by_key(|c| peak(c)).filter(|most| most.id() != least.id())?;
    let words = |c: &&Row| format!("{} ({})", units::bytes(peak(c).unwrap_or(0)), label::of_cell(&c.cell));
    let mut cells = vec![least.id().to_owned(), most.id().to_owned()];
    let reference =
        reference_of(evidence, group).filter(encodes).filter(|r| !cells.iter().any(|id| id == r.id()));
    cells.extend(reference.iter().map(id_of));
    let text = format!(
        "Encoding {} needs {} to {} of memory beyond the idle process{}.",
        describe_group(evidence, group),
        words(least),
        words(most),
        reference.map_or(String::new(), |r| format!("; the reference needs {}", words(&r)))
    );
    Some(Draft::lead(text, cells))
}
