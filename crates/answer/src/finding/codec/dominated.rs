//! Which settings are dominated by which.

use super::*;

pub fn codecs(evidence: &Evidence) -> Vec<Draft> {
    of_largest(evidence, |largest| {
        let Some((reference, peers)) = peers(evidence, largest) else { return Vec::new() };
        let codecs = codecs_of(peers.iter().copied(), reference).into_iter();
        codecs.filter_map(|codec| sentence(evidence, largest, &peers, codec, reference)).collect()
    })
}

fn sentence(
    evidence: &Evidence,
    group: &Group,
    peers: &[&Row],
    codec: &str,
    reference: &Row,
) -> Option<Draft> {
    let own: Vec<&Row> = peers.iter().filter(|p| p.cell.setting.codec == codec).copied().collect();
    let beaten: Vec<(&Row, &Row)> = own.iter().filter_map(|c| Some((*c, strongest(c, peers)?))).collect();
    if beaten.is_empty() {
        return None;
    }
    let losers: Vec<&Row> = beaten.iter().map(|b| b.0).collect();
    let mut winners: Vec<&Row> = Vec::new();
    for (_, winner) in &beaten {
        if !winners.iter().any(|w| w.id() == winner.id()) {
            winners.push(*winner);
        }
    }
    let all = losers.len() == own.len();
    let serializer = with_serializer(reference);
    let subject = match losers.len() {
        1 => label::several(&losers),
        n if all && losers.iter().all(|l| l.cell.setting.level.is_some()) => capitalised(&format!(
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
        place(evidence, group),
        if losers.len() == 1 { "it takes" } else { "each takes" },
    );
    let cells = losers.iter().chain(&winners).map(id_of).collect();
    Some(Draft::new(codec == reference.cell.setting.codec, text, cells))
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn levels_of(candidates: &[&Row]) -> String {
    label::levels(&candidates.iter().filter_map(level_of).collect::<Vec<_>>())
}

/// Of the peers that beat a candidate beyond doubt, the one that does so most clearly.
fn strongest<'a>(candidate: &'a Row, peers: &[&'a Row]) -> Option<&'a Row> {
    let cost = candidate.get(ENCODE)?;
    let beating: Vec<&Row> = peers
        .iter()
        .filter(|p| p.id() != candidate.id() && stored(p) <= stored(candidate))
        .filter(|p| p.get(ENCODE).is_some_and(|c| is_less(c, cost)))
        .copied()
        .collect();
    let point = |row: &Row| [row.value(ENCODE).unwrap_or(f64::NAN), stored(row)];
    let points: Vec<[f64; 2]> = beating.iter().map(|row| point(row)).collect();
    beating.get(dominator(&point(candidate), &points)?).copied()
}
