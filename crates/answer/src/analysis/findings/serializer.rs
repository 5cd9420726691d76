//! What another serializer changes: bytes and CPU time, before and after compression.

use weigh_stats::Ratio;

use crate::analysis::estimate::IDENTITY;
use crate::analysis::findings::{Candidate, Draft, Evidence, label};
use crate::analysis::model::Group;
use weigh_model::protocol::Phase;
use weigh_model::setting::Setting;
use weigh_model::units;

/// The serializer every PHP has.
const BASE: &str = "serialize";

/// What two serializers cost with the same setting, ours ÷ `serialize`.
struct Effect {
    encode: Ratio,
    decode: Ratio,
    bytes: f64,
    cells: [String; 2],
}

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (_, groups) in evidence.by_runtime() {
        let mut serializers: Vec<&str> = Vec::new();
        for candidate in groups.iter().flat_map(|g| evidence.members(g)) {
            let other = candidate.result.cell.serializer.as_deref().filter(|s| *s != BASE);
            serializers.extend(other.filter(|s| !serializers.contains(s)));
        }
        for (place, serializer) in serializers.into_iter().enumerate() {
            drafts.extend(on_largest(evidence, &groups, serializer, place == 0));
            drafts.extend(over_payloads(evidence, &groups, serializer));
        }
    }
    drafts
}

fn effect(evidence: &Evidence, group: &Group, serializer: &str, setting: &Setting) -> Option<Effect> {
    let members = evidence.members(group);
    let with = |name: &str| {
        members
            .iter()
            .copied()
            .find(|c| c.result.cell.serializer.as_deref() == Some(name) && c.result.cell.setting == *setting)
    };
    let (ours, base) = (with(serializer)?, with(BASE)?);
    let ratio = |phase| evidence.cost(ours, phase)?.ratio_to(&evidence.cost(base, phase)?);
    Some(Effect {
        encode: ratio(Phase::Encode)?,
        decode: ratio(Phase::Decode)?,
        bytes: ours.bytes() / base.bytes().max(1.0),
        cells: [ours.id(), base.id()],
    })
}

/// The setting whose effect stands beside that of no compression: of those measured with both serializers, the
/// smallest on the front, for that is where least is left to save; else the reference's.
fn compressed<'a>(evidence: &Evidence<'a>, group: &Group, serializer: &str) -> Option<&'a Setting> {
    let members = evidence.members(group);
    let measured_with_both = |c: &&Candidate<'a>| {
        members.iter().any(|o| {
            o.result.cell.serializer.as_deref() == Some(serializer)
                && o.result.cell.setting == c.result.cell.setting
        })
    };
    let bases = || {
        members
            .iter()
            .filter(|c| c.result.cell.serializer.as_deref() == Some(BASE) && c.codec() != IDENTITY)
            .filter(measured_with_both)
    };
    bases()
        .find(|c| c.result.cell.setting == Setting::at("zstd", 3))
        .or_else(|| bases().find(|c| group.reference.as_ref() == Some(&c.result.cell.id)))
        .map(|c| &c.result.cell.setting)
}

fn on_largest(evidence: &Evidence, groups: &[&Group], serializer: &str, lead: bool) -> Option<Draft> {
    let group = groups.last()?;
    let alone = effect(evidence, group, serializer, &Setting::bare(IDENTITY))?;
    let words = |e: &Effect| {
        format!(
            "{} of its encode CPU time, {} of its decode CPU time and {}",
            label::ratio(&e.encode),
            label::ratio(&e.decode),
            label::bytes_beside(e.bytes, 1.0)
        )
    };
    let mut text =
        format!("On {}, {serializer} instead of {BASE} takes {}", evidence.place(group), words(&alone));
    let mut cells = alone.cells.to_vec();
    if let Some((setting, e)) = compressed(evidence, group, serializer)
        .and_then(|setting| Some((setting, effect(evidence, group, serializer, setting)?)))
    {
        text.push_str(&format!("; with {} on top, {}", label::setting(setting), words(&e)));
        cells.extend(e.cells);
    }
    text.push('.');
    Some(if lead { Draft::lead(text, cells) } else { Draft::detail(text, cells) })
}

/// The range over all payloads that have both.
fn over_payloads(evidence: &Evidence, groups: &[&Group], serializer: &str) -> Option<Draft> {
    let effects = |setting: &Setting| -> Vec<Effect> {
        groups.iter().filter_map(|g| effect(evidence, g, serializer, setting)).collect()
    };
    let alone = effects(&Setting::bare(IDENTITY));
    if alone.len() < 2 {
        return None;
    }
    let values = |effects: &[Effect], of: fn(&Effect) -> f64| effects.iter().map(of).collect::<Vec<f64>>();
    let mut text = format!(
        "Over {}, {serializer} leaves {} of the bytes of {BASE}, at {} of its encode CPU time and {} of its decode CPU time",
        units::count(alone.len(), "payload", "payloads"),
        label::range(&values(&alone, |e| e.bytes), units::percent),
        label::range(&values(&alone, |e| e.encode.value), units::times),
        label::range(&values(&alone, |e| e.decode.value), units::times),
    );
    let mut cells: Vec<String> = alone.iter().flat_map(|e| e.cells.clone()).collect();
    if let Some(setting) = groups.last().and_then(|g| compressed(evidence, g, serializer)) {
        let compressed = effects(setting);
        if compressed.len() > 1 {
            text.push_str(&format!(
                "; after {} on {}, {} of the bytes at {} of the encode CPU time",
                label::setting(setting),
                units::count(compressed.len(), "payload", "payloads"),
                label::range(&values(&compressed, |e| e.bytes), units::percent),
                label::range(&values(&compressed, |e| e.encode.value), units::times),
            ));
            cells.extend(compressed.iter().flat_map(|e| e.cells.clone()));
        }
    }
    text.push('.');
    Some(Draft::detail(text, cells))
}
