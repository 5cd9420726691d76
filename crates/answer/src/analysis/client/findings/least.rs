//! Which store and driver take the least CPU time for the same work.

use crate::analysis::client::findings::{Candidate, Evidence, label};
use crate::analysis::findings::Draft;
use weigh_model::units;

/// One sentence a payload, on its first work.
pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut said: Vec<&str> = Vec::new();
    for work in evidence.works.iter().filter(|work| work.link.is_none()) {
        if said.contains(&work.payload.as_str()) {
            continue;
        }
        let mut members = evidence.members(work);
        members.retain(|c| c.costs.cpu.is_some());
        if members.len() < 2 {
            continue;
        }
        said.push(&work.payload);
        let text = sentence(evidence, &mut members);
        drafts.push(Draft { text, cells: members.iter().map(Candidate::id).collect(), lead: true });
    }
    drafts
}

fn sentence(evidence: &Evidence, members: &mut [Candidate]) -> String {
    let cost = |c: &Candidate| c.result.cpu_ns().unwrap_or(f64::INFINITY);
    members.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    let told = |c: &Candidate| format!("{} ({})", label::place(c), units::ns(cost(c)));
    let best = &members[0];
    let is_clear = |other: &Candidate| {
        best.costs.cpu.as_ref().zip(other.costs.cpu.as_ref()).is_some_and(|(a, b)| a.clearly_below(b))
    };
    let (alike, others): (Vec<&Candidate>, Vec<&Candidate>) =
        members[1..].iter().partition(|other| !is_clear(other));
    let others = match others.as_slice() {
        [] => String::new(),
        others => format!("; then {}", units::list(&others.iter().map(|c| told(c)).collect::<Vec<_>>())),
    };
    let work = label::work(evidence, best);
    if alike.is_empty() {
        return format!(
            "Least CPU time of workers and store a transaction ({work}): {}{others}.",
            told(best)
        );
    }
    let alike: Vec<String> = std::iter::once(best).chain(alike).map(told).collect();
    format!(
        "Least CPU time of workers and store a transaction ({work}): {}, which cannot be told apart{others}.",
        units::list(&alike)
    )
}
