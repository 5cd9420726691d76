//! Which setting makes a write and a read quickest, end to end, over each link.

use crate::analysis::client::findings::{Candidate, Evidence, SPOKEN_OF, label};
use crate::analysis::client::model::{Advice, Operation};
use crate::analysis::cost::Cost;
use crate::analysis::findings::Draft;
use weigh_model::units;

/// Settings named that cannot be told apart from the quickest.
const NAMED: usize = 3;

/// One sentence a link, the one without first.
pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let advice = &evidence.computed.advice;
    let mut links: Vec<Option<&str>> = Vec::new();
    for link in advice.iter().map(|advice| advice.link.as_deref()) {
        if !links.contains(&link) {
            links.push(link);
        }
    }
    let of_link = |link: Option<&str>| {
        let of = advice.iter().filter(|advice| advice.link.as_deref() == link);
        let parts: Vec<(String, String)> =
            of.filter_map(|a| Some((part(evidence, a)?, a.measured.clone()))).take(2 * SPOKEN_OF).collect();
        let (texts, cells): (Vec<String>, Vec<String>) = parts.into_iter().unzip();
        let place = link.map_or("without a link".to_owned(), |link| format!("over {link}"));
        let text = format!("Quickest {place}, end to end: {}.", texts.join("; "));
        (!texts.is_empty()).then(|| Draft::lead(text, cells))
    };
    links.into_iter().filter_map(of_link).collect()
}

/// `a write of rows-64k with igbinary + lz4 (23.1 ms; igbinary + zstd 3 cannot be told apart)`.
fn part(evidence: &Evidence, advice: &Advice) -> Option<String> {
    let best = evidence.cell(&advice.measured)?;
    let cost = cost(&best, advice.operation)?;
    let is_alike = |other: &Candidate| {
        other.id() != best.id()
            && other.client.encoded
            && other.result.cell.group() == best.result.cell.group()
            && self::cost(other, advice.operation).is_some_and(|other| !cost.clearly_below(other))
    };
    let alike: Vec<String> =
        evidence.all().filter(is_alike).map(|other| label::setting(&other.result.cell)).collect();
    let alike = match alike.len() {
        0 => String::new(),
        n if n > NAMED => format!("; {} cannot be told apart", units::count(n, "other", "others")),
        _ => format!("; {} cannot be told apart", units::list(&alike)),
    };
    Some(format!(
        "{} of {} with {} ({}{alike})",
        advice.operation.words(),
        label::content(evidence, &best.result.cell.payload),
        label::setting(&best.result.cell),
        units::ns(cost.time())
    ))
}

fn cost<'a>(of: &Candidate<'a>, operation: Operation) -> Option<&'a Cost> {
    match operation {
        Operation::Put => of.costs.put_mean.as_ref(),
        Operation::Get => of.costs.get_mean.as_ref(),
    }
}
