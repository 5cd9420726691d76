//! The link speeds at which one setting overtakes another, with intervals.

use super::*;

pub fn bandwidths(evidence: &Evidence) -> Vec<Draft> {
    if speeds(evidence).is_empty() {
        return Vec::new();
    }
    of_largest(evidence, |group| levels_of_reference(evidence, group))
}

/// Whether a higher level of the current codec pays if the value crosses a link. Writes only: they show the cost of a
/// level.
fn levels_of_reference(evidence: &Evidence, group: &Group) -> Option<Draft> {
    let (reference, peers) = peers(evidence, group)?;
    let middle = reference.cell.setting.level.filter(|_| reference.cell.setting.codec != IDENTITY)?;
    let codec = &reference.cell.setting.codec;
    let plain = peers.iter().filter(|p| p.cell.setting.codec == *codec && p.cell.setting.options.is_empty());
    let levels: Vec<i32> = plain.clone().filter_map(|p| p.cell.setting.level).collect();
    let (lowest, highest) = (*levels.iter().min()?, *levels.iter().max()?);
    let lines = lines(evidence, group, Mix::Write);
    let line = |level: i32| {
        let id = plain.clone().find(|p| p.cell.setting.level == Some(level))?.id();
        lines.iter().find(|l| l.row.id() == id)
    };
    let mut parts = Vec::new();
    let mut cells = Vec::new();
    for (low, high) in [(lowest, middle), (middle, highest)].into_iter().filter(|(low, high)| low < high) {
        let (fast, slow) = (line(low)?, line(high)?);
        parts.push(match between(fast, slow).as_slice() {
            [] => continue,
            [one] => format!("level {high} beats level {low} on links slower than {}", speed(one)),
            [first, .., last] => {
                format!("level {low} beats level {high} between {} and {} only", speed(last), speed(first))
            }
        });
        cells.extend([fast.row.cell.id.clone(), slow.row.cell.id.clone()]);
    }
    cells.dedup();
    (!parts.is_empty()).then(|| {
        let codec = label::cell(reference.cell.serializer.as_deref(), &Setting::bare(codec.as_str()));
        let text =
            format!("{codec}, writes of {}: {}.", describe_group(evidence, group), units::list(&parts));
        Draft::lead(text, cells)
    })
}

/// The crossings of two lines of which the first is the faster and the larger one.
fn between(fast: &Line, slow: &Line) -> Vec<BreakEven> {
    if fast.bytes <= slow.bytes || !is_less(&fast.cost, &slow.cost) {
        return Vec::new();
    }
    break_evens(fast, slow)
}

fn speed(crossing: &BreakEven) -> String {
    if crossing.low == 0.0 && crossing.high.is_infinite() {
        return format!("about {} (no interval: too few rounds)", units::mbit(crossing.mbit));
    }
    units::mbit_interval(crossing.mbit, crossing.low, crossing.high)
}
