//! Cells that do the same work with the same payload, for tables.

use crate::analysis::client::model::{ClientResult, Work};

/// The works of a run in the order in which the plan first has them, those of one payload together.
pub(super) fn works(cells: &[ClientResult]) -> Vec<Work> {
    let mut works: Vec<Work> = Vec::new();
    let mut payloads: Vec<&str> = Vec::new();
    for result in cells {
        let Some(client) = &result.cell.client else { continue };
        let work = Work {
            payload: result.cell.payload.clone(),
            work: client.work(),
            link: client.link.clone(),
            transactions: client.transactions,
            cells: vec![result.cell.id.clone()],
        };
        if !payloads.contains(&result.cell.payload.as_str()) {
            payloads.push(&result.cell.payload);
        }
        match works.iter_mut().find(|known| known.is_same(&work)) {
            Some(known) => known.cells.extend(work.cells),
            None => works.push(work),
        }
    }
    works.sort_by_key(|work| payloads.iter().position(|name| *name == work.payload));
    works
}

impl Work {
    fn is_same(&self, other: &Work) -> bool {
        let key = |w: &Work| (w.payload.clone(), w.work.clone(), w.link.clone(), w.transactions);
        key(self) == key(other)
    }
}
