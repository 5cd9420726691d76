//! Which ways beat gzip in both CPU time and bytes.

use crate::analysis::delivery::findings::{Candidate, Evidence, SPOKEN_OF, label, on_the_fly};
use crate::analysis::delivery::model::DeliveryGroup;
use crate::analysis::findings::Draft;
use weigh_model::cell::Subject;
use weigh_model::units;

/// The most telling group.
pub(super) fn leads(evidence: &Evidence) -> Vec<Draft> {
    let groups = with_rivals(evidence);
    let Some((first, others)) = groups.split_first() else { return Vec::new() };
    sentences(evidence, first, others).into_iter().map(|(text, cells)| Draft::lead(text, cells)).collect()
}

/// A few of the others.
pub(super) fn details(evidence: &Evidence) -> Vec<Draft> {
    let groups = with_rivals(evidence);
    let others = groups.iter().skip(1).take(SPOKEN_OF);
    others
        .flat_map(|group| sentences(evidence, group, &[]))
        .map(|(text, cells)| Draft::detail(text, cells))
        .collect()
}

/// Groups with a gzip and something that could beat it.
fn with_rivals<'a>(evidence: &Evidence<'a>) -> Vec<&'a DeliveryGroup> {
    let mut groups = evidence.leading(Subject::Page);
    groups.retain(|group| families(evidence, group).is_some_and(|families| !families.is_empty()));
    groups
}

/// Ways of one name by one hand: those that beat gzip, and how many there are.
struct Family<'a> {
    all: Vec<Candidate<'a>>,
    beating: Vec<Candidate<'a>>,
}

/// What competes with the group's gzip, name by name; those that beat it most often first.
fn families<'a>(evidence: &Evidence<'a>, group: &DeliveryGroup) -> Option<Vec<Family<'a>>> {
    let gzip = evidence.gzip(group)?;
    let base = gzip.costs.cpu.as_ref()?;
    let mut families: Vec<Family> = Vec::new();
    for way in on_the_fly(evidence.members(group), None) {
        if way.setting().codec == gzip.setting().codec && way.delivery.by == gzip.delivery.by {
            continue;
        }
        let is_same = |f: &&mut Family| {
            f.all[0].setting().codec == way.setting().codec && f.all[0].delivery.by == way.delivery.by
        };
        let beats =
            way.bytes() < gzip.bytes() && way.costs.cpu.as_ref().is_some_and(|cost| cost.clearly_below(base));
        let beating = if beats { vec![way] } else { Vec::new() };
        match families.iter_mut().find(is_same) {
            Some(family) => {
                family.all.push(way);
                family.beating.extend(beating);
            }
            None => families.push(Family { all: vec![way], beating }),
        }
    }
    families.iter_mut().for_each(|f| f.beating.sort_by_key(Candidate::level));
    families.sort_by_key(|f| usize::MAX - f.beating.len());
    Some(families)
}

fn sentences(
    evidence: &Evidence,
    group: &DeliveryGroup,
    others: &[&DeliveryGroup],
) -> Vec<(String, Vec<String>)> {
    let Some((gzip, families)) = evidence.gzip(group).zip(families(evidence, group)) else {
        return Vec::new();
    };
    let (winners, losers): (Vec<_>, Vec<_>) = families.into_iter().partition(|f| !f.beating.is_empty());
    let place = label::place(evidence, group);
    let mut found: Vec<(String, Vec<String>)> = winners
        .iter()
        .map(|family| {
            let text =
                format!("{}{}", of_family(&gzip, family, &place), elsewhere(evidence, family.all[0], others));
            (text, family.beating.iter().chain([&gzip]).map(Candidate::id).collect())
        })
        .collect();
    // Other levels of gzip are no news.
    let mut losers = losers;
    losers.retain(|family| family.all[0].result.coding != gzip.result.coding);
    if !losers.is_empty() {
        let names: Vec<String> = losers.iter().map(|family| label::levels(&family.all)).collect();
        let base = label::way(&gzip);
        let text = match losers.as_slice() {
            [Family { all, .. }] if all.len() == 1 => {
                format!("{} does not beat {base} in both CPU time and bytes on {place}.", names[0])
            }
            _ => {
                format!("Of {} none beats {base} in both CPU time and bytes on {place}.", units::list(&names))
            }
        };
        found.push((text, losers.iter().flat_map(|f| &f.all).chain([&gzip]).map(Candidate::id).collect()));
    }
    found
}

fn of_family(gzip: &Candidate, family: &Family, place: &str) -> String {
    let base = gzip.costs.cpu.as_ref();
    let ratios: Vec<_> =
        family.beating.iter().filter_map(|way| way.costs.cpu.as_ref()?.ratio_to(base?)).collect();
    let time = match ratios.as_slice() {
        [] => "less CPU time".to_string(),
        [one] => format!("{} of its CPU time", label::ratio(one)),
        several => {
            let values: Vec<f64> = several.iter().map(|r| r.value).collect();
            format!("{} of its CPU time", label::range(&values, units::times))
        }
    };
    let fewer: Vec<f64> = family.beating.iter().map(|way| 1.0 - way.bytes() / gzip.bytes()).collect();
    let verb = if family.beating.len() == 1 { "beats" } else { "beat" };
    format!(
        "{} {verb} {} in both CPU time and bytes on {place}: {time} and {} fewer bytes.",
        label::levels(&family.beating),
        label::way(gzip),
        label::range(&fewer, label::share)
    )
}

/// In how many of the other groups a way of the same name does so too.
fn elsewhere(evidence: &Evidence, of: Candidate, others: &[&DeliveryGroup]) -> String {
    let verdicts: Vec<bool> = others
        .iter()
        .filter_map(|group| {
            let families = families(evidence, group)?;
            let same = families.into_iter().find(|f| {
                f.all[0].setting().codec == of.setting().codec && f.all[0].delivery.by == of.delivery.by
            })?;
            Some(!same.beating.is_empty())
        })
        .collect();
    if verdicts.is_empty() {
        return String::new();
    }
    let wins = verdicts.iter().filter(|win| **win).count();
    match (wins, verdicts.len()) {
        (0, 1) => " No level of it does so in the other group.".to_string(),
        (0, all) => format!(" No level of it does so in the {all} other groups."),
        (1, 1) => " Some level of it does so in the other group.".to_string(),
        (wins, all) if wins == all => format!(" Some level of it does so in all {all} other groups."),
        (wins, all) => {
            format!(
                " Some level of it does so in {wins} of {}.",
                units::count(all, "other group", "other groups")
            )
        }
    }
}
