//! URLs that others serve: what they send for each content coding, and how long a client waits for it.

use crate::analysis::delivery::findings::{Candidate, Evidence};
use crate::analysis::delivery::model::DeliveryGroup;
use crate::analysis::findings::Draft;
use weigh_model::payload::Origin;
use weigh_model::units;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    evidence.groups.iter().filter_map(|group| sentence(evidence, group)).collect()
}

fn sentence(evidence: &Evidence, group: &DeliveryGroup) -> Option<Draft> {
    let payload = evidence.plan.payloads.iter().find(|p| p.name == group.payload)?;
    let Origin::Url { url } = &payload.origin else { return None };
    let members = evidence.members(group);
    let words: Vec<String> = members.iter().filter_map(words).collect();
    let text = format!(
        "{url} sends {}; median time to the last byte, one request after the other. What that costs its server was not measured.",
        words.join(", ")
    );
    let cells = members.iter().map(Candidate::id).collect();
    (!words.is_empty()).then_some(Draft { text, cells, lead: true })
}

/// `3,456 bytes as gzip in 1.2 ms`.
fn words(one: &Candidate) -> Option<String> {
    let time = one.result.service.as_ref()?.p50;
    let coding = one.result.coding.as_deref().unwrap_or("it is");
    let bytes = units::bytes(one.result.body_bytes);
    Some(format!("{bytes} as {coding} in {}", units::ns(time * 1e9)))
}
