//! The effect of one factor: HTTPS compared with HTTP, one PHP with another.

use weigh_model::cell::{NO_PHP, Subject, Transport};

use crate::finding::delivery::label;
use crate::finding::delivery::sent::{
    SPOKEN_OF, Sent, Sentence, beside, bytes_of, first_leads, leading, marked,
};
use crate::group::Group;
use crate::metric::delivery::{PHP_CPU, RATE};
use crate::report::finding::{Draft, Evidence};

const SUBJECTS: [Subject; 3] = [Subject::PAGE, Subject::ASSET, Subject::DOWNLOAD];

/// The cost of TLS compared with plain HTTP.
pub fn tls(evidence: &Evidence) -> Vec<Draft> {
    SUBJECTS.into_iter().flat_map(|subject| tls_of(evidence, subject)).collect()
}

/// One finding per server: on its largest content, the methods that both transports have.
fn tls_of(evidence: &Evidence, subject: Subject) -> Vec<Draft> {
    let mut servers: Vec<&str> = Vec::new();
    let mut sentences = Vec::new();
    let mut groups = leading(evidence, subject);
    groups.sort_by_key(|g| u64::MAX - bytes_of(evidence, g.payload()));
    for group in groups.into_iter().filter(|g| g.factor("transport") == Transport::Https.name()) {
        let server = group.factor("server");
        if servers.contains(&server) {
            continue;
        }
        let mut cells = Vec::new();
        let place = format!("{} from {}", label::content(evidence, group.payload()), label::owned(server));
        let mut part = |tls: Sent| {
            let plain = over_http(evidence, tls)?;
            let rate = label::change(&tls.ratio_to(&plain, RATE)?, "throughput");
            let cost = tls.cost_beside(&plain)?;
            cells.extend([tls.own_id(), plain.own_id()]);
            Some(format!("HTTPS instead of HTTP, {place}, {}: {cost} and {rate}.", label::way(&tls)))
        };
        let ways = ["reference", "gzip"].into_iter().filter_map(|mark| marked(evidence, group, mark));
        let parts: Vec<String> = ways.filter_map(&mut part).collect();
        if !parts.is_empty() {
            servers.push(server);
            sentences.push((parts.join(" "), cells));
        }
    }
    first_leads(sentences)
}

fn over_http<'a>(evidence: &Evidence<'a>, tls: Sent<'a>) -> Option<Sent<'a>> {
    let same = |other: &Sent| {
        other.delivery.transport == Transport::Http
            && other.delivery.server == tls.delivery.server
            && other.cell.runtime == tls.cell.runtime
            && other.is_way_of(&tls)
    };
    beside(evidence, tls, same).into_iter().next()
}

/// PHP runtimes compared: the PHP part of the CPU time for the same method on the same server.
pub fn runtimes(evidence: &Evidence) -> Vec<Draft> {
    let first = evidence.plan.runtimes.iter().map(|r| r.name.as_str()).find(|name| *name != NO_PHP);
    first_leads(SUBJECTS.into_iter().flat_map(|subject| {
        let groups = leading(evidence, subject).into_iter().filter(|g| Some(g.runtime()) == first);
        groups.take(SPOKEN_OF).filter_map(|group| runtimes_of(evidence, group)).collect::<Vec<_>>()
    }))
}

/// The reference and the gzip of a group compared with those of the other runtimes.
fn runtimes_of(evidence: &Evidence, group: &Group) -> Option<Sentence> {
    let mut cells = Vec::new();
    let mut parts = Vec::new();
    for base in ["reference", "gzip"].into_iter().filter_map(|mark| marked(evidence, group, mark)) {
        let same = |other: &Sent| {
            other.delivery.transport == base.delivery.transport
                && other.delivery.server == base.delivery.server
                && other.cell.runtime != base.cell.runtime
                && other.cell.runtime != NO_PHP
                && other.is_way_of(&base)
        };
        for other in beside(evidence, base, same) {
            let Some(ratio) = other.ratio_to(&base, PHP_CPU) else { continue };
            cells.extend([base.own_id(), other.own_id()]);
            parts.push(format!(
                "{} instead of {}, {} from {}, {}: {}.",
                label::runtime(&other.cell.runtime),
                label::runtime(&base.cell.runtime),
                label::content(evidence, group.payload()),
                label::server(&base),
                label::way(&base),
                label::change(&ratio, "CPU time of PHP")
            ));
        }
    }
    (!parts.is_empty()).then(|| (parts.join(" "), cells))
}
