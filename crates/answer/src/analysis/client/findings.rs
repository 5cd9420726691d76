//! The answer of a study of clients, in sentences written from the data.
//!
//! As in [`crate::analysis::findings`], a sentence names the cells it rests on, gives numbers with their intervals, and claims an
//! order only where the measurements settle it.

mod advice;
mod beside;
mod coding;
mod label;
mod least;
mod memory;
mod overhead;
mod quickest;
mod rates;
mod split;
mod tail;
mod values;

use crate::analysis::client::costs::Costs;
use crate::analysis::client::model::{ClientResult, Comparison, Kind, Work};
use crate::analysis::client::predict::Computed;
use crate::analysis::findings::{Draft, ranked};
use crate::analysis::model::Finding;
use weigh_model::client::Client;
use weigh_model::plan::Plan;

/// Works or stores that a topic speaks of.
const SPOKEN_OF: usize = 4;

/// What sentences are written from. `costs` and `cells` stand side by side.
pub(super) struct Evidence<'a> {
    pub plan: &'a Plan,
    pub costs: &'a [Costs],
    pub cells: &'a [ClientResult],
    pub works: &'a [Work],
    pub comparisons: &'a [Comparison],
    pub computed: &'a Computed,
}

/// Writes the sentences of one topic.
type Topic = fn(&Evidence) -> Vec<Draft>;

/// Every sentence that the data supports, the most important first.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let topics: [(&str, Topic); 12] = [
        ("answer", answer),
        ("split", split::find),
        ("driver", |e| beside::find(e, Kind::Driver)),
        ("store", |e| beside::find(e, Kind::Store)),
        ("setting", |e| beside::find(e, Kind::Setting)),
        ("coding", coding::find),
        ("advice", advice::find),
        ("values", values::find),
        ("memory", memory::find),
        ("rates", rates::find),
        ("tail", tail::find),
        ("overhead", overhead::find),
    ];
    ranked(topics.map(|(topic, find)| (topic, find(evidence))))
}

/// What the study asks: which setting is quickest, what a newer PHP or another way to run it brings, and what
/// costs least.
fn answer(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = quickest::find(evidence);
    drafts.extend(beside::find(evidence, Kind::Runtime));
    drafts.extend(beside::find(evidence, Kind::Variant));
    drafts.extend(least::find(evidence));
    drafts
}

/// A cell with what it costs.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    result: &'a ClientResult,
    costs: &'a Costs,
    client: &'a Client,
}

impl Candidate<'_> {
    fn id(&self) -> String {
        self.result.cell.id.clone()
    }
}

impl<'a> Evidence<'a> {
    fn all(&self) -> impl Iterator<Item = Candidate<'a>> {
        let cells = self.cells.iter().zip(self.costs);
        cells.filter_map(|(result, costs)| {
            Some(Candidate { result, costs, client: result.cell.client.as_ref()? })
        })
    }

    /// A cell by its id.
    fn cell(&self, id: &str) -> Option<Candidate<'a>> {
        self.all().find(|c| c.result.cell.id == id)
    }

    /// The cells of a work that stand for its stores and drivers: on the first runtime that it has, none of which encodes.
    fn members(&self, work: &Work) -> Vec<Candidate<'a>> {
        let all: Vec<Candidate> = work.cells.iter().filter_map(|id| self.cell(id)).collect();
        let of = |name: &str| {
            let members = all.iter().copied().filter(|c| c.result.cell.runtime == name && !c.client.encoded);
            members.collect::<Vec<_>>()
        };
        let found = self.plan.runtimes.iter().map(|r| of(&r.name));
        found.into_iter().find(|members| !members.is_empty()).unwrap_or_default()
    }
}
