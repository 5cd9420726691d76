//! Total times at an everyday link speed: the best setting beside the reference and beside no compression.

use super::*;

/// The speed that the sentences take, or the nearest one of the study, in Mbit/s.
const EVERYDAY: f64 = 1000.0;

pub fn at_everyday_speed(evidence: &Evidence) -> Vec<Draft> {
    let Some(mix) = usual_mix(evidence) else { return Vec::new() };
    let distance = |speed: &f64| (speed / EVERYDAY).ln().abs();
    let speeds = speeds(evidence);
    let Some(mbit) = speeds.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b))) else {
        return Vec::new();
    };
    let mut drafts = Vec::new();
    for (_, groups) in by_runtime(evidence) {
        // The largest value, and the one in the middle.
        let Some(largest) = groups.last() else { continue };
        drafts.extend(sentence(evidence, largest, mix, mbit, true));
        let typical = groups[groups.len() / 2];
        if typical.payload() != largest.payload() {
            drafts.extend(sentence(evidence, typical, mix, mbit, false));
        }
    }
    drafts
}

fn sentence(evidence: &Evidence, group: &Group, mix: Mix, mbit: f64, lead: bool) -> Option<Draft> {
    let lines = lines(evidence, group, mix);
    let best = smallest(&lines, mbit)?;
    let ties = ties(&lines, best, mbit);
    let reference = lines.iter().find(|l| group.reference() == Some(l.row.id()));
    let serializer = reference.and_then(|l| l.row.cell.serializer.as_ref());
    let identity = lines
        .iter()
        .find(|l| l.row.cell.setting.codec == IDENTITY && l.row.cell.serializer.as_ref() == serializer);

    let with_transfer = |end: Option<f64>| end.map(|end| end + best.transfer(mbit));
    let mut text = format!(
        "At {} with {}, {} takes {} an operation on {}",
        units::mbit(mbit),
        mix_label(mix),
        label::of_cell(&best.row.cell),
        units::ns_interval(best.total(mbit), with_transfer(best.cost.low), with_transfer(best.cost.high)),
        place(evidence, group),
    );
    let mut cells = vec![best.row.cell.id.clone()];
    let others: Vec<&Line> =
        reference.into_iter().chain(identity).filter(|l| l.row.id() != best.row.id()).collect();
    for (place, other) in others.iter().enumerate() {
        if place > 0 && other.row.id() == others[0].row.id() {
            continue;
        }
        text.push_str(&format!("; {} takes {}", label::of_cell(&other.row.cell), beside(best, other, mbit)));
        cells.push(other.row.cell.id.clone());
    }
    text.push('.');
    let first = label::of_cell(&best.row.cell);
    let names: Vec<String> = ties.iter().map(|l| label::of_cell(&l.row.cell)).collect();
    match names.len() {
        0 => {}
        1..=4 => text.push_str(&format!(" {first} cannot be told apart from {}.", units::list(&names))),
        n => text.push_str(&format!(" {first} cannot be told apart from {} others.", label::number(n))),
    }
    cells.extend(ties.iter().map(|l| l.row.cell.id.clone()));
    text.push_str(&format!(" Computed from {}.", measured_parts(evidence)));
    Some(Draft::new(lead, text, cells))
}

/// `41.2 ms, 2.7× [2.6, 2.8] as long`.
fn beside(best: &Line, other: &Line, mbit: f64) -> String {
    let total = units::ns(other.total(mbit));
    match ratio_of_totals((&other.cost, other.transfer(mbit)), (&best.cost, best.transfer(mbit))) {
        Some(Ratio { value, low, high, .. }) => {
            format!("{total}, {} as long", units::times_interval(value, low, high))
        }
        None => total,
    }
}
