//! Whether handing a download over frees PHP's workers, as the pool's status saw them.
//!
//! How many are busy says little by itself: a pool that answers more requests is as busy as one that answers few slowly. What
//! counts is for how long a download keeps a worker, and whether that is as long as the response takes.

use crate::analysis::delivery::findings::offload::through_php;
use crate::analysis::delivery::findings::{Candidate, Evidence, label};
use crate::analysis::findings::Draft;
use weigh_model::cell::Subject;
use weigh_model::units;
use weigh_model::way::WayKind;

/// A worker is freed when a download keeps it less than this share of what it does while PHP sends the file itself.
const FREED: f64 = 0.5;
/// A worker that is kept for less than this share of the response is free while the body is sent.
const FREE: f64 = 0.25;
/// A worker that is kept for more than this share of the response is kept until its end.
const KEPT: f64 = 0.75;
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

/// For how long a response keeps a worker, in seconds, and the share of the time that it could keep one: as many workers as
/// there are connections, or all.
#[derive(Clone, Copy)]
struct Kept {
    seconds: f64,
    share: f64,
}

impl Kept {
    fn of(candidate: &Candidate) -> Option<Kept> {
        let workers = candidate.result.workers.filter(|w| w.readings >= ENOUGH)?;
        let most = workers.total.min(candidate.delivery.connections).max(1);
        let share = workers.busy_mean / f64::from(most);
        Some(Kept { seconds: candidate.result.worker_seconds?, share: share.min(1.0) })
    }

    /// `3.49 ms (96% of the time)`.
    fn words(&self) -> String {
        format!("{} ({:.0}% of the time)", label::seconds(self.seconds), self.share * 100.0)
    }
}

fn sentence(evidence: &Evidence, offload: Candidate, script: Candidate) -> Option<(String, Vec<String>)> {
    let (ours, theirs) = (Kept::of(&offload)?, Kept::of(&script)?);
    let delivery = offload.delivery;
    let text = format!(
        "On {}, {} ({}) keeps a PHP worker for {} with {} and for {} with {}: {}.",
        label::stand(&delivery.server, delivery.transport, delivery.connections, delivery.link.as_deref()),
        label::content(evidence, &offload.result.cell.payload),
        units::bytes(offload.result.decoded_bytes),
        theirs.words(),
        label::name(&script),
        ours.words(),
        label::name(&offload),
        verdict(&delivery.server, ours, theirs)
    );
    Some((text, vec![script.id(), offload.id()]))
}

fn verdict(server: &str, ours: Kept, theirs: Kept) -> String {
    if theirs.share < FREE {
        return format!("{server} takes the response off PHP's hands in either case");
    }
    let is_shorter = ours.seconds <= theirs.seconds * FREED;
    match (ours.share > KEPT, is_shorter) {
        (true, false) => format!("handing over does not free the worker on {server}"),
        (true, true) => {
            "the response is done sooner, and the worker is still kept for most of it".to_string()
        }
        (false, true) => "handing over frees the worker".to_string(),
        (false, false) => "handing over changes little for the worker".to_string(),
    }
}
