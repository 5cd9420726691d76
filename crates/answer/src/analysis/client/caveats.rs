//! Caveats that follow from the records, beside those that were recorded.

use crate::analysis::caveats::{add_once, of_run};
use crate::analysis::client::model::ClientResult;
use crate::analysis::gather::Gathered;
use weigh_model::caveat::Caveat;
use weigh_model::plan::Plan;
use weigh_model::record::StopReason;

/// A figure from fewer rounds than this is labelled.
const ENOUGH_ROUNDS: u32 = 3;

/// Workers that begin this share of their time apart do not begin together.
const APART: f64 = 0.1;

/// Adds to each cell's caveats what follows from its results, and returns the caveats of the run.
pub(super) fn add(plan: &Plan, gathered: &Gathered, cells: &mut [ClientResult]) -> Vec<Caveat> {
    for result in cells.iter_mut() {
        let has_server = result.cpu.is_some_and(|cpu| cpu.server.is_some());
        let is_others = plan
            .stores
            .iter()
            .any(|s| s.url.is_some() && result.cell.client.as_ref().is_some_and(|c| c.store == s.name));
        let derived = [
            (result.rounds < ENOUGH_ROUNDS).then_some(Caveat::FewSamples { samples: result.rounds }),
            unconverged(plan, result),
            staggered(result),
            (is_others && !has_server).then_some(Caveat::NotMetered),
        ];
        derived.into_iter().flatten().for_each(|caveat| add_once(&mut result.caveats, caveat));
    }
    of_run(plan, gathered, None)
}

fn staggered(result: &ClientResult) -> Option<Caveat> {
    let share = result.skew / result.total_seconds?.value;
    (share.is_finite() && share > APART).then_some(Caveat::Staggered { skew_ms: result.skew * 1e3, share })
}

fn unconverged(plan: &Plan, result: &ClientResult) -> Option<Caveat> {
    if matches!(result.stop, Some(StopReason::Dominated { .. } | StopReason::Placed)) {
        return None;
    }
    let cpu = result.cpu.as_ref()?.total;
    let half_width = (cpu.high - cpu.low) / 2.0 / cpu.value;
    (half_width.is_finite() && half_width > plan.policy.half_width)
        .then_some(Caveat::Unconverged { half_width, asked: plan.policy.half_width })
}
