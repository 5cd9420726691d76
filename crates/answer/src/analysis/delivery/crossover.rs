//! From which size on a file encoded before pays, beside encoding it for each response: server by server.

use std::collections::BTreeMap;

use weigh_stats::{Figure, Threshold, ThresholdInterval};

use crate::analysis::CONFIDENCE;
use crate::analysis::cost::{Cost, relative};
use crate::analysis::delivery::costs::Costs;
use crate::analysis::delivery::model::{Crossover, DeliveryResult, Pays, SizeRatio};
use weigh_model::cell::{Delivery, Subject, Transport};
use weigh_model::plan::Plan;
use weigh_model::way::{By, WayKind};

/// Levels at which servers encode where nothing is said.
const DEFAULTS: [(&str, i32); 4] = [("gzip", 6), ("deflate", 6), ("br", 5), ("zstd", 3)];

/// Where files are sent: server, transport, connections, link.
type Stand<'a> = (&'a str, Transport, u32, Option<&'a str>);

/// One way of sending files with its cells, one a size.
struct Ladder<'a> {
    stand: Stand<'a>,
    way: String,
    delivery: &'a Delivery,
    result: &'a DeliveryResult,
    /// Of the responses that had one: a small file may be sent as it is.
    coding: Option<&'a str>,
    /// Index of the cell by the payload's bytes and name.
    cells: BTreeMap<(u64, &'a str), usize>,
}

/// One a server, transport, number of connections and way of sending pre-encoded files, beside the same server's usual way
/// with the same coding.
pub(super) fn find(plan: &Plan, costs: &[Costs], cells: &[DeliveryResult]) -> Vec<Crossover> {
    let ladders = ladders(plan, cells);
    let pre_encoded = ladders.iter().filter(|l| l.delivery.kind == WayKind::PreEncoded);
    pre_encoded
        .filter_map(|pre| {
            let usual = ladders
                .iter()
                .filter(|l| l.delivery.kind == WayKind::OnTheFly && l.delivery.by == By::Server)
                .filter(|l| l.stand == pre.stand && l.coding.is_some() && l.coding == pre.coding)
                .min_by_key(|l| (usize::MAX - l.cells.len(), unusual(l)))?;
            crossover(usual, pre, costs, cells)
        })
        .collect()
}

/// How far a way is from what its server does where nothing is said.
fn unusual(ladder: &Ladder) -> (usize, u32) {
    let setting = &ladder.result.cell.setting;
    let default = DEFAULTS.iter().find(|(coding, _)| Some(*coding) == ladder.coding).map(|(_, level)| *level);
    let distance = setting.level.zip(default).map_or(0, |(level, default)| level.abs_diff(default));
    (setting.options.len(), distance)
}

/// The ways of sending files, without those of PHP.
fn ladders<'a>(plan: &'a Plan, cells: &'a [DeliveryResult]) -> Vec<Ladder<'a>> {
    let mut ladders: Vec<Ladder> = Vec::new();
    for (index, result) in cells.iter().enumerate().filter(|(_, r)| r.cell.subject == Subject::Asset) {
        let Some(delivery) = result.cell.delivery.as_ref().filter(|d| d.by == By::Server) else { continue };
        let Some(payload) = plan.payloads.iter().find(|p| p.name == result.cell.payload) else { continue };
        let link = delivery.link.as_deref();
        let stand = (delivery.server.as_str(), delivery.transport, delivery.connections, link);
        let way = delivery.way(&result.cell.setting);
        let coding = result.coding.as_deref();
        let key = (payload.bytes, payload.name.as_str());
        match ladders.iter_mut().find(|l| l.stand == stand && l.way == way) {
            Some(ladder) => {
                ladder.coding = ladder.coding.or(coding);
                ladder.cells.insert(key, index);
            }
            None => {
                let cells = BTreeMap::from([(key, index)]);
                ladders.push(Ladder { stand, way, delivery, result, coding, cells });
            }
        }
    }
    ladders
}

fn crossover(usual: &Ladder, pre: &Ladder, costs: &[Costs], cells: &[DeliveryResult]) -> Option<Crossover> {
    let both: Vec<(u64, &str, usize, usize)> = usual
        .cells
        .iter()
        .filter_map(|((bytes, name), fly)| Some((*bytes, *name, *fly, *pre.cells.get(&(*bytes, *name))?)))
        .collect();
    if both.is_empty() {
        return None;
    }
    let sizes = both.iter().map(|&(bytes, payload, fly, pre)| SizeRatio {
        payload: payload.to_owned(),
        bytes,
        on_the_fly: cells[fly].cell.id.clone(),
        pre_encoded: cells[pre].cell.id.clone(),
        cpu: relative(costs[fly].cpu.as_ref(), costs[pre].cpu.as_ref()),
        rate: relative(costs[pre].rate.as_ref(), costs[fly].rate.as_ref()),
        body: cells[pre].body_bytes as f64 / cells[fly].body_bytes.max(1) as f64,
    });
    let cpu: Vec<_> =
        both.iter().filter_map(|(b, _, f, p)| pair(*b, &costs[*f].cpu, &costs[*p].cpu)).collect();
    let rate: Vec<_> =
        both.iter().filter_map(|(b, _, f, p)| pair(*b, &costs[*p].rate, &costs[*f].rate)).collect();
    let (server, transport, connections, link) = pre.stand;
    Some(Crossover {
        server: server.to_owned(),
        transport,
        connections,
        link: link.map(str::to_owned),
        coding: pre.coding?.to_owned(),
        on_the_fly: usual.way.clone(),
        pre_encoded: pre.way.clone(),
        sizes: sizes.collect(),
        cpu: pays(&cpu),
        rate: pays(&rate),
    })
}

/// Two costs at a size, with two rounds of each.
fn pair<'a>(bytes: u64, a: &'a Option<Cost>, b: &'a Option<Cost>) -> Option<(f64, &'a Figure, &'a Figure)> {
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    a.ratio_to(b)?;
    Some((bytes as f64, a.figure(), b.figure()))
}

/// A threshold needs two sizes.
fn pays(pairs: &[(f64, &Figure, &Figure)]) -> Option<Pays> {
    if pairs.len() < 2 {
        return None;
    }
    let found = ThresholdInterval::of(pairs, CONFIDENCE)?;
    let size = |threshold: Threshold| match threshold {
        Threshold::From(bytes) => Some(bytes),
        Threshold::Everywhere | Threshold::Nowhere => None,
    };
    Some(match found.value {
        // An end that lies above the largest size says that nothing is known.
        Threshold::Everywhere if found.high == Threshold::Nowhere => return None,
        Threshold::Nowhere if found.low == Threshold::Everywhere => return None,
        Threshold::Everywhere => Pays::Everywhere { high: size(found.high) },
        Threshold::Nowhere => Pays::Nowhere { low: size(found.low) },
        Threshold::From(bytes) => Pays::From { bytes, low: size(found.low), high: size(found.high) },
    })
}
