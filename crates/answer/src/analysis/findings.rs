//! The answer, in sentences written from the data.
//!
//! A sentence names the cells it rests on, gives numbers with their intervals, and claims an order only where the
//! measurements settle it; where they do not, it says that the settings cannot be told apart.

mod answer;
mod beats;
mod breakeven;
mod dominated;
mod fronts;
pub(super) mod label;
mod levels;
mod link;
mod marshaller;
mod memory;
mod paper;
mod serializer;
mod size;

use crate::analysis::cost::Cost;
use crate::analysis::front::stored_bytes;
use crate::analysis::gather::Measured;
use crate::analysis::links::{self, Line, lines, reads_per_write};
use crate::analysis::model::{CellResult, Finding, Group, Mix, PublishedComparison, usual_reads};
use weigh_model::payload::{Origin, Payload};
use weigh_model::plan::Plan;
use weigh_model::protocol::Phase;
use weigh_model::units;

/// What sentences are written from. `measured` and `cells` stand side by side.
pub(super) struct Evidence<'a> {
    pub plan: &'a Plan,
    pub measured: &'a [Measured<'a>],
    pub cells: &'a [CellResult],
    pub groups: &'a [Group],
    pub published: Option<&'a [PublishedComparison]>,
}

/// Writes the sentences of one topic.
type Topic = fn(&Evidence) -> Vec<Draft>;

/// A sentence before it has its rank.
pub(super) struct Draft {
    pub text: String,
    pub cells: Vec<String>,
    /// Stands before the sentences that give detail.
    pub lead: bool,
}

impl Draft {
    pub fn lead(text: String, cells: Vec<String>) -> Draft {
        Draft { text, cells, lead: true }
    }

    pub fn detail(text: String, cells: Vec<String>) -> Draft {
        Draft { text, cells, lead: false }
    }
}

/// Every sentence that the data supports, the most important first: the answer, then what leads each topic, then
/// the details.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let topics: [(&str, Topic); 12] = [
        ("link", answer::find),
        ("beats", beats::find),
        ("break-even", breakeven::find),
        ("serializer", serializer::find),
        ("published", paper::find),
        ("level", levels::find),
        ("size", size::find),
        ("total", link::find),
        ("dominated", dominated::find),
        ("front", fronts::find),
        ("memory", memory::find),
        ("marshaller", marshaller::find),
    ];
    ranked(topics.map(|(topic, find)| (topic, find(evidence))))
}

/// The sentences of all topics in order: those of the first, then what leads each topic, then the details.
pub(super) fn ranked<'a>(topics: impl IntoIterator<Item = (&'a str, Vec<Draft>)>) -> Vec<Finding> {
    let mut drafts: Vec<(u32, &str, Draft)> = Vec::new();
    for (place, (topic, found)) in topics.into_iter().enumerate() {
        for draft in found {
            let order = match (place, draft.lead) {
                (0, _) => 0,
                (_, true) => 1,
                (_, false) => 2,
            };
            drafts.push((order, topic, draft));
        }
    }
    drafts.sort_by_key(|draft| draft.0);
    drafts
        .into_iter()
        .enumerate()
        .map(|(rank, (_, topic, draft))| Finding {
            topic: topic.to_string(),
            text: draft.text,
            cells: draft.cells,
            rank: rank as u32,
        })
        .collect()
}

/// A cell with its place.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    index: usize,
    result: &'a CellResult,
}

impl<'a> Candidate<'a> {
    fn id(&self) -> String {
        self.result.cell.id.clone()
    }

    fn codec(&self) -> &'a str {
        &self.result.cell.setting.codec
    }

    fn level(&self) -> Option<i32> {
        self.result.cell.setting.level
    }

    fn bytes(&self) -> f64 {
        stored_bytes(self.result)
    }
}

