//! What larger values cost beside a number, drivers' own serializing included.

use crate::analysis::client::compare::paired;
use crate::analysis::client::findings::{Candidate, Evidence, SPOKEN_OF, label};
use crate::analysis::findings::Draft;
use weigh_model::client::ValueKind;
use weigh_model::units;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut said: Vec<(String, &str)> = Vec::new();
    for large in evidence.all().filter(|c| c.client.value != ValueKind::Integer && !c.client.encoded) {
        let key = (label::place(&large), large.result.cell.payload.as_str());
        if said.contains(&key) || drafts.len() >= SPOKEN_OF {
            continue;
        }
        let Some(number) = evidence.all().find(|c| is_number_of(c, &large)) else { continue };
        let Some(text) = sentence(evidence, &number, &large) else { continue };
        said.push(key);
        drafts.push(Draft { text, cells: vec![number.id(), large.id()], lead: drafts.is_empty() });
    }
    drafts
}

/// The same but for the value.
fn is_number_of(number: &Candidate, large: &Candidate) -> bool {
    let (a, b) = (number.client, large.client);
    let same = (a.place(), a.mix, a.keys, a.workers, a.rate) == (b.place(), b.mix, b.keys, b.workers, b.rate);
    a.value == ValueKind::Integer && same && number.result.cell.runtime == large.result.cell.runtime
}

fn sentence(evidence: &Evidence, number: &Candidate, large: &Candidate) -> Option<String> {
    let seed = evidence.plan.seed;
    let client = paired(large.costs.client.as_ref(), number.costs.client.as_ref(), seed)?;
    let server = paired(large.costs.server.as_ref(), number.costs.server.as_ref(), seed);
    let bytes = large.result.stored_bytes.map_or(String::new(), |n| format!(" ({} stored)", units::bytes(n)));
    let server = server.map_or(String::new(), |ratio| {
        format!(" and {} that of the store", label::ratio(&ratio.relative, ratio.rounds))
    });
    Some(format!(
        "With {}{bytes} in place of an integer, a transaction takes {} the CPU time of PHP{server}: {}, {}, {}.",
        label::content(evidence, &large.result.cell.payload),
        label::ratio(&client.relative, client.rounds),
        label::place(large),
        label::mix(large.client.mix),
        large.result.cell.runtime
    ))
}
