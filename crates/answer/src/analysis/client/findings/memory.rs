//! New keys without end: what PHP keeps, and what a key takes in the store.

use crate::analysis::client::findings::{Candidate, Evidence, label};
use crate::analysis::findings::Draft;
use weigh_model::client::Keys;
use weigh_model::units;

/// What PHP's memory may grow by over a block without being worth a word, in bytes.
const STILL: i64 = 65_536;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let cells = evidence.all().filter(|c| c.client.keys == Keys::New);
    let sentences = cells.filter_map(|new| Some((sentence(evidence, &new)?, new.id())));
    let mut drafts: Vec<Draft> = sentences.map(|(text, id)| Draft::detail(text, vec![id])).collect();
    if let Some(first) = drafts.first_mut() {
        first.lead = true;
    }
    drafts
}

fn sentence(evidence: &Evidence, new: &Candidate) -> Option<String> {
    let memory = new.result.memory?;
    let grown = match memory.growth {
        growth if growth > STILL => format!("grows by {}", units::bytes(growth as u64)),
        _ => "stays as it is".to_owned(),
    };
    let keys = u64::from(new.client.workers) * new.client.transactions;
    let store = new.result.server_pss.map_or(String::new(), |pss| {
        let each = base(evidence, new).filter(|base| *base < pss).map(|base| {
            format!(", {} a key beyond what it has otherwise", units::bytes((pss - base) / keys.max(1)))
        });
        format!(" {} then has {}{}.", new.client.store, units::bytes(pss), each.unwrap_or_default())
    });
    Some(format!(
        "With {} new keys of {} ({}, {}), PHP's memory {grown}, with a peak of {} in a worker.{store}",
        units::count(keys as usize, "", "").trim_end(),
        label::content(evidence, &new.result.cell.payload),
        label::place(new),
        new.result.cell.runtime,
        units::bytes(memory.peak),
    ))
}

/// What the store has with few keys.
fn base(evidence: &Evidence, new: &Candidate) -> Option<u64> {
    let others = evidence.all().filter(|c| c.client.store == new.client.store && c.client.keys == Keys::One);
    others.filter_map(|c| c.result.server_pss).min()
}
