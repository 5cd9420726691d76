//! Which settings beat the reference in both time and bytes.

use weigh_stats::Ratio;

use crate::analysis::estimate::IDENTITY;
use crate::analysis::findings::{Candidate, Draft, Evidence, label};
use crate::analysis::model::Group;
use weigh_model::protocol::Phase;
use weigh_model::units;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (_, groups) in evidence.by_runtime() {
        let Some((largest, others)) = groups.split_last() else { continue };
        let mut codecs = by_codec(beating(evidence, largest));
        codecs.sort_by_key(|settings| std::cmp::Reverse(settings.len()));
        for (place, settings) in codecs.iter().enumerate() {
            drafts.extend(sentence(evidence, largest, others, settings, place == 0));
        }
    }
    drafts
}

/// The settings with the reference's serializer that take less encode CPU time beyond doubt and no more bytes.
fn beating<'a>(evidence: &Evidence<'a>, group: &Group) -> Vec<Candidate<'a>> {
    let Some((reference, peers)) = evidence.peers(group) else { return Vec::new() };
    let Some(base) = evidence.cost(reference, Phase::Encode).filter(|_| reference.codec() != IDENTITY) else {
        return Vec::new();
    };
    peers
        .into_iter()
        .filter(|peer| peer.index != reference.index && peer.bytes() < reference.bytes())
        .filter(|peer| evidence.cost(*peer, Phase::Encode).is_some_and(|cost| cost.clearly_below(&base)))
        .collect()
}

/// Settings of one codec stand together, levels ascending.
fn by_codec(settings: Vec<Candidate>) -> Vec<Vec<Candidate>> {
    let mut codecs: Vec<Vec<Candidate>> = Vec::new();
    for setting in settings {
        match codecs.iter_mut().find(|codec| codec[0].codec() == setting.codec()) {
            Some(codec) => codec.push(setting),
            None => codecs.push(vec![setting]),
        }
    }
    codecs.iter_mut().for_each(|codec| codec.sort_by_key(Candidate::level));
    codecs
}

fn sentence(
    evidence: &Evidence,
    group: &Group,
    others: &[&Group],
    settings: &[Candidate],
    lead: bool,
) -> Option<Draft> {
    let reference = evidence.reference(group)?;
    let base = evidence.cost(reference, Phase::Encode)?;
    let ratios: Vec<Ratio> =
        settings.iter().filter_map(|s| evidence.cost(*s, Phase::Encode)?.ratio_to(&base)).collect();
    let fewer: Vec<f64> = settings.iter().map(|s| 1.0 - s.bytes() / reference.bytes()).collect();
    let one = settings.len() == 1;
    let time = match (one, ratios.as_slice()) {
        (_, []) => "less encode CPU time".to_string(),
        (true, [ratio, ..]) => format!("{} of its encode CPU time", label::ratio(ratio)),
        (false, ratios) => {
            let values: Vec<f64> = ratios.iter().map(|r| r.value).collect();
            format!("{} of its encode CPU time", label::range(&values, units::times))
        }
    };
    let serializer =
        reference.result.cell.serializer.as_ref().map_or(String::new(), |s| format!(" with {s}"));
    let mut text = format!(
        "{} {} {} in both time and bytes on {}{serializer}: {time} and {} fewer bytes.",
        label::several(settings),
        if one { "beats" } else { "beat" },
        label::setting(&reference.result.cell.setting),
        evidence.place(group),
        label::range(&fewer, label::share),
    );
    let mut cells: Vec<String> = settings.iter().map(Candidate::id).collect();
    cells.push(reference.id());
    text.push_str(&elsewhere(evidence, others, settings, reference, &mut cells));
    Some(if lead { Draft::lead(text, cells) } else { Draft::detail(text, cells) })
}

/// Which of the settings beat the same reference on every other payload too.
fn elsewhere(
    evidence: &Evidence,
    others: &[&Group],
    settings: &[Candidate],
    reference: Candidate,
    cells: &mut Vec<String>,
) -> String {
    let comparable: Vec<&&Group> = others
        .iter()
        .filter(|g| {
            let own = evidence.reference(g);
            own.is_some_and(|r| r.result.cell.setting == reference.result.cell.setting)
        })
        .collect();
    if comparable.is_empty() {
        return String::new();
    }
    let wins: Vec<Vec<Candidate>> = comparable.iter().map(|g| beating(evidence, g)).collect();
    let same = |a: &Candidate, b: &Candidate| {
        a.result.cell.setting == b.result.cell.setting && a.result.cell.serializer == b.result.cell.serializer
    };
    let everywhere: Vec<Candidate> = settings
        .iter()
        .filter(|s| wins.iter().all(|wins| wins.iter().any(|w| same(w, s))))
        .copied()
        .collect();
    for win in wins.iter().flatten().filter(|w| everywhere.iter().any(|s| same(s, w))) {
        cells.push(win.id());
    }
    let every = label::every(comparable.len(), "other payload", "other payloads");
    match everywhere.len() {
        0 => {
            let somewhere =
                wins.iter().filter(|wins| wins.iter().any(|w| settings.iter().any(|s| same(s, w)))).count();
            if somewhere == 0 {
                let place = if comparable.len() == 1 { "the" } else { "any" };
                return format!(" Not so on {place} other payload.");
            }
            format!(
                " No one setting of these does so on {every}; on {} of them one does.",
                label::number(somewhere)
            )
        }
        n => {
            let verb = if n == 1 { "does" } else { "do" };
            format!(" {} {verb} so on {every} as well.", label::several(&everywhere))
        }
    }
}
