//! The link speeds at which one setting overtakes another, with intervals.

use crate::analysis::estimate::IDENTITY;
use crate::analysis::findings::{Draft, Evidence, label, mix_label};
use crate::analysis::links::{Line, break_even};
use crate::analysis::model::{BreakEven, Group, Mix};
use weigh_model::units;

/// Crossings beyond this many, from the fastest link on, are left to the table.
const SHOWN: usize = 4;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    if evidence.speeds().is_empty() {
        return Vec::new();
    }
    let mut drafts = Vec::new();
    for (_, groups) in evidence.by_runtime() {
        let Some(largest) = groups.last() else { continue };
        drafts.extend(levels_of_reference(evidence, largest));
        drafts.extend(chain(evidence, largest));
    }
    drafts
}

/// Is a higher level of the codec in use worth its time once the value has to cross a link? Writes only: they are
/// what a level costs.
fn levels_of_reference(evidence: &Evidence, group: &Group) -> Option<Draft> {
    let (reference, peers) = evidence.peers(group)?;
    let middle = reference.level().filter(|_| reference.codec() != IDENTITY)?;
    let plain =
        peers.iter().filter(|p| p.codec() == reference.codec() && p.result.cell.setting.options.is_empty());
    let levels: Vec<i32> = plain.clone().filter_map(|p| p.level()).collect();
    let (lowest, highest) = (*levels.iter().min()?, *levels.iter().max()?);
    let lines = evidence.lines(group, Mix::Write);
    let line = |level: i32| {
        let index = plain.clone().find(|p| p.level() == Some(level))?.index;
        lines.iter().find(|l| l.index == index)
    };
    let mut parts = Vec::new();
    let mut cells = Vec::new();
    for (low, high) in [(lowest, middle), (middle, highest)].into_iter().filter(|(low, high)| low < high) {
        let (fast, slow) = (line(low)?, line(high)?);
        if let Some(crossing) = between(evidence, fast, slow) {
            parts.push(format!("levels {low} and {high} cost the same at {}", speed(&crossing)));
            cells.extend([crossing.fast, crossing.slow]);
        }
    }
    cells.dedup();
    (!parts.is_empty()).then(|| {
        let text = format!(
            "For a write of {} with {}, {}: on a faster link the lower level is ahead, on a slower one the higher. Computed \
             from measured parts.",
            evidence.place(group),
            label::cell(
                reference.result.cell.serializer.as_deref(),
                &weigh_model::setting::Setting::bare(reference.codec())
            ),
            parts.join(", "),
        );
        Draft::lead(text, cells)
    })
}

/// The crossing of two lines of which the first is the faster and the larger one.
fn between(evidence: &Evidence, fast: &Line, slow: &Line) -> Option<BreakEven> {
    if fast.bytes <= slow.bytes || !fast.cost.clearly_below(&slow.cost) {
        return None;
    }
    break_even(fast, slow, evidence.cells)
}

/// Every crossing along the lower envelope, for daily use.
fn chain(evidence: &Evidence, group: &Group) -> Option<Draft> {
    let mix = evidence.usual_mix()?;
    let crossings = &group.links.iter().find(|l| l.mix == mix)?.break_even;
    let name = |id: &str| evidence.cells.iter().find(|c| c.cell.id == id).map(|c| label::of(&c.cell));
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
        "Break-even bandwidth on {} with {}: {}; the first of two is ahead on faster links. Computed from measured parts.",
        evidence.place(group),
        mix_label(mix),
        parts.join("; "),
    );
    Some(Draft::lead(text, cells))
}

fn speed(crossing: &BreakEven) -> String {
    if crossing.low == 0.0 && crossing.high.is_infinite() {
        return format!("about {} (too few rounds for an interval)", units::mbit(crossing.mbit));
    }
    units::mbit_interval(crossing.mbit, crossing.low, crossing.high)
}
