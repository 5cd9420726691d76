//! What a reader waits for over a link: the ways of a content by the time to the last byte.

use crate::analysis::delivery::findings::{Candidate, Evidence, label};
use crate::analysis::delivery::model::{DeliveryGroup, OverLink};
use crate::analysis::findings::Draft;
use weigh_model::units;

/// Ways that a sentence names beside the content as it is.
const NAMED: usize = 3;

/// One sentence a link; those of the first content and server lead.
pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut first: Option<(&str, &str, &str)> = None;
    let mut drafts = Vec::new();
    for group in evidence.groups {
        let Some((text, cells)) = group.link.as_ref().and_then(|link| sentence(evidence, group, link)) else {
            continue;
        };
        let place = (group.payload.as_str(), group.server.as_str(), group.runtime.as_str());
        drafts.push(Draft { text, cells, lead: *first.get_or_insert(place) == place });
    }
    drafts
}

/// Medians in ascending order. They are no claim of an order: what is close is shown as close.
fn sentence(evidence: &Evidence, group: &DeliveryGroup, link: &OverLink) -> Option<(String, Vec<String>)> {
    let timed = |c: Candidate<'_>| Some((c.result.service.as_ref()?.p50, c.id(), label::way(&c)));
    let mut timed: Vec<(f64, String, String)> =
        evidence.members(group).into_iter().filter_map(timed).collect();
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let plain = group.reference.as_ref();
    let named = timed.iter().enumerate().filter(|(rank, (_, id, _))| *rank < NAMED || Some(id) == plain);
    let named: Vec<_> = named.map(|(_, named)| named).collect();
    if named.len() < 2 {
        return None;
    }
    let parts: Vec<String> =
        named.iter().map(|(seconds, _, way)| format!("{} with {way}", label::seconds(*seconds))).collect();
    let content = label::content(evidence, &group.payload);
    let text = format!(
        "Over {}, the last byte of {content} from {} is there after {}: medians, each response over a connection of its own.",
        asked(link),
        label::stand(&group.server, group.transport, group.connections, None),
        parts.join(", ")
    );
    Some((text, named.iter().map(|(_, id, _)| id.clone()).collect()))
}

/// `4g (9 Mbit/s, round trip 170 ms)`.
fn asked(link: &OverLink) -> String {
    let trip =
        (link.asked.rtt_ms > 0.0).then(|| format!("round trip {}", units::ns(link.asked.rtt_ms * 1e6)));
    let speed = link.asked.down_kbps.map(|kbps| units::mbit(kbps / 1e3));
    let figures: Vec<String> = speed.into_iter().chain(trip).collect();
    let figures = if figures.is_empty() { String::new() } else { format!(" ({})", figures.join(", ")) };
    format!("{}{figures}", link.asked.name)
}
