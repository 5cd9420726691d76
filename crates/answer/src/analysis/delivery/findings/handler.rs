//! Whether PHP's own handler is anything but gzencode().

use crate::analysis::delivery::findings::{Candidate, Evidence, SPOKEN_OF, label};
use crate::analysis::findings::Draft;
use weigh_model::cell::Subject;
use weigh_model::units;
use weigh_model::way::By;

/// CPU times this close are equal.
const SAME: f64 = 0.05;
/// Bytes that two gzip streams of one content differ by for their heads alone.
const HEAD: u64 = 32;

pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for group in evidence.leading(Subject::Page).into_iter().take(SPOKEN_OF) {
        let members = evidence.members(group);
        let of = |name: &str| -> Vec<Candidate> {
            let is_it = |c: &&Candidate| c.delivery.by == By::Php && c.setting().codec == name;
            members.iter().filter(is_it).filter(|c| c.is_plain_setting()).copied().collect()
        };
        for handler in of("ob_gzhandler") {
            let level = handler.level().unwrap_or(6);
            let Some(encode) = of("gzencode").into_iter().find(|c| c.level() == Some(level)) else {
                continue;
            };
            let (Some(ours), Some(theirs)) = (&handler.costs.cpu, &encode.costs.cpu) else { continue };
            let Some(ratio) = ours.ratio_to(theirs) else { continue };
            let same_bytes = handler.result.body_bytes.abs_diff(encode.result.body_bytes) <= HEAD;
            let alike = match (same_bytes, ours.clearly_apart(theirs)) {
                (true, false) if (ratio.value - 1.0).abs() <= SAME => "equals",
                (true, false) => "cannot be told apart from",
                _ => "differs from",
            };
            let text = format!(
                "{} {alike} {} on {}: {} the CPU time, {}.",
                label::way(&handler),
                label::way(&encode),
                label::place(evidence, group),
                units::times_interval(ratio.value, ratio.low, ratio.high),
                label::bytes_beside(handler.bytes(), encode.bytes())
            );
            drafts.push(Draft::detail(text, vec![handler.id(), encode.id()]));
        }
    }
    drafts
}
