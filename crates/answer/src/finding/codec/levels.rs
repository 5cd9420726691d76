//! The marginal cost of higher levels.

use super::*;

/// Default levels of libraries: steps from these are mentioned.
const DEFAULTS: [i32; 2] = [6, 3];

pub fn steps(evidence: &Evidence) -> Vec<Draft> {
    of_largest(evidence, |largest| {
        let Some((reference, mut plain)) = peers(evidence, largest) else { return Vec::new() };
        plain.retain(|p| p.cell.setting.options.is_empty());
        let levelled = plain.iter().copied().filter(|p| level_of(p).is_some());
        let of_codec = |codec: &str| {
            let levels = plain.iter().copied().filter(|p| p.cell.setting.codec == codec).collect();
            sentence(evidence, largest, codec, levels, codec == reference.cell.setting.codec)
        };
        codecs_of(levelled, reference).into_iter().filter_map(of_codec).collect()
    })
}

fn sentence(
    evidence: &Evidence,
    group: &Group,
    codec: &str,
    mut levels: Vec<&Row>,
    lead: bool,
) -> Option<Draft> {
    levels.sort_by_key(level_of);
    let (lowest, highest) = (*levels.first()?, *levels.last()?);
    let at = |level: i32| levels.iter().copied().find(|c| c.cell.setting.level == Some(level));
    let middle = DEFAULTS.into_iter().find_map(at).unwrap_or(levels[levels.len() / 2]);
    let mut stops = vec![lowest, middle, highest];
    stops.dedup_by_key(|c| c.id());
    let parts: Vec<String> = stops.windows(2).filter_map(|pair| step(pair[0], pair[1])).collect();
    if parts.is_empty() {
        return None;
    }
    let cells = stops.iter().map(id_of).collect();
    let serializer = with_serializer(lowest);
    let text = format!("{codec}{serializer} on {}, {}.", describe_group(evidence, group), parts.join("; "));
    Some(Draft::new(lead, text, cells))
}

/// `level 9 instead of 6: 85% more encode time (82–88%), 2.1% fewer bytes`.
fn step(from: &Row, to: &Row) -> Option<String> {
    let ratio = ratio(to.get(ENCODE)?, from.get(ENCODE)?)?;
    Some(format!(
        "level {} instead of {}: {}, {}",
        to.cell.setting.level?,
        from.cell.setting.level?,
        label::change(&ratio, "encode time"),
        label::bytes_beside(stored(to), stored(from)),
    ))
}
