//! The marginal cost of higher levels.

use crate::analysis::estimate::IDENTITY;
use crate::analysis::findings::{Candidate, Draft, Evidence, label};
use crate::analysis::model::Group;
use weigh_model::protocol::Phase;
use weigh_model::units;

/// Levels at which libraries stand when nothing is said: where a step is worth telling.
const DEFAULTS: [i32; 2] = [6, 3];

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (_, groups) in evidence.by_runtime() {
        let Some(largest) = groups.last() else { continue };
        let Some((reference, peers)) = evidence.peers(largest) else { continue };
        let mut codecs: Vec<&str> = Vec::new();
        for peer in peers.iter().filter(|p| p.codec() != IDENTITY && p.result.cell.setting.options.is_empty())
        {
            if peer.level().is_some() && !codecs.contains(&peer.codec()) {
                codecs.push(peer.codec());
            }
        }
        codecs.sort_by_key(|codec| *codec != reference.codec());
        for codec in codecs {
            let plain = |p: &&Candidate| p.codec() == codec && p.result.cell.setting.options.is_empty();
            let levels: Vec<Candidate> = peers.iter().filter(plain).copied().collect();
            drafts.extend(sentence(evidence, largest, codec, levels, codec == reference.codec()));
        }
    }
    drafts
}

fn sentence(
    evidence: &Evidence,
    group: &Group,
    codec: &str,
    mut levels: Vec<Candidate>,
    lead: bool,
) -> Option<Draft> {
    levels.sort_by_key(Candidate::level);
    let (lowest, highest) = (*levels.first()?, *levels.last()?);
    let at = |level: i32| levels.iter().copied().find(|c| c.level() == Some(level));
    let middle = DEFAULTS.into_iter().find_map(at).unwrap_or(levels[levels.len() / 2]);
    let mut stops = vec![lowest, middle, highest];
    stops.dedup_by_key(|c| c.index);
    let parts: Vec<String> = stops.windows(2).filter_map(|pair| step(evidence, pair[0], pair[1])).collect();
    if parts.is_empty() {
        return None;
    }
    let cells = stops.iter().map(Candidate::id).collect();
    let serializer = lowest.result.cell.serializer.as_ref().map_or(String::new(), |s| format!(" with {s}"));
    let text = format!("{codec} on {}{serializer}, {}.", evidence.place(group), parts.join("; "));
    Some(if lead { Draft::lead(text, cells) } else { Draft::detail(text, cells) })
}

/// `from level 6 to 9: 1.85× [1.82, 1.88] the encode CPU time for 2.1% fewer bytes`.
fn step(evidence: &Evidence, from: Candidate, to: Candidate) -> Option<String> {
    let ratio = evidence.cost(to, Phase::Encode)?.ratio_to(&evidence.cost(from, Phase::Encode)?)?;
    Some(format!(
        "from level {} to {}: {} the encode CPU time for {}",
        from.level()?,
        to.level()?,
        units::times_interval(ratio.value, ratio.low, ratio.high),
        label::bytes_beside(to.bytes(), from.bytes()),
    ))
}
