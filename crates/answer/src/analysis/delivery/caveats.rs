//! Caveats that follow from the records, beside those that were recorded.

use weigh_load::caveats::BUSY_SHARE;

use crate::analysis::caveats::{add_once, of_run};
use crate::analysis::delivery::model::{DeliveryResult, NegotiationResult};
use crate::analysis::gather::{Gathered, Measured};
use weigh_model::caveat::Caveat;
use weigh_model::payload::Origin;
use weigh_model::plan::Plan;
use weigh_model::record::{DeliveryVisit, StopReason};

/// A figure from fewer rounds than this is labelled.
const ENOUGH_ROUNDS: u32 = 3;

/// Adds to each cell's caveats what follows from its visits, and returns the caveats of the run.
pub(super) fn add(
    plan: &Plan,
    gathered: &Gathered,
    negotiations: &[NegotiationResult],
    cells: &mut [DeliveryResult],
) -> Vec<Caveat> {
    for (result, measured) in cells.iter_mut().zip(&gathered.cells) {
        let faults = measured.visits.iter().filter_map(|v| v.delivery.as_ref()).flat_map(|d| &d.faults);
        let example = faults.clone().next().map(|fault| fault.example.message.clone());
        let derived = [
            (result.client_share >= BUSY_SHARE)
                .then_some(Caveat::GeneratorLimit { share: result.client_share }),
            (result.rounds < ENOUGH_ROUNDS).then_some(Caveat::FewSamples { samples: result.rounds }),
            unconverged(plan, result),
            (result.rounds > 0 && result.cpu.is_none()).then_some(Caveat::NotMetered),
            changing(plan, measured),
            negotiated(negotiations, result),
            example.filter(|_| result.faulted > 0).map(|example| Caveat::FaultyResponses {
                faulted: result.faulted,
                requests: result.requests.saturating_add(result.faulted),
                example,
            }),
        ];
        derived.into_iter().flatten().for_each(|caveat| add_once(&mut result.caveats, caveat));
    }
    of_run(plan, gathered, None)
}

/// A URL that did not always send what it sent when the run was planned.
fn changing(plan: &Plan, measured: &Measured) -> Option<Caveat> {
    let payload = plan.payloads.iter().find(|p| p.name == measured.cell.payload)?;
    let is_url = matches!(payload.origin, Origin::Url { .. });
    let seen = |d: &DeliveryVisit| d.preflight.decoded_sha256.as_ref() != Some(&payload.sha256);
    let changed = measured.visits.iter().filter_map(|v| v.delivery.as_deref()).any(seen);
    (is_url && changed).then(|| Caveat::Changing { payload: payload.name.clone() })
}

/// A cell that was stopped because another one beats it needs no narrow interval.
fn unconverged(plan: &Plan, result: &DeliveryResult) -> Option<Caveat> {
    if matches!(result.stop, Some(StopReason::Dominated { .. } | StopReason::Placed)) {
        return None;
    }
    let cpu = result.cpu.as_ref()?.total;
    let half_width = (cpu.high - cpu.low) / 2.0 / cpu.value;
    (half_width.is_finite() && half_width > plan.policy.half_width)
        .then_some(Caveat::Unconverged { half_width, asked: plan.policy.half_width })
}

/// What breaks a rule is a warning to those who would take the way for its figures.
fn negotiated(negotiations: &[NegotiationResult], result: &DeliveryResult) -> Option<Caveat> {
    let told = negotiations.iter().find(|told| told.cell == result.cell.id)?;
    let wrong: Vec<_> = told.remarks.iter().filter(|remark| remark.quirk.is_wrong()).collect();
    let example = wrong.first()?.quirk.words().to_owned();
    Some(Caveat::Negotiation { quirks: wrong.len() as u32, example })
}
