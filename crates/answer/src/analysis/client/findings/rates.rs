//! At a fixed rate: whether it is kept, and what an answer takes from when it was due.

use crate::analysis::client::findings::{Candidate, Evidence, label};
use crate::analysis::findings::Draft;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let cells = evidence.all().filter(|c| c.client.rate.is_some());
    let sentences = cells.filter_map(|c| Some((sentence(evidence, &c)?, c.id())));
    let mut drafts: Vec<Draft> = sentences.map(|(text, id)| Draft::detail(text, vec![id])).collect();
    if let Some(first) = drafts.first_mut() {
        first.lead = true;
    }
    drafts
}

fn sentence(evidence: &Evidence, of: &Candidate) -> Option<String> {
    let response = of.result.get_response.or(of.result.put_response)?;
    let scheduled = of.result.summary.transactions.saturating_add(of.result.dropped).max(1);
    let dropped = match of.result.dropped {
        0 => String::new(),
        n => format!("; {} of the schedule was never sent", label::share(n as f64 / scheduled as f64)),
    };
    Some(format!(
        "{} ({}): from when it was due, half of the answers take up to {}, 99% up to {}, 99.9% up to {}{dropped}.",
        label::place(of),
        label::work(evidence, of),
        label::seconds(response.p50),
        label::seconds(response.p99),
        label::seconds(response.p999),
    ))
}
