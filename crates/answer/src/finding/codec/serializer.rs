//! The effect of another serializer: bytes and CPU time, before and after compression.

use super::*;

/// The serializer every PHP has.
const BASE: &str = "serialize";

/// The costs of two serializers with the same setting, ours ÷ `serialize`.
struct Effect {
    encode: Ratio,
    decode: Ratio,
    bytes: f64,
    cells: [String; 2],
}

pub fn effects(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (_, groups) in by_runtime(evidence) {
        let all = groups.iter().flat_map(|g| members(evidence, g));
        let serializers =
            distinct(all.filter_map(|row| row.cell.serializer.as_deref()).filter(|name| *name != BASE));
        for (place, serializer) in serializers.into_iter().enumerate() {
            drafts.extend(over_contents(evidence, &groups, serializer, place == 0));
        }
    }
    drafts
}

fn effect(evidence: &Evidence, group: &Group, serializer: &str, setting: &Setting) -> Option<Effect> {
    let members = members(evidence, group);
    let with = |name: &str| {
        members
            .iter()
            .copied()
            .find(|c| c.cell.serializer.as_deref() == Some(name) && c.cell.setting == *setting)
    };
    let (ours, base) = (with(serializer)?, with(BASE)?);
    let beside = |phase| ratio(ours.get(phase)?, base.get(phase)?);
    Some(Effect {
        encode: beside(ENCODE)?,
        decode: beside(DECODE)?,
        bytes: stored(ours) / stored(base).max(1.0),
        cells: [ours.id().to_owned(), base.id().to_owned()],
    })
}

/// The setting that is shown in addition to no compression: of those measured with both serializers the smallest on the
/// front, because least is left to save there; otherwise the reference's.
fn compressed<'a>(evidence: &Evidence<'a>, group: &'a Group, serializer: &str) -> Option<&'a Setting> {
    let members = members(evidence, group);
    let measured_with_both = |c: &&&'a Row| {
        members
            .iter()
            .any(|o| o.cell.serializer.as_deref() == Some(serializer) && o.cell.setting == c.cell.setting)
    };
    let bases = || {
        members
            .iter()
            .filter(|c| c.cell.serializer.as_deref() == Some(BASE) && c.cell.setting.codec != IDENTITY)
            .filter(measured_with_both)
    };
    bases()
        .find(|c| c.cell.setting == Setting::at("zstd", 3))
        .or_else(|| bases().find(|c| group.reference() == Some(c.id())))
        .map(|c| &c.cell.setting)
}

/// The range over all contents that have both.
fn over_contents(evidence: &Evidence, groups: &[&Group], serializer: &str, lead: bool) -> Option<Draft> {
    let effects = |setting: &Setting| -> Vec<Effect> {
        groups.iter().filter_map(|g| effect(evidence, g, serializer, setting)).collect()
    };
    let alone = effects(&Setting::bare(IDENTITY));
    if alone.len() < 2 {
        return None;
    }
    let times = |effects: &[Effect], of: fn(&Effect) -> Ratio| effects.iter().map(of).collect::<Vec<Ratio>>();
    let bytes = |effects: &[Effect]| label::shares(&effects.iter().map(|e| e.bytes).collect::<Vec<f64>>());
    let mut text = format!(
        "{serializer} compared with {BASE} on {}: {}, {} and {} of the bytes.",
        units::count(alone.len(), "content", "contents"),
        label::changes(&times(&alone, |e| e.encode), "encode time"),
        label::changes(&times(&alone, |e| e.decode), "decode time"),
        bytes(&alone),
    );
    let mut cells: Vec<String> = alone.iter().flat_map(|e| e.cells.clone()).collect();
    if let Some(setting) = groups.last().and_then(|g| compressed(evidence, g, serializer)) {
        let compressed = effects(setting);
        if compressed.len() > 1 {
            text.push_str(&format!(
                " With {}: {} and {} of the bytes.",
                label::setting(setting),
                label::changes(&times(&compressed, |e| e.encode), "encode time"),
                bytes(&compressed),
            ));
            cells.extend(compressed.iter().flat_map(|e| e.cells.clone()));
        }
    }
    Some(Draft::new(lead, text, cells))
}
