//! Deltas for visitors who have the last version, compared with the smallest precompressed file that every visitor gets.

use weigh_model::cell::Subject;
use weigh_model::units;
use weigh_model::way::WayKind;
use weigh_stats::ROUNDS;

use crate::finding::delivery::label;
use crate::finding::delivery::sent::{Sent, all, first_leads};
use crate::metric::delivery::CPU;
use crate::report::finding::{Draft, Evidence};

/// One finding per content and server: its smallest delta.
pub fn visitors(evidence: &Evidence) -> Vec<Draft> {
    let assets = all(evidence, Subject::ASSET);
    let deltas: Vec<&Sent> = assets.iter().filter(|sent| sent.row.cell.is_delta()).collect();
    let is_alike = |a: &Sent, b: &Sent| {
        let same = |sent: &Sent| (sent.delivery.connections, sent.delivery.link.clone());
        a.cell.payload == b.cell.payload && a.is_beside(b) && same(a) == same(b)
    };
    let is_smallest = |own: &&Sent| {
        let mut others = deltas.iter().filter(|other| is_alike(own, other));
        others.all(|other| (own.bytes(), own.own_id()) <= (other.bytes(), other.own_id()))
    };
    first_leads(deltas.iter().copied().filter(is_smallest).filter_map(|delta| {
        let whole = assets.iter().filter(|sent| sent.delivery.kind == WayKind::PreEncoded);
        let whole =
            whole.filter(|sent| is_alike(sent, delta)).min_by(|a, b| a.bytes().total_cmp(&b.bytes()))?;
        // Of a small file, the head of a delta is larger than what it saves: `weigh pack` writes none.
        if delta.bytes() >= whole.bytes() {
            return None;
        }
        let is_known = delta.ratio_to(whole, CPU).is_some_and(|ratio| ratio.rounds as usize >= ROUNDS);
        let cost = delta.cost_beside(whole).filter(|_| is_known).map(|cost| format!(": {cost}"));
        let text = format!(
            "On {}, visitors who have the last version of {} get {} as {}, instead of {} as {}{}. \
             Simulated update: 24 bytes changed per 8 KB; real savings depend on your releases.",
            label::server(delta),
            label::content(evidence, &delta.cell.payload),
            units::bytes(delta.bytes() as u64),
            delta.coding().unwrap_or("a delta"),
            units::bytes(whole.bytes() as u64),
            whole.coding().unwrap_or("a file"),
            cost.unwrap_or_default(),
        );
        Some((text, vec![delta.own_id(), whole.own_id()]))
    }))
}
