//! From the visits of a cell with slow clients to what became of everybody else.

use crate::analysis::delivery::cells::times;
use crate::analysis::delivery::model::{FairnessResult, Outcome};
use crate::analysis::gather::Measured;
use weigh_model::caveat::Caveat;
use weigh_model::cell::Slow;
use weigh_model::record::DeliveryVisit;
use weigh_model::record::fairness::Fairness;

/// Of the workers that slow clients could keep, the share from which on they are said to.
const KEPT: f64 = 0.5;
/// An answer after more nanoseconds than this is one that people wait for.
const PROMPT: u64 = 100_000_000;
/// The share of light requests that are answered promptly below which they are said to starve.
const MOST: f64 = 0.5;

/// One result a cell with slow clients, in the plan's order.
pub(super) fn results(measured: &[Measured]) -> Vec<FairnessResult> {
    measured.iter().filter_map(result).collect()
}

fn result(measured: &Measured) -> Option<FairnessResult> {
    let slow = measured.cell.delivery.as_ref()?.slow.as_ref()?;
    let visits: Vec<(&DeliveryVisit, &Fairness)> = measured
        .visits
        .iter()
        .filter_map(|v| v.delivery.as_deref())
        .filter_map(|visit| Some((visit, visit.fairness.as_ref()?)))
        .collect();
    let (_, last) = visits.last()?;
    let sum = |of: fn(&Fairness) -> u64| visits.iter().fold(0_u64, |all, (_, f)| all.saturating_add(of(f)));
    let moments = || visits.iter().flat_map(|(_, fairness)| &fairness.busy);
    let busy: Vec<f64> = moments().map(|moment| f64::from(moment.busy)).collect();
    let busy = weigh_stats::median(&busy);
    let (due, answered) = (sum(|f| f.due), sum(|f| f.answered));
    let prompt = visits.iter().map(|(_, fairness)| prompt(fairness)).sum();
    let seconds: f64 = visits.iter().map(|(visit, _)| visit.seconds).sum();
    let slow_rate = sum(|f| f.slow_bytes) as f64 / seconds / f64::from(slow.clients);
    Some(FairnessResult {
        cell: measured.cell.clone(),
        rounds: visits.len() as u32,
        content_bytes: measured.last().map_or(0, |v| v.decoded_bytes),
        due,
        answered,
        prompt,
        failed: sum(|f| f.failed),
        light: times(visits.iter().map(|(_, f)| &f.response)),
        busy,
        queue_max: moments().map(|moment| moment.queue).max(),
        written_bytes: visits.iter().filter_map(|(visit, _)| visit.written_bytes).max(),
        php_pss: visits.iter().filter_map(|(_, f)| f.php_pss).max(),
        slow_rate: slow_rate.is_finite().then_some(slow_rate),
        outcome: outcome(slow, busy, prompt as f64 / due.max(1) as f64),
        busy_over_time: last.busy.clone(),
        caveats: caveats(measured, &visits),
    })
}

fn prompt(fairness: &Fairness) -> u64 {
    fairness.response.unpack().map_or(0, |hist| hist.inner().count_between(0, PROMPT))
}

/// Without readings of the pool, light requests alone tell.
fn outcome(slow: &Slow, busy: Option<f64>, prompt: f64) -> Outcome {
    let most = f64::from(slow.clients.min(slow.workers));
    let is_kept = busy.is_none_or(|busy| busy >= KEPT * most);
    match (slow.clients, prompt < MOST) {
        (0, _) => Outcome::Alone,
        (_, true) => Outcome::Starved,
        (_, false) if is_kept && busy.is_some() => Outcome::Kept,
        (_, false) => Outcome::Free,
    }
}

fn caveats(measured: &Measured, visits: &[(&DeliveryVisit, &Fairness)]) -> Vec<Caveat> {
    let mut caveats = measured.caveats.clone();
    let is_deep = visits.iter().any(|(_, fairness)| !fairness.narrow);
    if is_deep && !caveats.contains(&Caveat::DeepBuffers) {
        caveats.push(Caveat::DeepBuffers);
    }
    caveats
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(clients: u32) -> Slow {
        Slow { clients, read_rate: 50_000, workers: 8, script_memory: 0, narrow: true }
    }

    #[test]
    fn an_outcome_follows_from_workers_and_answers() {
        assert_eq!(outcome(&slow(0), Some(0.0), 1.0), Outcome::Alone);
        assert_eq!(outcome(&slow(8), Some(0.0), 1.0), Outcome::Free);
        assert_eq!(outcome(&slow(4), Some(4.0), 1.0), Outcome::Kept);
        assert_eq!(outcome(&slow(8), Some(8.0), 0.01), Outcome::Starved);
        // More clients than workers can keep no more than all workers.
        assert_eq!(outcome(&slow(64), Some(8.0), 0.9), Outcome::Kept);
        // A pool that cannot be asked.
        assert_eq!(outcome(&slow(8), None, 1.0), Outcome::Free);
        assert_eq!(outcome(&slow(8), None, 0.1), Outcome::Starved);
    }
}
