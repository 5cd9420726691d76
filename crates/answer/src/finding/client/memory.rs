//! Unlimited new keys: PHP's memory, and the memory per key in the store.

use weigh_model::client::Keys;
use weigh_model::units;

use crate::finding::client::clients::{Candidate, candidates, first_leads};
use crate::finding::client::label;
use crate::metric::client::{PEAK, STORE_PSS};
use crate::report::finding::{Draft, Evidence};

/// Growth of PHP's memory over a block that is not mentioned, in bytes.
const STILL: f64 = 65_536.0;

/// One sentence for each client that writes new keys.
pub fn of_new_keys(evidence: &Evidence) -> Vec<Draft> {
    let cells = candidates(evidence).filter(|c| c.client.keys == Keys::New);
    first_leads(cells.filter_map(|new| Some(Draft::detail(sentence(evidence, &new)?, vec![new.id()]))))
}

fn sentence(evidence: &Evidence, new: &Candidate) -> Option<String> {
    let grown = match new.row.value("memory-growth")? {
        growth if growth > STILL => format!("grows by {}", units::bytes(growth as u64)),
        _ => "does not grow".to_owned(),
    };
    let keys = u64::from(new.client.workers) * new.client.transactions;
    let store = new.row.value(STORE_PSS).map_or(String::new(), |_| {
        let pss = new.row.count(STORE_PSS);
        let each = base(evidence, new).filter(|base| *base < pss).map(|base| {
            format!(", {} more per key than without them", units::bytes((pss - base) / keys.max(1)))
        });
        let store = label::owned(&new.client.store);
        format!(" {store} then holds {}{}.", units::bytes(pss), each.unwrap_or_default())
    });
    Some(format!(
        "{} of {} ({}, {}): PHP's memory {grown}, with a peak of {} per worker.{store}",
        units::count(keys as usize, "new key", "new keys"),
        label::content(evidence, &new.row.cell.payload),
        label::describe_client(new),
        label::runtime(&new.row.cell.runtime),
        units::bytes(new.row.count(PEAK)),
    ))
}

/// The store's memory with few keys.
fn base(evidence: &Evidence, new: &Candidate) -> Option<u64> {
    let others = candidates(evidence).filter(|c| c.client.store == new.client.store);
    let few = others.filter(|c| c.client.keys == Keys::One);
    few.filter_map(|c| c.row.value(STORE_PSS)).map(|pss| pss as u64).min()
}
