//! The settings that are better than the reference in both time and bytes.

use super::*;

pub fn settings(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (_, groups) in by_runtime(evidence) {
        let Some((largest, others)) = groups.split_last() else { continue };
        let mut codecs = by_codec(beating(evidence, largest));
        codecs.sort_by_key(|settings| std::cmp::Reverse(settings.len()));
        for (place, settings) in codecs.iter().enumerate() {
            drafts.extend(sentence(evidence, largest, others, settings, place == 0));
        }
    }
    drafts
}

/// The settings with the reference's serializer that take significantly less encode CPU time and no more bytes.
fn beating<'a>(evidence: &Evidence<'a>, group: &'a Group) -> Vec<&'a Row> {
    let Some((reference, peers)) = peers(evidence, group) else { return Vec::new() };
    let Some(base) = reference.get(ENCODE).filter(|_| reference.cell.setting.codec != IDENTITY) else {
        return Vec::new();
    };
    peers
        .into_iter()
        .filter(|peer| peer.id() != reference.id() && stored(peer) < stored(reference))
        .filter(|peer| peer.get(ENCODE).is_some_and(|cost| is_less(cost, base)))
        .collect()
}

/// Settings of one codec are grouped, levels ascending.
fn by_codec(settings: Vec<&Row>) -> Vec<Vec<&Row>> {
    let of_codec = grouped(settings.into_iter().map(|row| (row.cell.setting.codec.as_str(), row)));
    let mut codecs: Vec<Vec<&Row>> = of_codec.into_iter().map(|(_, rows)| rows).collect();
    codecs.iter_mut().for_each(|codec| codec.sort_by_key(level_of));
    codecs
}

fn sentence(
    evidence: &Evidence,
    group: &Group,
    others: &[&Group],
    settings: &[&Row],
    lead: bool,
) -> Option<Draft> {
    let reference = reference_of(evidence, group)?;
    let base = reference.get(ENCODE)?;
    let ratios: Vec<Ratio> = settings.iter().filter_map(|s| ratio(s.get(ENCODE)?, base)).collect();
    let fewer: Vec<f64> = settings.iter().map(|s| 1.0 - stored(s) / stored(reference)).collect();
    let time = label::changes(&ratios, "encode time");
    let mut text = format!(
        "{}: {}{} {} {time} and {} fewer bytes than {}.",
        describe_group(evidence, group),
        label::several(settings),
        with_serializer(reference),
        if settings.len() == 1 { "needs" } else { "need" },
        label::shares(&fewer),
        label::setting(&reference.cell.setting),
    );
    let mut cells: Vec<String> = settings.iter().map(id_of).collect();
    cells.push(reference.id().to_owned());
    text.push_str(&elsewhere(evidence, others, settings, reference, &mut cells));
    Some(Draft::new(lead, text, cells))
}

/// The settings that are also better than the same reference on every other payload.
fn elsewhere(
    evidence: &Evidence,
    others: &[&Group],
    settings: &[&Row],
    reference: &Row,
    cells: &mut Vec<String>,
) -> String {
    let comparable: Vec<&&Group> = others
        .iter()
        .filter(|g| {
            let own = reference_of(evidence, g);
            own.is_some_and(|r| r.cell.setting == reference.cell.setting)
        })
        .collect();
    if comparable.is_empty() {
        return String::new();
    }
    let wins: Vec<Vec<&Row>> = comparable.iter().map(|g| beating(evidence, g)).collect();
    let same =
        |a: &&Row, b: &&Row| a.cell.setting == b.cell.setting && a.cell.serializer == b.cell.serializer;
    let everywhere: Vec<&Row> = settings
        .iter()
        .filter(|s| wins.iter().all(|wins| wins.iter().any(|w| same(w, s))))
        .copied()
        .collect();
    for win in wins.iter().flatten().filter(|w| everywhere.iter().any(|s| same(s, w))) {
        cells.push(win.id().to_owned());
    }
    let others = units::count(comparable.len(), "other content", "other contents");
    match everywhere.len() {
        0 => {
            let is_one = |wins: &&Vec<&Row>| wins.iter().any(|w| settings.iter().any(|s| same(w, s)));
            let some = wins.iter().filter(is_one).count();
            let number = if some == 0 { "none".to_owned() } else { some.to_string() };
            format!(" On {number} of {others} one of them does so too.")
        }
        n => {
            let verb = if n == 1 { "does" } else { "do" };
            format!(" {} {verb} so on {others} too.", label::several(&everywhere))
        }
    }
}
