//! What TLS costs beside plain HTTP.

use crate::analysis::delivery::findings::{Candidate, Evidence, label};
use crate::analysis::findings::Draft;
use weigh_model::cell::{Subject, Transport};
use weigh_model::units;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    [Subject::Page, Subject::Asset, Subject::Download]
        .into_iter()
        .flat_map(|subject| of_subject(evidence, subject))
        .collect()
}

/// One sentence a server: on its largest content, the ways that both transports have.
fn of_subject(evidence: &Evidence, subject: Subject) -> Vec<Draft> {
    let mut servers: Vec<&str> = Vec::new();
    let mut drafts = Vec::new();
    let mut groups = evidence.leading(subject);
    groups.sort_by_key(|g| u64::MAX - evidence.bytes(&g.payload));
    for group in groups.into_iter().filter(|g| g.transport == Transport::Https) {
        if servers.contains(&group.server.as_str()) {
            continue;
        }
        let ways = [evidence.reference(group), evidence.gzip(group)];
        let mut cells = Vec::new();
        let parts: Vec<String> = ways
            .into_iter()
            .flatten()
            .filter_map(|tls| {
                let plain = over_http(evidence, tls)?;
                let cpu = tls.costs.cpu.as_ref()?.ratio_to(plain.costs.cpu.as_ref()?)?;
                let rate = tls.costs.rate.as_ref()?.ratio_to(plain.costs.rate.as_ref()?)?;
                cells.extend([tls.id(), plain.id()]);
                Some(format!(
                    "{} the CPU time and {} the rate with {}",
                    label::ratio(&cpu),
                    units::times_interval(rate.value, rate.low, rate.high),
                    label::way(&tls)
                ))
            })
            .collect();
        if !parts.is_empty() {
            servers.push(&group.server);
            let content = label::content(evidence, &group.payload);
            let text = format!("HTTPS beside HTTP on {content} from {}: {}.", group.server, parts.join("; "));
            drafts.push(Draft::detail(text, cells));
        }
    }
    if let Some(first) = drafts.first_mut() {
        first.lead = true;
    }
    drafts
}

fn over_http<'a>(evidence: &Evidence<'a>, tls: Candidate<'a>) -> Option<Candidate<'a>> {
    let same = |other: &Candidate| {
        other.delivery.transport == Transport::Http
            && other.delivery.server == tls.delivery.server
            && other.result.cell.runtime == tls.result.cell.runtime
            && other.is_way_of(&tls)
    };
    evidence.beside(tls, same).into_iter().next()
}
