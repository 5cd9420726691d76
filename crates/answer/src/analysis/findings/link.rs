//! Total times at an everyday link speed: the best setting beside the reference and beside no compression.

use weigh_stats::Ratio;

use crate::analysis::estimate::IDENTITY;
use crate::analysis::findings::{Draft, Evidence, label, mix_label};
use crate::analysis::links::{Line, smallest, ties};
use crate::analysis::model::{Group, Mix};
use weigh_model::units;

/// The speed that the sentences take, or the nearest one of the study, in Mbit/s.
const EVERYDAY: f64 = 1000.0;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let Some(mix) = evidence.usual_mix() else { return Vec::new() };
    let distance = |speed: &f64| (speed / EVERYDAY).ln().abs();
    let speeds = evidence.speeds();
    let Some(mbit) = speeds.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b))) else {
        return Vec::new();
    };
    let mut drafts = Vec::new();
    for (_, groups) in evidence.by_runtime() {
        // The largest value, and the one in the middle.
        let Some(largest) = groups.last() else { continue };
        drafts.extend(sentence(evidence, largest, mix, mbit, true));
        let typical = groups[groups.len() / 2];
        if typical.payload != largest.payload {
            drafts.extend(sentence(evidence, typical, mix, mbit, false));
        }
    }
    drafts
}

fn sentence(evidence: &Evidence, group: &Group, mix: Mix, mbit: f64, lead: bool) -> Option<Draft> {
    let lines = evidence.lines(group, mix);
    let best = smallest(&lines, mbit)?;
    let ties = ties(&lines, best, mbit);
    let cell = |line: &Line| &evidence.cells[line.index].cell;
    let reference = lines.iter().find(|l| group.reference.as_ref() == Some(&cell(l).id));
    let serializer = reference.and_then(|l| cell(l).serializer.as_ref());
    let identity =
        lines.iter().find(|l| cell(l).setting.codec == IDENTITY && cell(l).serializer.as_ref() == serializer);

    let interval = best.cost.interval();
    let transfer = best.transfer(mbit);
    let mut text = format!(
        "At {} with {}, {} takes {} an operation on {}",
        units::mbit(mbit),
        mix_label(mix),
        label::of(cell(best)),
        units::ns_interval(best.total(mbit), interval.low + transfer, interval.high + transfer),
        evidence.place(group),
    );
    let mut cells = vec![cell(best).id.clone()];
    let others: Vec<&Line> =
        reference.into_iter().chain(identity).filter(|l| l.index != best.index).collect();
    for (place, other) in others.iter().enumerate() {
        if place > 0 && other.index == others[0].index {
            continue;
        }
        text.push_str(&format!("; {} takes {}", label::of(cell(other)), beside(best, other, mbit)));
        cells.push(cell(other).id.clone());
    }
    text.push('.');
    let first = label::of(cell(best));
    let names: Vec<String> = ties.iter().map(|l| label::of(cell(l))).collect();
    match names.len() {
        0 => {}
        1..=4 => text.push_str(&format!(" {first} cannot be told apart from {}.", units::list(&names))),
        n => text.push_str(&format!(" {first} cannot be told apart from {} others.", label::number(n))),
    }
    cells.extend(ties.iter().map(|l| cell(l).id.clone()));
    text.push_str(" Computed from measured parts.");
    Some(if lead { Draft::lead(text, cells) } else { Draft::detail(text, cells) })
}

/// `41.2 ms, 2.7× [2.6, 2.8] as long`.
fn beside(best: &Line, other: &Line, mbit: f64) -> String {
    let total = units::ns(other.total(mbit));
    match other.cost.total_ratio_to(other.transfer(mbit), &best.cost, best.transfer(mbit)) {
        Some(Ratio { value, low, high }) => {
            format!("{total}, {} as long", units::times_interval(value, low, high))
        }
        None => total,
    }
}
