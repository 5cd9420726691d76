//! Which settings are dominated by which.

use weigh_stats::dominators;

use crate::analysis::estimate::IDENTITY;
use crate::analysis::findings::{Candidate, Draft, Evidence, label};
use crate::analysis::front::point;
use crate::analysis::model::Group;
use weigh_model::protocol::Phase;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (_, groups) in evidence.by_runtime() {
        let Some(largest) = groups.last() else { continue };
        let Some((reference, peers)) = evidence.peers(largest) else { continue };
        let mut codecs: Vec<&str> = Vec::new();
        for peer in &peers {
            if !codecs.contains(&peer.codec()) && peer.codec() != IDENTITY {
                codecs.push(peer.codec());
            }
        }
        // The codec in use today first, then as planned.
        codecs.sort_by_key(|codec| *codec != reference.codec());
        for codec in codecs {
            drafts.extend(sentence(evidence, largest, &peers, codec, reference));
        }
    }
    drafts
}

fn sentence(
    evidence: &Evidence,
    group: &Group,
    peers: &[Candidate],
    codec: &str,
    reference: Candidate,
) -> Option<Draft> {
    let own: Vec<Candidate> = peers.iter().filter(|p| p.codec() == codec).copied().collect();
    let beaten: Vec<(Candidate, Candidate)> =
        own.iter().filter_map(|c| Some((*c, strongest(evidence, *c, peers)?))).collect();
    if beaten.is_empty() {
        return None;
    }
    let losers: Vec<Candidate> = beaten.iter().map(|b| b.0).collect();
    let mut winners: Vec<Candidate> = Vec::new();
    for (_, winner) in &beaten {
        if !winners.iter().any(|w| w.index == winner.index) {
            winners.push(*winner);
        }
    }
    let all = losers.len() == own.len();
    let serializer =
        reference.result.cell.serializer.as_ref().map_or(String::new(), |s| format!(" with {s}"));
    let subject = match losers.len() {
        1 => label::several(&losers),
        n if all && losers.iter().all(|l| l.level().is_some()) => capitalised(&format!(
            "{} of {codec} measured ({})",
            label::every(n, "level", "levels"),
            levels_of(&losers)
        )),
        n if all => capitalised(&format!("{} of {codec} measured", label::every(n, "setting", "settings"))),
        _ => label::several(&losers),
    };
    let text = format!(
        "{subject} {} dominated by {} on {}{serializer}: {} more encode CPU time, beyond doubt, and no fewer bytes.",
        if losers.len() == 1 { "is" } else { "are" },
        label::several(&winners),
        evidence.place(group),
        if losers.len() == 1 { "it takes" } else { "each takes" },
    );
    let cells = losers.iter().chain(&winners).map(Candidate::id).collect();
    Some(if codec == reference.codec() { Draft::lead(text, cells) } else { Draft::detail(text, cells) })
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn levels_of(candidates: &[Candidate]) -> String {
    label::levels(&candidates.iter().filter_map(Candidate::level).collect::<Vec<_>>())
}

/// Of the peers that beat a candidate beyond doubt, the one that does so most clearly.
fn strongest<'a>(
    evidence: &Evidence<'a>,
    candidate: Candidate<'a>,
    peers: &[Candidate<'a>],
) -> Option<Candidate<'a>> {
    let cost = evidence.cost(candidate, Phase::Encode)?;
    let beating: Vec<Candidate> = peers
        .iter()
        .filter(|p| p.index != candidate.index && p.bytes() <= candidate.bytes())
        .filter(|p| evidence.cost(**p, Phase::Encode).is_some_and(|c| c.clearly_below(&cost)))
        .copied()
        .collect();
    let points: Vec<[f64; 2]> = [candidate].iter().chain(&beating).map(|c| point(c.result)).collect();
    let at = dominators(&points).first().copied().flatten()?;
    beating.get(at.checked_sub(1)?).copied()
}
