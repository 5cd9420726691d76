//! Which setting makes a write and a read quickest, end to end, over each link.

use super::*;
use crate::exhibit::prediction::Advice;
use crate::first::grouped;
use crate::verdict::is_less;

/// Settings named that cannot be told apart from the quickest.
const NAMED: usize = 3;

/// One sentence per link, the one without first.
pub(super) fn over_each_link(evidence: &Evidence) -> Vec<Draft> {
    let Some(calls) = &evidence.report.exhibits.computed_calls else { return Vec::new() };
    let links = grouped(calls.advice.iter().map(|advice| (advice.link.as_deref(), advice)));
    let of_link = |(link, of): (Option<&str>, Vec<&Advice>)| {
        let parts =
            of.into_iter().filter_map(|a| Some((part(evidence, a)?, a.measured.clone()))).take(2 * SPOKEN_OF);
        let (texts, cells): (Vec<String>, Vec<String>) = parts.unzip();
        let place = link.map_or("without a link".to_owned(), |link| format!("over {link}"));
        let text = format!("Quickest {place}, end to end: {}.", texts.join("; "));
        (!texts.is_empty()).then(|| Draft::lead(text, cells))
    };
    links.into_iter().filter_map(of_link).collect()
}

/// `a write of rows-64k with igbinary + lz4 (23.1 ms; igbinary + zstd 3 cannot be told apart)`.
fn part(evidence: &Evidence, advice: &Advice) -> Option<String> {
    let best = candidate(evidence, &advice.measured)?;
    let cost = advice.operation.mean(best.row)?;
    let is_alike = |other: &Candidate| {
        other.row.id() != best.row.id()
            && other.client.encoded
            && other.row.cell.group() == best.row.cell.group()
            && advice.operation.mean(other.row).is_some_and(|other| !is_less(cost, other))
    };
    let alike = candidates(evidence).filter(is_alike);
    let alike: Vec<String> = alike.map(|other| label::setting(&other.row.cell)).collect();
    let alike = match alike.len() {
        0 => String::new(),
        n if n > NAMED => format!("; {} cannot be told apart", units::count(n, "other", "others")),
        _ => format!("; {} cannot be told apart", units::list(&alike)),
    };
    Some(format!(
        "{} of {} with {} ({}{alike})",
        advice.operation.words(),
        label::content(evidence, &best.row.cell.payload),
        label::setting(&best.row.cell),
        units::ns(cost.value)
    ))
}
