//! The link speeds at which one setting overtakes another, with intervals.

use super::*;

/// Crossings beyond this many, from the fastest link on, are left to the table.
const SHOWN: usize = 4;

pub fn bandwidths(evidence: &Evidence) -> Vec<Draft> {
    if speeds(evidence).is_empty() {
        return Vec::new();
    }
    of_largest(evidence, |group| {
        levels_of_reference(evidence, group).into_iter().chain(chain(evidence, group))
    })
}

/// Is a higher level of the codec in use worth its time once the value has to cross a link? Writes only: they are
/// what a level costs.
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
    let mut is_once = true;
    for (low, high) in [(lowest, middle), (middle, highest)].into_iter().filter(|(low, high)| low < high) {
        let (fast, slow) = (line(low)?, line(high)?);
        let crossings = between(fast, slow);
        match crossings.as_slice() {
            [] => continue,
            [one] => parts.push(format!("levels {low} and {high} cost the same at {}", speed(one))),
            [first, .., last] => {
                is_once = false;
                let (from, to) = (speed(last), speed(first));
                parts.push(format!("level {low} takes less than level {high} between {from} and {to} alone"));
            }
        }
        cells.extend([fast.row.cell.id.clone(), slow.row.cell.id.clone()]);
    }
    cells.dedup();
    let ahead = ": on a faster link the lower level is ahead, on a slower one the higher";
    (!parts.is_empty()).then(|| {
        let text = format!(
            "For a write of {} with {}, {}{}. Computed from {}.",
            place(evidence, group),
            label::cell(reference.cell.serializer.as_deref(), &Setting::bare(codec.as_str())),
            parts.join(", "),
            if is_once { ahead } else { "" },
            measured_parts(evidence)
        );
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

/// Every crossing along the lower envelope, for daily use.
fn chain(evidence: &Evidence, group: &Group) -> Option<Draft> {
    let mix = usual_mix(evidence)?;
    let totals = evidence.report.exhibits.links.as_ref()?;
    let crossings = &totals.of_group(group).iter().find(|l| l.mix == mix)?.break_even;
    let name = |id: &str| evidence.report.row(id).map(|row| label::of_cell(&row.cell));
    let shown: Vec<&BreakEven> = crossings.iter().take(SHOWN).collect();
    let parts: Vec<String> = shown
        .iter()
        .filter_map(|c| Some(format!("{} between {} and {}", speed(c), name(&c.fast)?, name(&c.slow)?)))
        .collect();
    if parts.is_empty() {
        return None;
    }
    let mut cells: Vec<String> = shown.iter().flat_map(|c| [c.fast.clone(), c.slow.clone()]).collect();
    cells.dedup();
    let text = format!(
        "Break-even bandwidth on {} with {}: {}; the first of two is ahead on faster links. Computed from {}.",
        place(evidence, group),
        mix_label(mix),
        parts.join("; "),
        measured_parts(evidence)
    );
    Some(Draft::lead(text, cells))
}

fn speed(crossing: &BreakEven) -> String {
    if crossing.low == 0.0 && crossing.high.is_infinite() {
        return format!("about {} (too few rounds for an interval)", units::mbit(crossing.mbit));
    }
    units::mbit_interval(crossing.mbit, crossing.low, crossing.high)
}
