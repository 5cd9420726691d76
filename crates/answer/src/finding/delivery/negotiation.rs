//! Which ways break rules of negotiation: a cache, a browser or a resumed download may then get what it cannot use.

use std::collections::BTreeMap;

use super::*;
use crate::exhibit::negotiation::{NegotiationResult, Quirk, places};

/// Names of a list that are written out.
const NAMES: usize = 6;

/// How many ways are sound, then a sentence for each rule that is broken; what is merely worth knowing stands in the table.
pub fn rules(evidence: &Evidence) -> Vec<Draft> {
    let Some(asked) = &evidence.report.exhibits.negotiations else { return Vec::new() };
    let mut broken: BTreeMap<Quirk, Vec<(&NegotiationResult, &[String])>> = BTreeMap::new();
    for one in &asked.0 {
        for remark in one.wrong() {
            broken.entry(remark.quirk).or_default().push((one, &remark.seen_in));
        }
    }
    let mut drafts = vec![sound(&asked.0)];
    drafts.extend(broken.into_iter().map(|(quirk, seen)| rule(quirk, &seen)));
    drafts
}

fn sound(asked: &[NegotiationResult]) -> Draft {
    let sound: Vec<&NegotiationResult> = asked.iter().filter(|one| one.wrong().next().is_none()).collect();
    let of = units::count(asked.len(), "way", "ways");
    let requests: usize = asked.iter().map(|one| one.exchanges.len()).sum();
    let requests = units::count(requests, "request", "requests");
    let text = match sound.len() {
        0 => format!("None of the {of} asked for variants with {requests} keeps every rule of negotiation."),
        n => {
            let keep = if n == 1 { "keeps" } else { "keep" };
            let places = places(sound.iter().copied());
            format!(
                "{n} of the {of} asked for variants with {requests} {keep} every rule of negotiation: {places}."
            )
        }
    };
    Draft::lead(text, sound.iter().map(|one| one.cell.clone()).collect())
}

fn rule(quirk: Quirk, seen: &[(&NegotiationResult, &[String])]) -> Draft {
    let ways: Vec<&NegotiationResult> = seen.iter().map(|(one, _)| *one).collect();
    let mut all: Vec<&str> = Vec::new();
    for name in seen.iter().flat_map(|(_, seen_in)| seen_in.iter()) {
        if !all.contains(&name.as_str()) {
            all.push(name);
        }
    }
    let more = all.len().saturating_sub(NAMES);
    let mut names: Vec<String> = all.iter().take(NAMES).map(|name| format!("“{name}”")).collect();
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let text = format!("{}: {} ({}).", places(ways.iter().copied()), quirk.words(), units::list(&names));
    Draft::detail(text, ways.iter().map(|one| one.cell.clone()).collect())
}
