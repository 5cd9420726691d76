//! Groups of competing cells: their Pareto front of CPU time and body bytes, and what each costs beside sending the
//! content as it is and beside gzip.

use weigh_stats::{dominators, pareto_front};

use crate::analysis::cost::relative;
use crate::analysis::delivery::costs::Costs;
use crate::analysis::delivery::model::{DeliveryGroup, DeliveryResult, OverLink};
use crate::analysis::gather::Measured;
use weigh_model::cell::Delivery;
use weigh_model::plan::Plan;
use weigh_model::way::{By, WayKind};

/// What sends the content as it is, the plainest first; others stand behind these.
const PLAIN: [&str; 5] = ["none", "plain", "readfile", "fpassthru", "fread"];
/// What a PHP application is likely to use today for gzip, most likely first; others stand behind these.
const GZIP: [&str; 3] = ["ob_gzhandler", "gzencode", "zlib.output_compression"];
/// The level of zlib where nothing is said.
const LEVEL: i32 = 6;

/// The groups of a run in the plan's order. Marks each cell's place on its group's front, its strongest dominator, and its
/// CPU time relative to the group's reference and gzip. `gathered`, `costs` and `cells` stand side by side.
///
/// Figures decide the front; where intervals overlap, a sentence has to say so.
pub(super) fn groups(
    plan: &Plan,
    gathered: &[Measured],
    costs: &[Costs],
    cells: &mut [DeliveryResult],
) -> Vec<DeliveryGroup> {
    let mut members: Vec<(String, Vec<usize>)> = Vec::new();
    for (index, result) in cells.iter().enumerate() {
        let name = result.cell.group();
        match members.iter_mut().find(|(known, _)| *known == name) {
            Some((_, indices)) => indices.push(index),
            None => members.push((name, vec![index])),
        }
    }
    let group = |(name, indices): (String, Vec<usize>)| {
        let link = over_link(plan, &indices, gathered);
        Some(DeliveryGroup { link, ..group(name, &indices, costs, cells)? })
    };
    members.into_iter().filter_map(group).collect()
}

fn group(
    name: String,
    indices: &[usize],
    costs: &[Costs],
    cells: &mut [DeliveryResult],
) -> Option<DeliveryGroup> {
    let front = mark_front(indices, cells);
    let (reference, gzip) = (reference(indices, cells), gzip(indices, cells));
    for index in indices {
        let beside = |other: Option<usize>| relative(costs[*index].cpu.as_ref(), costs[other?].cpu.as_ref());
        cells[*index].to_reference = beside(reference);
        cells[*index].to_gzip = beside(gzip);
    }
    let id = |index: usize| cells[index].cell.id.clone();
    let first = &cells[*indices.first()?].cell;
    let delivery = first.delivery.as_ref()?;
    Some(DeliveryGroup {
        name,
        payload: first.payload.clone(),
        server: delivery.server.clone(),
        runtime: first.runtime.clone(),
        transport: delivery.transport,
        connections: delivery.connections,
        link: None,
        cells: indices.iter().map(|index| id(*index)).collect(),
        front: front.into_iter().map(id).collect(),
        reference: reference.map(id),
        gzip: gzip.map(id),
    })
}

/// The link of a group, as it was measured for the first of its visits.
fn over_link(plan: &Plan, indices: &[usize], gathered: &[Measured]) -> Option<OverLink> {
    let name = gathered[*indices.first()?].cell.delivery.as_ref()?.link.as_ref()?;
    let visits = indices.iter().flat_map(|index| &gathered[*index].visits);
    let measured = visits.filter_map(|visit| visit.delivery.as_ref()?.link.as_deref()).next()?;
    let asked = plan.links.iter().find(|link| link.name == *name)?;
    Some(OverLink { asked: asked.clone(), measured: measured.clone() })
}

/// Marks front and dominators, by CPU time or, where nobody's could be read, by the median time to the last byte; returns the front by body bytes, descending.
fn mark_front(indices: &[usize], cells: &mut [DeliveryResult]) -> Vec<usize> {
    let is_metered = indices.iter().any(|i| cells[*i].cpu.is_some());
    let time = |cell: &DeliveryResult| match is_metered {
        true => cell.cpu_ns(),
        false => cell.service.as_ref().map(|times| times.p50 * 1e9),
    };
    let timed: Vec<usize> = indices.iter().copied().filter(|i| time(&cells[*i]).is_some()).collect();
    let point = |cell: &DeliveryResult| [time(cell).unwrap_or(f64::NAN), cell.body_bytes as f64];
    let points: Vec<[f64; 2]> = timed.iter().map(|i| point(&cells[*i])).collect();
    let (on_front, beaten_by) = (pareto_front(&points), dominators(&points));
    for (at, index) in timed.iter().enumerate() {
        let by = beaten_by[at].map(|other| cells[timed[other]].cell.id.clone());
        cells[*index].front = on_front[at];
        cells[*index].dominated_by = by;
    }
    let mut front: Vec<usize> = timed.into_iter().filter(|i| cells[*i].front).collect();
    front.sort_by(|a, b| point(&cells[*b])[1].total_cmp(&point(&cells[*a])[1]));
    front
}

fn of(cell: &DeliveryResult) -> Option<&Delivery> {
    cell.cell.delivery.as_ref()
}

fn place(names: &[&str], name: &str) -> usize {
    names.iter().position(|known| *known == name).unwrap_or(names.len())
}

/// The content sent as it is: at once, by PHP where it takes part.
fn reference(indices: &[usize], cells: &[DeliveryResult]) -> Option<usize> {
    let is_plain =
        |i: &usize| of(&cells[*i]).is_some_and(|d| d.kind == WayKind::Plain) && cells[*i].cpu.is_some();
    let likeness = |i: &usize| {
        let setting = &cells[*i].cell.setting;
        let by_server = of(&cells[*i]).is_some_and(|d| d.by == By::Server);
        (setting.options.len(), place(&PLAIN, &setting.codec), by_server)
    };
    indices.iter().copied().filter(is_plain).min_by_key(likeness)
}

/// What encodes with gzip for each response at level 6, or the nearest level, without options if it can be.
fn gzip(indices: &[usize], cells: &[DeliveryResult]) -> Option<usize> {
    let is_gzip = |i: &usize| {
        let cell = &cells[*i];
        let on_the_fly = of(cell).is_some_and(|d| d.kind == WayKind::OnTheFly);
        on_the_fly && cell.coding.as_deref() == Some("gzip") && cell.cpu.is_some()
    };
    let likeness = |i: &usize| {
        let setting = &cells[*i].cell.setting;
        (setting.options.len(), setting.level.unwrap_or(LEVEL).abs_diff(LEVEL), place(&GZIP, &setting.codec))
    };
    indices.iter().copied().filter(is_gzip).min_by_key(likeness)
}
