//! PHP runtimes beside each other: the PHP part of the CPU time for the same way on the same server.

use crate::analysis::delivery::findings::{Candidate, Evidence, SPOKEN_OF, label};
use crate::analysis::delivery::model::DeliveryGroup;
use crate::analysis::findings::Draft;
use weigh_model::cell::{NO_PHP, Subject};

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = Vec::new();
    for subject in [Subject::Page, Subject::Asset, Subject::Download] {
        let mut groups = evidence.leading(subject);
        let first = evidence.plan.runtimes.iter().map(|r| r.name.as_str()).find(|name| *name != NO_PHP);
        groups.retain(|g| Some(g.runtime.as_str()) == first);
        for group in groups.into_iter().take(SPOKEN_OF) {
            let Some((text, cells)) = sentence(evidence, group) else { continue };
            drafts.push(Draft { text, cells, lead: drafts.is_empty() });
        }
    }
    drafts
}

/// The reference and the gzip of a group beside those of the other runtimes.
fn sentence(evidence: &Evidence, group: &DeliveryGroup) -> Option<(String, Vec<String>)> {
    let mut cells = Vec::new();
    let mut parts = Vec::new();
    for base in [evidence.reference(group), evidence.gzip(group)].into_iter().flatten() {
        let Some(cost) = base.costs.php.as_ref() else { continue };
        let others: Vec<String> = elsewhere(evidence, base)
            .into_iter()
            .filter_map(|other| {
                let ratio = other.costs.php.as_ref()?.ratio_to(cost)?;
                cells.push(other.id());
                Some(format!("{} {}", other.result.cell.runtime, label::ratio(&ratio)))
            })
            .collect();
        if !others.is_empty() {
            cells.push(base.id());
            parts.push(format!("with {} {}", label::way(&base), others.join(", ")));
        }
    }
    let content = label::content(evidence, &group.payload);
    let text = format!(
        "PHP CPU time beside {} on {content} from {}: {}.",
        group.runtime,
        group.server,
        parts.join("; ")
    );
    (!parts.is_empty()).then_some((text, cells))
}

fn elsewhere<'a>(evidence: &Evidence<'a>, base: Candidate<'a>) -> Vec<Candidate<'a>> {
    let same = |other: &Candidate| {
        other.delivery.transport == base.delivery.transport
            && other.delivery.server == base.delivery.server
            && other.result.cell.runtime != base.result.cell.runtime
            && other.result.cell.runtime != NO_PHP
            && other.is_way_of(&base)
    };
    evidence.beside(base, same)
}
