//! Analysis: from records to results. Pure; it never knows when or where a number was measured.
//!
//! It owns every estimate, comparison and sentence. It refuses to measure, read, write or look at a clock:
//! a plan and records come in, an [`Analysis`] goes out, the same one each time.

mod caveats;
pub mod client;
mod cost;
pub mod delivery;
mod estimate;
mod findings;
mod front;
mod gather;
mod links;
pub mod load;
pub mod model;
mod published;

use client::analyse_clients;
use client::model::ClientAnalysis;
use delivery::analyse_delivery;
use delivery::model::DeliveryAnalysis;
use gather::gather;
use model::{Analysis, FaultRow, RunFacts};
use weigh_model::plan::Plan;
use weigh_model::record::Record;

/// Confidence of every interval.
const CONFIDENCE: f64 = 0.95;

/// The figure of a cell and phase is this quantile over rounds. Neighbours on the machine only ever add CPU time, and
/// on shared cores they come and go faster than a round: the median then jumps between two modes, while a low quantile
/// stays in the lower one. 0.1 repeated best of 0.1 to 0.5, see docs/METHODOLOGY.md.
pub const QUANTILE: f64 = 0.1;

/// The results of a run: a study has codecs, deliveries or clients.
#[derive(Clone, Debug)]
pub enum Results {
    /// Of codecs, natively and inside PHP.
    Codec(Box<Analysis>),
    /// Of deliveries by web servers.
    Delivery(Box<DeliveryAnalysis>),
    /// Of clients of stores.
    Client(Box<ClientAnalysis>),
}

impl Results {
    /// Derives them from the records, by what the plan's cells put under test.
    pub fn of(run: &RunFacts, plan: &Plan, records: &[Record]) -> Results {
        if plan.is_client() {
            Results::Client(Box::new(analyse_clients(run, plan, records)))
        } else if plan.is_delivery() {
            Results::Delivery(Box::new(analyse_delivery(run, plan, records)))
        } else {
            Results::Codec(Box::new(analyse(run, plan, records)))
        }
    }

    /// Cells that were planned and not measured.
    pub fn faults(&self) -> &[FaultRow] {
        match self {
            Results::Codec(analysis) => &analysis.faults,
            Results::Delivery(analysis) => &analysis.faults,
            Results::Client(analysis) => &analysis.faults,
        }
    }
}

/// Derives the results of a run of codecs from its records: of a whole run, an interrupted one, or one in flight.
///
/// `rounds`, `seconds` and `complete` of the run's facts are taken from the records, the rest from `run`.
/// Records of cells that are not in the plan are left out.
pub fn analyse(run: &RunFacts, plan: &Plan, records: &[Record]) -> Analysis {
    let gathered = gather(plan, records);
    let mut cells: Vec<_> = gathered.cells.iter().map(|m| estimate::result(plan, m)).collect();
    estimate::add_serializers(&mut cells);
    let mut groups = front::groups(plan, &gathered.cells, &mut cells);
    if let Some(study_links) = &plan.study.links {
        for group in &mut groups {
            group.links = links::of_group(plan, study_links, group, &gathered.cells, &cells);
        }
    }
    let run_caveats = caveats::add(plan, &gathered, &mut cells);
    let published = published::compare(plan, &cells);
    let findings = findings::find(&findings::Evidence {
        plan,
        measured: &gathered.cells,
        cells: &cells,
        groups: &groups,
        published: published.as_deref(),
    });
    Analysis {
        study: plan.study.clone(),
        run: RunFacts {
            rounds: gathered.rounds,
            seconds: gathered.seconds,
            complete: gathered.complete,
            ..run.clone()
        },
        payloads: plan.payloads.clone(),
        runtimes: plan.runtimes.clone(),
        cells,
        groups,
        published,
        findings,
        faults: gathered.faults,
        unmeasured: gathered.unmeasured,
        exclusions: plan.exclusions.clone(),
        caveats: run_caveats,
    }
}
