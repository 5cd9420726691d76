//! Whether handing a download over frees PHP's workers, as the pool's status saw them.

use crate::analysis::delivery::findings::offload::through_php;
use crate::analysis::delivery::findings::{Candidate, Evidence, label};
use crate::analysis::findings::Draft;
use crate::cell::Subject;
use crate::record::delivery::Workers;
use crate::units;
use crate::way::WayKind;

/// A worker is free when it is busy less than this share of what it is while PHP sends the file itself.
const FREED: f64 = 0.5;
/// Fewer busy workers than this, on the mean, are none.
const IDLE: f64 = 0.25;
/// Readings of the pool's status that a mean needs.
const ENOUGH: u32 = 5;

/// One sentence a server: on the largest content, where it takes longest to send.
pub(super) fn find(evidence: &Evidence) -> Vec<Draft> {
    let mut offloads: Vec<Candidate> = evidence.all(Subject::Download);
    offloads.retain(|c| c.delivery.kind == WayKind::Offload);
    offloads.sort_by_key(|c| (u64::MAX - c.result.decoded_bytes, u32::MAX - c.delivery.connections));
    let mut said: Vec<(&str, String)> = Vec::new();
    let mut drafts: Vec<Draft> = Vec::new();
    for offload in offloads {
        let key = (offload.delivery.server.as_str(), offload.result.cell.runtime.clone());
        if said.contains(&key) {
            continue;
        }
        let Some((text, cells)) =
            through_php(evidence, offload).and_then(|script| sentence(evidence, offload, script))
        else {
            continue;
        };
        said.push(key);
        drafts.push(Draft { text, cells, lead: drafts.is_empty() });
    }
    drafts
}

fn sentence(evidence: &Evidence, offload: Candidate, script: Candidate) -> Option<(String, Vec<String>)> {
    let enough = |c: &Candidate| c.result.workers.filter(|w| w.readings >= ENOUGH);
    let (ours, theirs) = (enough(&offload)?, enough(&script)?);
    let text = format!(
        "{} keeps {} PHP workers busy on {} ({}), {} keeps {}: {}.",
        label::way(&script),
        busy(&theirs),
        label::content(evidence, &offload.result.cell.payload),
        units::bytes(offload.result.decoded_bytes),
        label::way(&offload),
        busy(&ours),
        verdict(&offload.delivery.server, &ours, &theirs)
    );
    Some((text, vec![script.id(), offload.id()]))
}

/// `7.9 of 8 (8 at most)`.
fn busy(workers: &Workers) -> String {
    format!(
        "{} of {} ({} at most)",
        units::trimmed_number((workers.busy_mean * 100.0).round() / 100.0),
        workers.total,
        workers.busy_max
    )
}

fn verdict(server: &str, ours: &Workers, theirs: &Workers) -> String {
    if theirs.busy_mean < IDLE {
        return format!("{server} takes the response off PHP's hands in either case");
    }
    if ours.busy_mean <= theirs.busy_mean * FREED {
        return "handing over frees the worker".to_string();
    }
    format!("handing over does not free the worker on {server}")
}
