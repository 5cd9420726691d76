//! Analysis of deliveries: from the records of a delivery study to its results. Pure, as all of [`crate::analysis`].
//!
//! It owns what a response costs whom, which way of sending is worth considering, and from which size on encoding before
//! pays. What a codec costs by itself is not its subject.

mod caveats;
mod cells;
mod costs;
mod crossover;
mod fairness;
mod findings;
#[cfg(test)]
pub(crate) mod fixture;
mod groups;
pub mod model;
pub mod negotiation;
mod published;
#[cfg(test)]
mod tests;

use weigh_stats::Drawings;

use crate::analysis::gather::gather;
use crate::analysis::model::RunFacts;
use costs::Costs;
use model::DeliveryAnalysis;
use weigh_model::plan::Plan;
use weigh_model::record::Record;

/// Derives the results of a run of a delivery study from its records: of a whole run, an interrupted one, or one in
/// flight.
///
/// `rounds`, `seconds` and `complete` of the run's facts are taken from the records, the rest from `run`.
/// Records of cells that are not in the plan are left out, and so are cells that no server sends.
pub fn analyse_delivery(run: &RunFacts, plan: &Plan, records: &[Record]) -> DeliveryAnalysis {
    let mut gathered = gather(plan, records);
    let fairness = fairness::results(&gathered.cells);
    // What a response costs is another question, with cells of its own.
    gathered.cells.retain(|m| m.cell.delivery.is_some() && !m.cell.is_fairness());
    let rounds = gathered.cells.iter().flat_map(|m| m.visits.iter().map(|v| v.round));
    let drawings = Drawings::of(rounds, plan.seed);
    let costs: Vec<Costs> = gathered.cells.iter().map(|m| Costs::of(m, &drawings, plan.seed)).collect();
    let mut cells: Vec<_> =
        gathered.cells.iter().zip(&costs).map(|(m, costs)| cells::result(plan, m, costs)).collect();
    let groups = groups::groups(plan, &gathered.cells, &costs, &mut cells);
    let crossovers = crossover::find(plan, &costs, &cells);
    let negotiations = negotiation::find(&gathered.cells);
    let run_caveats = caveats::add(plan, &gathered, &negotiations, &mut cells);
    let published = published::compare(plan, &costs, &cells);
    let findings = findings::find(&findings::Evidence {
        plan,
        costs: &costs,
        cells: &cells,
        groups: &groups,
        crossovers: &crossovers,
        negotiations: &negotiations,
        fairness: &fairness,
        published: published.as_ref(),
    });
    DeliveryAnalysis {
        study: plan.study.clone(),
        run: RunFacts {
            rounds: gathered.rounds,
            seconds: gathered.seconds,
            complete: gathered.complete,
            ..run.clone()
        },
        payloads: plan.payloads.clone(),
        runtimes: plan.runtimes.clone(),
        servers: plan.servers.clone(),
        cells,
        groups,
        crossovers,
        negotiations,
        fairness,
        published,
        findings,
        faults: gathered.faults,
        unmeasured: gathered.unmeasured,
        exclusions: plan.exclusions.clone(),
        caveats: run_caveats,
    }
}
