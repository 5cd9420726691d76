//! Analysis of clients of stores: from the records of a client study to its results. Pure, as all of [`crate::analysis`].
//!
//! It owns what a transaction costs whom, what another PHP, driver or store changes, and how far a call can be computed from its
//! parts. What a codec costs by itself is not its subject.

mod caveats;
mod cells;
mod compare;
mod costs;
mod findings;
#[cfg(test)]
pub(crate) mod fixture;
mod links;
pub mod model;
mod predict;
#[cfg(test)]
mod tests;
mod works;

use weigh_stats::Drawings;

use crate::analysis::gather::gather;
use crate::analysis::model::RunFacts;
use costs::Costs;
use model::ClientAnalysis;
use weigh_model::plan::Plan;
use weigh_model::record::Record;

/// Derives the results of a run of a client study from its records: of a whole run, an interrupted one, or one in flight.
///
/// `rounds`, `seconds` and `complete` of the run's facts are taken from the records, the rest from `run`.
/// Records of cells that are not in the plan are left out, and so are cells that are no clients.
pub fn analyse_clients(run: &RunFacts, plan: &Plan, records: &[Record]) -> ClientAnalysis {
    let mut gathered = gather(plan, records);
    gathered.cells.retain(|m| m.cell.client.is_some());
    let rounds = gathered.cells.iter().flat_map(|m| m.visits.iter().map(|v| v.round));
    let drawings = Drawings::of(rounds, plan.seed);
    let costs: Vec<Costs> = gathered.cells.iter().map(|m| Costs::of(m, &drawings, plan.seed)).collect();
    let mut cells: Vec<_> =
        gathered.cells.iter().zip(&costs).map(|(m, costs)| cells::result(m, costs)).collect();
    let run_caveats = caveats::add(plan, &gathered, &mut cells);
    let works = works::works(&cells);
    let comparisons = compare::find(plan, &costs, &cells);
    let links = links::find(plan, &gathered.cells);
    let computed = predict::find(plan, &links, &costs, &cells);
    let findings = findings::find(&findings::Evidence {
        plan,
        costs: &costs,
        cells: &cells,
        works: &works,
        comparisons: &comparisons,
        computed: &computed,
    });
    ClientAnalysis {
        study: plan.study.clone(),
        run: RunFacts {
            rounds: gathered.rounds,
            seconds: gathered.seconds,
            complete: gathered.complete,
            ..run.clone()
        },
        payloads: plan.payloads.clone(),
        runtimes: plan.runtimes.clone(),
        stores: plan.stores.clone(),
        links,
        cells,
        works,
        comparisons,
        predictions: computed.predictions,
        advice: computed.advice,
        break_even: computed.break_even,
        findings,
        faults: gathered.faults,
        unmeasured: gathered.unmeasured,
        exclusions: plan.exclusions.clone(),
        caveats: run_caveats,
    }
}
