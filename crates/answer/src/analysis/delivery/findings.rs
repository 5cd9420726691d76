//! The answer of a delivery study, in sentences written from the data.
//!
//! As in [`crate::analysis::findings`], a sentence names the cells it rests on, gives numbers with their intervals, and claims
//! an order only where the measurements settle it.

mod beats;
mod crossing;
mod endpoint;
mod example;
mod fairness;
mod handler;
mod label;
mod moves;
mod negotiation;
mod offload;
mod outside;
mod overhead;
mod paper;
mod pieces;
mod reader;
mod runtimes;
mod smaller;
mod spool;
mod transport;
mod workers;

use crate::analysis::delivery::costs::Costs;
use crate::analysis::delivery::model::{
    Crossover, DeliveryGroup, DeliveryResult, FairnessResult, NegotiationResult, PublishedTable,
};
use crate::analysis::findings::{Draft, ranked};
use crate::analysis::model::Finding;
use weigh_model::cell::{Delivery, Subject};
use weigh_model::plan::Plan;
use weigh_model::setting::Setting;
use weigh_model::way::{By, WayKind};

/// Groups that a topic speaks of; the others are counted at most.
const SPOKEN_OF: usize = 4;

/// What sentences are written from. `costs` and `cells` stand side by side.
pub(super) struct Evidence<'a> {
    pub plan: &'a Plan,
    pub costs: &'a [Costs],
    pub cells: &'a [DeliveryResult],
    pub groups: &'a [DeliveryGroup],
    pub crossovers: &'a [Crossover],
    pub negotiations: &'a [NegotiationResult],
    pub fairness: &'a [FairnessResult],
    pub published: Option<&'a PublishedTable>,
}

/// Writes the sentences of one topic.
type Topic = fn(&Evidence) -> Vec<Draft>;

/// Every sentence that the data supports, the most important first.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let topics: [(&str, Topic); 20] = [
        ("answer", answer),
        ("reader", reader::find),
        ("outside", outside::find),
        ("overhead", overhead::find),
        ("moves", moves::find),
        ("example", example::find),
        ("smaller", smaller::find),
        ("fairness", fairness::find),
        ("workers", workers::find),
        ("spool", spool::find),
        ("endpoint", endpoint::find),
        ("handler", handler::find),
        ("pieces", pieces::find),
        ("transport", transport::find),
        ("runtimes", runtimes::find),
        ("published", paper::find),
        ("negotiation", negotiation::find),
        ("frees", offload::details),
        ("beats", beats::details),
        ("crossing", crossing::details),
    ];
    ranked(topics.map(|(topic, find)| (topic, find(evidence))))
}

/// What the study asks: what beats gzip, from which size encoding before pays, what handing over frees.
fn answer(evidence: &Evidence) -> Vec<Draft> {
    let mut drafts = beats::leads(evidence);
    drafts.extend(crossing::leads(evidence));
    drafts.extend(offload::leads(evidence));
    drafts
}

/// A cell with its place.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    result: &'a DeliveryResult,
    costs: &'a Costs,
    delivery: &'a Delivery,
}

impl<'a> Candidate<'a> {
    fn id(&self) -> String {
        self.result.cell.id.clone()
    }

    fn setting(&self) -> &'a Setting {
        &self.result.cell.setting
    }

    fn level(&self) -> Option<i32> {
        self.result.cell.setting.level
    }

    fn bytes(&self) -> f64 {
        self.result.body_bytes as f64
    }

    fn is_plain_setting(&self) -> bool {
        self.result.cell.setting.options.is_empty()
    }

    /// Both are the same but for the server's place in the plan, see [`Evidence::beside`].
    fn is_way_of(&self, other: &Candidate) -> bool {
        self.delivery.by == other.delivery.by && self.setting() == other.setting()
    }
}

impl<'a> Evidence<'a> {
    /// Every cell of a kind of thing.
    fn all(&self, subject: Subject) -> Vec<Candidate<'a>> {
        let cells = self.cells.iter().zip(self.costs).filter(|(result, _)| result.cell.subject == subject);
        cells
            .filter_map(|(result, costs)| {
                Some(Candidate { result, costs, delivery: result.cell.delivery.as_ref()? })
            })
            .collect()
    }

    /// The cells of a group.
    fn members(&self, group: &DeliveryGroup) -> Vec<Candidate<'a>> {
        group.cells.iter().filter_map(|id| self.cell(id)).collect()
    }

    /// A cell by its id.
    fn cell(&self, id: &str) -> Option<Candidate<'a>> {
        let at = self.cells.iter().position(|c| c.cell.id == id)?;
        let result = &self.cells[at];
        Some(Candidate { result, costs: &self.costs[at], delivery: result.cell.delivery.as_ref()? })
    }

    /// The group's content sent as it is.
    fn reference(&self, group: &DeliveryGroup) -> Option<Candidate<'a>> {
        self.cell(group.reference.as_ref()?)
    }

    /// The group's gzip.
    fn gzip(&self, group: &DeliveryGroup) -> Option<Candidate<'a>> {
        self.cell(group.gzip.as_ref()?)
    }

    /// Bytes of a payload.
    fn bytes(&self, payload: &str) -> u64 {
        self.plan.payloads.iter().find(|p| p.name == payload).map_or(0, |p| p.bytes)
    }

    /// The groups of a kind of thing that are worth a sentence of their own, the most telling first: that of the published
    /// table, then those with the most cells, then those of the largest content. Of groups that only a link tells apart
    /// there is one, that without a link if it was measured: what a response costs server and PHP hardly depends on it.
    fn leading(&self, subject: Subject) -> Vec<&'a DeliveryGroup> {
        let is_of = |group: &&DeliveryGroup| {
            group.cells.first().and_then(|id| self.cell(id)).is_some_and(|c| c.result.cell.subject == subject)
        };
        let mut groups: Vec<&DeliveryGroup> = Vec::new();
        let stand = |g: &DeliveryGroup| {
            (g.payload.clone(), g.server.clone(), g.runtime.clone(), g.transport, g.connections)
        };
        for group in self.groups.iter().filter(is_of) {
            match groups.iter_mut().find(|known| stand(known) == stand(group)) {
                Some(known) if known.link.is_some() && group.link.is_none() => *known = group,
                Some(_) => {}
                None => groups.push(group),
            }
        }
        groups.sort_by_key(|g| {
            let published = self.published.is_some_and(|table| {
                table.rows.iter().any(|row| g.cells.contains(&row.cell)) && g.runtime == table.runtime
            });
            (!published, usize::MAX - g.cells.len(), u64::MAX - self.bytes(&g.payload))
        });
        groups
    }

    /// The same cell but for one factor, which `same` leaves open.
    fn beside(&self, of: Candidate<'a>, same: impl Fn(&Candidate) -> bool) -> Vec<Candidate<'a>> {
        let cell = &of.result.cell;
        self.all(cell.subject)
            .into_iter()
            .filter(|c| c.result.cell.id != cell.id && c.result.cell.payload == cell.payload)
            .filter(|c| c.delivery.connections == of.delivery.connections)
            .filter(|c| c.delivery.link == of.delivery.link && same(c))
            .collect()
    }
}

/// Cells that encode each response, without options, that are not sent in pieces.
fn on_the_fly<'a>(candidates: Vec<Candidate<'a>>, by: Option<By>) -> Vec<Candidate<'a>> {
    let mut found = candidates;
    found.retain(|c| {
        c.delivery.kind == WayKind::OnTheFly
            && c.is_plain_setting()
            && by.is_none_or(|by| c.delivery.by == by)
            && c.costs.cpu.is_some()
    });
    found
}
