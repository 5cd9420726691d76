//! What encoding costs beside sending the content as it is.

use crate::analysis::delivery::findings::{Candidate, Evidence, SPOKEN_OF, label, on_the_fly};
use crate::analysis::delivery::model::DeliveryGroup;
use crate::analysis::findings::Draft;
use weigh_model::cell::Subject;
use weigh_model::units;

/// Levels at which libraries stand when nothing is said.
const DEFAULTS: [(&str, i32); 3] = [("zstd", 3), ("br", 4), ("deflate", 6)];

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for group in evidence.leading(Subject::Page).into_iter().take(SPOKEN_OF) {
        let Some((text, cells)) = sentence(evidence, group) else { continue };
        drafts.push(if drafts.is_empty() { Draft::lead(text, cells) } else { Draft::detail(text, cells) });
    }
    drafts
}

fn sentence(evidence: &Evidence, group: &DeliveryGroup) -> Option<(String, Vec<String>)> {
    let plain = evidence.reference(group)?;
    let base = plain.costs.cpu.as_ref()?;
    let mut ways: Vec<Candidate> = evidence.gzip(group).into_iter().collect();
    for (coding, level) in DEFAULTS {
        let usual = on_the_fly(evidence.members(group), None)
            .into_iter()
            .filter(|way| way.result.coding.as_deref() == Some(coding))
            .min_by_key(|way| way.level().map_or(0, |own| own.abs_diff(level)));
        ways.extend(usual);
    }
    let parts: Vec<String> = ways
        .iter()
        .filter_map(|way| {
            let (more, interval) = way.costs.cpu.as_ref()?.difference(base);
            let interval = if interval.low.is_finite() {
                units::ns_interval(more, interval.low, interval.high)
            } else {
                units::ns(more)
            };
            Some(format!(
                "{} {interval} ({:+.0}%) for {}",
                label::way(way),
                more / base.time() * 100.0,
                label::bytes_beside(way.bytes(), plain.bytes())
            ))
        })
        .collect();
    if parts.is_empty() {
        return None;
    }
    let text = format!(
        "Sending {} as it is takes {} of CPU time a response; on top of that come: {}.",
        label::place(evidence, group),
        units::ns(base.time()),
        parts.join("; ")
    );
    Some((text, [plain].iter().chain(&ways).map(Candidate::id).collect()))
}
