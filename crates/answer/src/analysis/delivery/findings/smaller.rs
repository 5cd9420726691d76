//! Bytes: files encoded before at the highest level, beside what the server makes for each response.

use crate::analysis::delivery::findings::{Evidence, crossing, label};
use crate::analysis::delivery::model::Crossover;
use crate::analysis::findings::Draft;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = Vec::new();
    for usual in crossing::chosen(evidence) {
        let Some((text, cells)) = sentence(evidence, usual) else { continue };
        drafts.push(Draft { text, cells, lead: drafts.is_empty() });
    }
    drafts
}

/// Each coding that the server has encoded before, beside its usual way on the fly, over all sizes.
fn sentence(evidence: &Evidence, usual: &Crossover) -> Option<(String, Vec<String>)> {
    let fly = usual.on_the_fly.split_once('/')?.1;
    let stand = |c: &&Crossover| {
        let stand = |c: &Crossover| (c.server.clone(), c.transport, c.connections, c.link.clone());
        stand(c) == stand(usual)
    };
    let mut cells = Vec::new();
    let mut parts: Vec<(String, Vec<f64>)> = Vec::new();
    for other in evidence.crossovers.iter().filter(stand) {
        if parts.iter().any(|(coding, _)| *coding == other.coding) {
            continue;
        }
        let shares = other.sizes.iter().filter_map(|size| {
            let base = usual.sizes.iter().find(|s| s.payload == size.payload)?;
            let (ours, theirs) = (evidence.cell(&size.pre_encoded)?, evidence.cell(&base.on_the_fly)?);
            cells.extend([ours.id(), theirs.id()]);
            Some(ours.bytes() / theirs.bytes().max(1.0) - 1.0)
        });
        parts.push((other.coding.clone(), shares.collect()));
    }
    parts.retain(|(_, shares)| !shares.is_empty());
    let words: Vec<String> = parts
        .iter()
        .map(|(coding, shares)| {
            format!("{coding} {}", label::range(shares, |share| format!("{:+.1}%", share * 100.0)))
        })
        .collect();
    let text = format!(
        "Bytes of files encoded before, beside {fly} on the fly on {}: {}.",
        crossing::stand(usual),
        words.join(", ")
    );
    (!words.is_empty()).then_some((text, cells))
}
