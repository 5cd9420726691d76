//! The cost of larger values compared with a number, with drivers' own serializing.

use weigh_model::client::ValueKind;
use weigh_model::units;

use crate::finding::client::clients::{Candidate, SPOKEN_OF, candidates, first_leads};
use crate::finding::client::label;
use crate::metric::client::{CLIENT_CPU, STORE_CPU, STORED};
use crate::report::finding::{Draft, Evidence};
use crate::verdict::ratio_if;

/// One sentence for each client and content for which the same client also has a number.
pub fn beside_integers(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut said: Vec<(String, &str)> = Vec::new();
    for large in candidates(evidence).filter(|c| c.client.value != ValueKind::Integer && !c.client.encoded) {
        let key = (label::describe_client(&large), large.row.cell.payload.as_str());
        if said.contains(&key) || drafts.len() >= SPOKEN_OF {
            continue;
        }
        let Some(number) = candidates(evidence).find(|c| is_number_of(c, &large)) else { continue };
        let Some(text) = sentence(evidence, &number, &large) else { continue };
        said.push(key);
        drafts.push(Draft::detail(text, vec![number.id(), large.id()]));
    }
    first_leads(drafts)
}

/// Everything is the same except the value.
fn is_number_of(number: &Candidate, large: &Candidate) -> bool {
    let (a, b) = (number.client, large.client);
    let same = (a.place(), a.mix, a.keys, a.workers, a.rate) == (b.place(), b.mix, b.keys, b.workers, b.rate);
    a.value == ValueKind::Integer && same && number.row.cell.runtime == large.row.cell.runtime
}

fn sentence(evidence: &Evidence, number: &Candidate, large: &Candidate) -> Option<String> {
    let ratio = |metric: &str| ratio_if(large.row.get(metric), number.row.get(metric));
    let client = ratio(CLIENT_CPU)?;
    let bytes = large.row.value(STORED).map(|n| format!(" ({} stored)", units::bytes(n as u64)));
    let store = ratio(STORE_CPU).map(|ratio| format!(" Store: {}.", label::change(&ratio, "CPU time")));
    Some(format!(
        "{}{} instead of an integer ({}, {}): {}.{}",
        label::content(evidence, &large.row.cell.payload),
        bytes.unwrap_or_default(),
        label::describe_client(large),
        label::runtime(&large.row.cell.runtime),
        label::change(&client, "CPU time of PHP"),
        store.unwrap_or_default(),
    ))
}
