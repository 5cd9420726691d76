//! Time inside a call: the middle and the tail, drivers and stores beside each other.

use crate::analysis::client::findings::{Candidate, Evidence, label};
use crate::analysis::findings::Draft;

/// One sentence, on the work that the study begins with.
pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let Some(work) = evidence.works.first() else { return Vec::new() };
    let told: Vec<(String, String)> =
        evidence.members(work).iter().filter_map(|c| Some((part(c)?, c.id()))).collect();
    if told.is_empty() {
        return Vec::new();
    }
    let (parts, cells): (Vec<String>, Vec<String>) = told.into_iter().unzip();
    let text = format!(
        "Time inside a call, the median and 99%, while {} workers share the machine ({}): {}.",
        evidence.cell(&cells[0]).map_or(0, |c| c.client.workers),
        label::of_work(evidence, work),
        parts.join("; ")
    );
    vec![Draft::detail(text, cells)]
}

fn part(of: &Candidate) -> Option<String> {
    let (name, times) = match (&of.result.get, &of.result.put) {
        (Some(get), _) => ("GET", get),
        (None, Some(put)) => ("PUT", put),
        (None, None) => return None,
    };
    let ends = (label::seconds(times.p50), label::seconds(times.p99));
    Some(format!("{} {name} {} and {}", label::place(of), ends.0, ends.1))
}
