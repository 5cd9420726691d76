//! The marginal cost of higher levels.

use super::*;

/// Levels at which libraries stand when nothing is said: where a step is worth telling.
const DEFAULTS: [i32; 2] = [6, 3];

pub fn steps(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (_, groups) in by_runtime(evidence) {
        let Some(largest) = groups.last() else { continue };
        let Some((reference, peers)) = peers(evidence, largest) else { continue };
        let mut codecs: Vec<&str> = Vec::new();
        for peer in peers
            .iter()
            .filter(|p| p.cell.setting.codec.as_str() != IDENTITY && p.cell.setting.options.is_empty())
        {
            if peer.cell.setting.level.is_some() && !codecs.contains(&peer.cell.setting.codec.as_str()) {
                codecs.push(peer.cell.setting.codec.as_str());
            }
        }
        codecs.sort_by_key(|codec| *codec != reference.cell.setting.codec.as_str());
        for codec in codecs {
            let plain =
                |p: &&&Row| p.cell.setting.codec.as_str() == codec && p.cell.setting.options.is_empty();
            let levels: Vec<&Row> = peers.iter().filter(plain).copied().collect();
            drafts.extend(sentence(
                evidence,
                largest,
                codec,
                levels,
                codec == reference.cell.setting.codec.as_str(),
            ));
        }
    }
    drafts
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
    let serializer = lowest.cell.serializer.as_ref().map_or(String::new(), |s| format!(" with {s}"));
    let text = format!("{codec} on {}{serializer}, {}.", place(evidence, group), parts.join("; "));
    Some(Draft::new(lead, text, cells))
}

/// `from level 6 to 9: 1.85× [1.82, 1.88] the encode CPU time for 2.1% fewer bytes`.
fn step(from: &Row, to: &Row) -> Option<String> {
    let ratio = ratio(to.get(ENCODE)?, from.get(ENCODE)?)?;
    Some(format!(
        "from level {} to {}: {} the encode CPU time for {}",
        from.cell.setting.level?,
        to.cell.setting.level?,
        units::times_interval(ratio.value, ratio.low, ratio.high),
        label::bytes_beside(stored(to), stored(from)),
    ))
}
