//! The links of a run: what each was asked to be, and what it was measured as before anything else went over it.

use crate::analysis::client::costs::visits;
use crate::analysis::client::model::{LinkResult, Operation};
use crate::analysis::gather::Measured;
use weigh_model::plan::Plan;

/// The links that cells were measured over, in the plan's order. Of a link that was made again after an interruption, the first.
pub(super) fn find(plan: &Plan, gathered: &[Measured]) -> Vec<LinkResult> {
    let asked = plan.links.iter().map(|asked| {
        let over = gathered.iter().filter(|m| {
            m.cell.client.as_ref().is_some_and(|client| client.link.as_ref() == Some(&asked.name))
        });
        let measured = over.flat_map(|m| visits(m).filter_map(|(_, visit)| visit.link.as_deref())).next();
        LinkResult { asked: asked.clone(), measured: measured.cloned() }
    });
    asked.filter(|link| link.measured.is_some()).collect()
}

impl LinkResult {
    /// Mbit/s of TCP payload in which the bytes of a call go; infinite where nothing limits them.
    pub(super) fn mbit(&self, operation: Operation) -> f64 {
        let measured = self.measured.as_ref();
        let rate = match operation {
            Operation::Put => measured.and_then(|m| m.up.as_ref()),
            Operation::Get => measured.and_then(|m| m.down.as_ref()),
        };
        rate.map_or(f64::INFINITY, |rate| rate.payload_kbps / 1e3)
    }

    /// Milliseconds of a round trip; 0 where there is nothing on the way.
    pub(super) fn round_trip(&self) -> f64 {
        let measured = self.measured.as_ref();
        measured.and_then(|m| m.round_trip.as_ref()).map_or(0.0, |trip| trip.median_ms)
    }
}