impl<'a> Evidence<'a> {
    /// The timed cells of a group.
    fn members(&self, group: &Group) -> Vec<Candidate<'a>> {
        self.cells
            .iter()
            .enumerate()
            .filter(|(_, c)| c.cell.payload == group.payload && c.cell.runtime == group.runtime)
            .filter(|(_, c)| c.phases.contains_key(&Phase::Encode))
            .map(|(index, result)| Candidate { index, result })
            .collect()
    }

    /// The group's reference cell.
    fn reference(&self, group: &Group) -> Option<Candidate<'a>> {
        let id = group.reference.as_ref()?;
        self.members(group).into_iter().find(|c| c.result.cell.id == *id)
    }

    /// The reference and the cells that differ from it in the setting only, so that a comparison is one of codecs.
    fn peers(&self, group: &Group) -> Option<(Candidate<'a>, Vec<Candidate<'a>>)> {
        let reference = self.reference(group)?;
        let mut peers = self.members(group);
        peers.retain(|c| c.result.cell.serializer == reference.result.cell.serializer);
        Some((reference, peers))
    }

    /// CPU time of one phase.
    fn cost(&self, candidate: Candidate, phase: Phase) -> Option<Cost> {
        Cost::phase(&self.measured[candidate.index], phase, self.plan.seed)
    }

    /// The lines of a group over links.
    fn lines(&self, group: &Group, mix: Mix) -> Vec<Line> {
        lines(self.plan, &group.payload, &group.runtime, mix, self.measured, self.cells)
    }

    /// A payload by its name.
    fn payload(&self, name: &str) -> Option<&'a Payload> {
        self.plan.payloads.iter().find(|p| p.name == name)
    }

    /// Mean bytes of one item of the group's payload.
    fn item_bytes(&self, group: &Group) -> u64 {
        self.payload(&group.payload).map_or(0, |p| p.bytes / p.items.len().max(1) as u64)
    }

    /// The runtimes with groups, each with its groups by item size, ascending.
    fn by_runtime(&self) -> Vec<(&'a str, Vec<&'a Group>)> {
        self.plan
            .runtimes
            .iter()
            .map(|runtime| {
                let mut groups: Vec<&Group> =
                    self.groups.iter().filter(|g| g.runtime == runtime.name).collect();
                groups.sort_by_key(|g| self.item_bytes(g));
                (runtime.name.as_str(), groups)
            })
            .filter(|(_, groups)| !groups.is_empty())
            .collect()
    }

    /// The mix that stands for daily use: see [`usual_reads`]; a write where none was asked for.
    fn usual_mix(&self) -> Option<Mix> {
        let links = self.plan.study.links.as_ref()?;
        Some(usual_reads(reads_per_write(links)).map_or(Mix::Write, Mix::ReadsPerWrite))
    }

    /// Link speeds that can be, ascending, in Mbit/s.
    fn speeds(&self) -> Vec<f64> {
        let mut speeds = self.plan.study.links.as_ref().map_or(Vec::new(), links::speeds);
        speeds.sort_by(f64::total_cmp);
        speeds
    }

    /// ` (php8.2)` where the plan has several runtimes, else nothing.
    fn on_runtime(&self, runtime: &str) -> String {
        if self.plan.runtimes.len() > 1 { format!(" ({runtime})") } else { String::new() }
    }

    /// `tree-2.4m`, with the runtime where the plan has several: `tree-2.4m (php8.2)`; content that is not
    /// real is called so.
    fn place(&self, group: &Group) -> String {
        let synthetic =
            self.payload(&group.payload).is_some_and(|p| matches!(p.origin, Origin::Synthetic { .. }));
        let synthetic = if synthetic { " (synthetic)" } else { "" };
        format!("{}{synthetic}{}", group.payload, self.on_runtime(&group.runtime))
    }
}

/// `10 reads for each write`, `a write`, `a read`.
fn mix_label(mix: Mix) -> String {
    match mix {
        Mix::Write => "a write".to_string(),
        Mix::Read => "a read".to_string(),
        Mix::ReadsPerWrite(reads) => {
            let noun = if reads == 1.0 { "read" } else { "reads" };
            format!("{} {noun} for each write", units::trimmed_number(reads))
        }
    }
}
