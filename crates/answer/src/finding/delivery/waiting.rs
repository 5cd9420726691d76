//! How long visitors wait: for the methods of a content over a link, and for URLs of running servers.

use weigh_model::payload::Origin;
use weigh_model::units;

use crate::finding::delivery::label;
use crate::finding::delivery::sent::{Sent, Sentence, leads, members};
use crate::group::Group;
use crate::metric::delivery::{BODY, Endpoint};
use crate::report::OverLink;
use crate::report::finding::{Draft, Evidence};

/// Methods that a sentence names beside the content uncompressed.
const NAMED: usize = 3;

/// One sentence per link; those of the first content and server lead.
pub fn over_links(evidence: &Evidence) -> Vec<Draft> {
    let mut first: Option<[&str; 3]> = None;
    let mut drafts = Vec::new();
    for group in &evidence.report.groups {
        let link = evidence.report.link(group.factor("link"));
        let Some((text, cells)) = link.and_then(|link| last_byte(evidence, group, link)) else { continue };
        let place = ["payload", "server", "runtime"].map(|factor| group.factor(factor));
        drafts.push(Draft::new(*first.get_or_insert(place) == place, text, cells));
    }
    drafts
}

/// Medians in ascending order, without a claim about the order of close ones.
fn last_byte<'a>(evidence: &Evidence<'a>, group: &'a Group, link: &OverLink) -> Option<Sentence> {
    let timed = |c: Sent<'a>| Some((c.value("service-p50")?, c));
    let mut timed: Vec<(f64, Sent)> = members(evidence, group).into_iter().filter_map(timed).collect();
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let is_named =
        |(rank, (_, way)): &(usize, &(f64, Sent))| *rank < NAMED || group.reference() == Some(way.id());
    let named: Vec<_> = timed.iter().enumerate().filter(is_named).map(|(_, named)| named).collect();
    if named.len() < 2 {
        return None;
    }
    let parts: Vec<String> = named
        .iter()
        .map(|(seconds, way)| format!("{} with {}", label::seconds(*seconds), label::way(way)))
        .collect();
    let endpoint = Endpoint { link: None, ..timed[0].1.delivery.into() };
    let text = format!(
        "Over {}, {} from {} is complete after {} (medians, new connections).{}",
        describe_link(link),
        label::content(evidence, group.payload()),
        label::endpoint(&endpoint),
        parts.join(", "),
        beside_model(evidence, &timed)
    );
    Some((text, named.iter().map(|(_, way)| way.own_id()).collect()))
}

/// ` Measured waits are 0.98× to 1.04× the modelled ones.`; empty if they are not computed.
fn beside_model(evidence: &Evidence, timed: &[(f64, Sent)]) -> String {
    let waits = evidence.report.exhibits.waits.as_ref().map_or(&[][..], |waits| &waits.0);
    let of = |sent: &Sent| waits.iter().find(|wait| wait.cell == sent.id());
    let ratios: Vec<f64> =
        timed.iter().filter_map(|(_, sent)| of(sent)).map(|wait| wait.measured / wait.computed).collect();
    if ratios.is_empty() {
        return String::new();
    }
    format!(" Measured waits are {} the modelled ones.", label::range(&ratios, units::times))
}

/// `4g (9 Mbit/s, round trip 170 ms)`.
fn describe_link(link: &OverLink) -> String {
    let trip =
        (link.asked.rtt_ms > 0.0).then(|| format!("round trip {}", units::ns(link.asked.rtt_ms * 1e6)));
    let speed = link.asked.down_kbps.map(|kbps| units::mbit(kbps / 1e3));
    let figures: Vec<String> = speed.into_iter().chain(trip).collect();
    let figures = if figures.is_empty() { String::new() } else { format!(" ({})", figures.join(", ")) };
    format!("{}{figures}", link.asked.name)
}

/// URLs of running servers: the bytes for each content coding, and the waiting time of a client.
pub fn for_urls(evidence: &Evidence) -> Vec<Draft> {
    leads(evidence.report.groups.iter().filter_map(|group| of_url(evidence, group)))
}

fn of_url<'a>(evidence: &Evidence<'a>, group: &'a Group) -> Option<Sentence> {
    let Origin::Url { url } = &evidence.report.payload(group.payload())?.origin else { return None };
    let members = members(evidence, group);
    // `3,456 bytes as gzip in 1.2 ms`.
    let words = |one: &Sent| {
        let time = units::ns(one.value("service-p50")? * 1e9);
        let coding = one.coding().map_or("uncompressed".to_owned(), |coding| format!("as {coding}"));
        Some(format!("{} {coding} in {time}", units::bytes(one.count(BODY))))
    };
    let words: Vec<String> = members.iter().filter_map(words).collect();
    let text = format!(
        "{url} sends {} (medians, sequential requests). Its server's CPU time was not measured.",
        words.join(", ")
    );
    (!words.is_empty()).then(|| (text, members.iter().map(Sent::own_id).collect()))
}
