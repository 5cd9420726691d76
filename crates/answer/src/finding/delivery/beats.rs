//! The methods that are better than gzip in both CPU time and bytes.

use weigh_model::cell::Subject;
use weigh_model::units;

use crate::finding::delivery::label;
use crate::finding::delivery::sent::{
    OwnPage, SPOKEN_OF, Sent, Sentence, details, leading, leads, marked, members, on_the_fly,
};
use crate::group::Group;
use crate::metric::delivery::CPU;
use crate::report::finding::{Draft, Evidence};
use crate::verdict::{Ratio, is_less};

/// Methods that a sentence names.
const NAMED: usize = 3;

/// The most telling group, then a few of the others.
pub fn gzip(evidence: &Evidence) -> Vec<Draft> {
    let groups = with_rivals(evidence);
    let Some((first, others)) = groups.split_first() else { return Vec::new() };
    let mut drafts = leads(sentences(evidence, first, others));
    drafts.extend(details(others.iter().take(SPOKEN_OF).flat_map(|group| sentences(evidence, group, &[]))));
    drafts
}

/// Groups with a gzip and a method that could be better.
fn with_rivals<'a>(evidence: &Evidence<'a>) -> Vec<&'a Group> {
    let mut groups = leading(evidence, Subject::PAGE);
    groups.retain(|group| families(evidence, group).is_some_and(|families| !families.is_empty()));
    groups
}

/// Methods of one name by one party: those that are better than gzip, and their number.
struct Family<'a> {
    all: Vec<Sent<'a>>,
    beating: Vec<Sent<'a>>,
}

impl Family<'_> {
    fn is_of(&self, way: &Sent) -> bool {
        self.all[0].setting().codec == way.setting().codec && self.all[0].delivery.by == way.delivery.by
    }
}

/// The methods that compete with the group's gzip, by name; those that are better most often first.
fn families<'a>(evidence: &Evidence<'a>, group: &'a Group) -> Option<Vec<Family<'a>>> {
    let gzip = marked(evidence, group, "gzip")?;
    let base = gzip.cpu()?;
    let mut families: Vec<Family> = Vec::new();
    for way in on_the_fly(members(evidence, group), None) {
        if way.setting().codec == gzip.setting().codec && way.delivery.by == gzip.delivery.by {
            continue;
        }
        let beats = way.bytes() < gzip.bytes() && way.cpu().is_some_and(|cost| is_less(cost, base));
        let beating = if beats { vec![way] } else { Vec::new() };
        match families.iter_mut().find(|family| family.is_of(&way)) {
            Some(family) => {
                family.all.push(way);
                family.beating.extend(beating);
            }
            None => families.push(Family { all: vec![way], beating }),
        }
    }
    families.iter_mut().for_each(|f| f.beating.sort_by_key(Sent::level));
    families.sort_by_key(|f| usize::MAX - f.beating.len());
    Some(families)
}

fn sentences<'a>(evidence: &Evidence<'a>, group: &'a Group, others: &[&'a Group]) -> Vec<Sentence> {
    let Some((gzip, families)) = marked(evidence, group, "gzip").zip(families(evidence, group)) else {
        return Vec::new();
    };
    let (winners, mut losers): (Vec<_>, Vec<_>) = families.into_iter().partition(|f| !f.beating.is_empty());
    let place = label::describe_group(evidence, group);
    let page = OwnPage::of(evidence);
    let win = |family: &Family| {
        let elsewhere = elsewhere(evidence, family.all[0], others);
        let cells = family.beating.iter().chain([&gzip]).map(Sent::own_id);
        let cells = cells.chain(page.iter().map(|page| page.id.clone())).collect();
        (format!("{}{elsewhere}", of_family(&gzip, family, &place, page.as_ref())), cells)
    };
    let mut found: Vec<Sentence> = winners.iter().map(win).collect();
    // Other levels of gzip are left out.
    losers.retain(|family| family.all[0].coding() != gzip.coding());
    if !losers.is_empty() {
        let names: Vec<String> = losers.iter().map(|family| label::levels(&family.all)).collect();
        let verb =
            if losers.iter().map(|family| family.all.len()).sum::<usize>() == 1 { "does" } else { "do" };
        let text = format!(
            "{place}: {} {verb} not beat {} in both CPU time and bytes.",
            label::some(&names, NAMED),
            label::name(&gzip)
        );
        found.push((text, losers.iter().flat_map(|f| &f.all).chain([&gzip]).map(Sent::own_id).collect()));
    }
    found
}

fn of_family(gzip: &Sent, family: &Family, place: &str, page: Option<&OwnPage>) -> String {
    let ratios: Vec<Ratio> = family.beating.iter().filter_map(|way| way.ratio_to(gzip, CPU)).collect();
    let less: Vec<f64> = family.beating.iter().map(|way| gzip.cpu_or_0() - way.cpu_or_0()).collect();
    let time = label::changes(&ratios, "CPU");
    let fewer: Vec<f64> = family.beating.iter().map(|way| 1.0 - way.bytes() / gzip.bytes()).collect();
    format!(
        "{place}: {} {} {time} and {} fewer bytes than {}.{}",
        label::levels(&family.beating),
        if family.beating.len() == 1 { "needs" } else { "need" },
        label::shares(&fewer),
        label::name(gzip),
        page.map_or(String::new(), |page| page.share(&less))
    )
}

/// The number of other groups in which a method of the same name is also better than gzip.
fn elsewhere<'a>(evidence: &Evidence<'a>, of: Sent, others: &[&'a Group]) -> String {
    let verdict = |group: &&'a Group| {
        let same = families(evidence, group)?.into_iter().find(|family| family.is_of(&of))?;
        Some(!same.beating.is_empty())
    };
    let verdicts: Vec<bool> = others.iter().filter_map(verdict).collect();
    let wins = verdicts.iter().filter(|win| **win).count();
    match verdicts.len() {
        0 => String::new(),
        all => format!(
            " Some level of it beats gzip in {wins} of {} too.",
            units::count(all, "other comparison", "other comparisons")
        ),
    }
}
