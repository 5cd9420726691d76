//! Methods that break rules of negotiation: a cache, a browser or a resumed download may then get an unusable response.

use weigh_model::units;

use crate::exhibit::negotiation::{Quirk, QuirkByMethod, places, quirks_by_method};
use crate::finding::delivery::sent::{Sentence, first_leads};
use crate::report::exhibit::negotiation::NegotiationResult;
use crate::report::finding::{Draft, Evidence};

/// Names of a list that are written out.
const NAMES: usize = 6;

/// How many methods follow the rules, then a sentence for each broken rule; remarks on allowed behaviour are only in
/// the table.
pub fn rules(evidence: &Evidence) -> Vec<Draft> {
    let Some(asked) = &evidence.report.exhibits.negotiations else { return Vec::new() };
    let rule = |QuirkByMethod { quirk, ways, seen_in }: QuirkByMethod| {
        let cells = ways.iter().map(|one| one.cell.clone()).collect();
        (format!("{}: {} ({seen_in}).", places(ways.into_iter()), quirk.words()), cells)
    };
    first_leads(
        std::iter::once(sound(&asked.0))
            .chain(quirks_by_method(&asked.0, Quirk::is_wrong, NAMES).into_iter().map(rule)),
    )
}

fn sound(asked: &[NegotiationResult]) -> Sentence {
    let sound: Vec<&NegotiationResult> = asked.iter().filter(|one| one.wrong().next().is_none()).collect();
    let requests: usize = asked.iter().map(|one| one.exchanges.len()).sum();
    let places = match sound.is_empty() {
        true => String::new(),
        false => format!(": {}", places(sound.iter().copied())),
    };
    let text = format!(
        "Negotiation: {} of {} follow RFC 9110 in all {}{places}.",
        sound.len(),
        units::count(asked.len(), "method", "methods"),
        units::count(requests, "request", "requests")
    );
    (text, sound.iter().map(|one| one.cell.clone()).collect())
}
