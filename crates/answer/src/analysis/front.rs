//! Groups of competing cells: their Pareto front, and what each costs beside the reference.

use weigh_stats::{dominators, pareto_front};

use crate::analysis::cost::Cost;
use crate::analysis::estimate::IDENTITY;
use crate::analysis::gather::Measured;
use crate::analysis::model::{CellResult, Group, Relative};
use weigh_model::plan::Plan;
use weigh_model::protocol::Phase;

/// What an application is likely to use today, most likely first: the reference of a group is the first of
/// these that it holds, at this level and without options if it can be.
const REFERENCES: &[(&str, i32)] = &[
    ("gzdeflate", 6),
    ("gzcompress", 6),
    ("gzencode", 6),
    ("gzip", 6),
    ("zlib", 6),
    ("deflate", 6),
    ("zlib-ng", 6),
    ("zlib-rs", 6),
    ("libdeflate", 6),
];

/// The groups of a run in the plan's order. Marks each cell's place on its group's front, its strongest
/// dominator and its cost relative to the group's reference.
///
/// The axes are the CPU time of encode and the encoded bytes with a dictionary's. Figures decide; where
/// intervals overlap, a sentence has to say so.
pub(super) fn groups(plan: &Plan, measured: &[Measured], cells: &mut [CellResult]) -> Vec<Group> {
    let mut members: Vec<(&str, &str, Vec<usize>)> = Vec::new();
    for (index, m) in measured.iter().enumerate() {
        let key = (m.cell.payload.as_str(), m.cell.runtime.as_str());
        match members.iter_mut().find(|(payload, runtime, _)| (*payload, *runtime) == key) {
            Some(group) => group.2.push(index),
            None => members.push((key.0, key.1, vec![index])),
        }
    }
    members
        .into_iter()
        .map(|(payload, runtime, indices)| {
            let front = mark_front(&indices, cells);
            let reference = reference(&indices, cells, &front);
            if let Some(reference) = reference {
                mark_relative(plan, &indices, reference, measured, cells);
            }
            Group {
                payload: payload.to_string(),
                runtime: runtime.to_string(),
                front: front.iter().map(|i| cells[*i].cell.id.clone()).collect(),
                reference: reference.map(|i| cells[i].cell.id.clone()),
                links: Vec::new(),
            }
        })
        .collect()
}

/// Marks front and dominators; returns the front by encoded bytes, descending.
fn mark_front(indices: &[usize], cells: &mut [CellResult]) -> Vec<usize> {
    let timed: Vec<usize> =
        indices.iter().copied().filter(|i| cells[*i].phases.contains_key(&Phase::Encode)).collect();
    let points: Vec<[f64; 2]> = timed.iter().map(|i| point(&cells[*i])).collect();
    let (on_front, beaten_by) = (pareto_front(&points), dominators(&points));
    for (at, index) in timed.iter().enumerate() {
        let by = beaten_by[at].map(|other| cells[timed[other]].cell.id.clone());
        cells[*index].front = on_front[at];
        cells[*index].dominated_by = by;
    }
    let mut front: Vec<usize> = timed.iter().copied().filter(|i| cells[*i].front).collect();
    front.sort_by(|a, b| point(&cells[*b])[1].total_cmp(&point(&cells[*a])[1]));
    front
}

/// (encode CPU nanoseconds, bytes with dictionary) of a cell.
pub(super) fn point(cell: &CellResult) -> [f64; 2] {
    let encode = cell.phases.get(&Phase::Encode).map_or(f64::NAN, |e| e.cpu);
    [encode, stored_bytes(cell)]
}

/// Encoded bytes with a dictionary's.
pub(super) fn stored_bytes(cell: &CellResult) -> f64 {
    cell.encoded_bytes as f64 + cell.dictionary_bytes as f64
}

/// The reference: see [`REFERENCES`], with `serialize` where there are serializers; else the identity cell;
/// else the fastest on the front.
fn reference(indices: &[usize], cells: &[CellResult], front: &[usize]) -> Option<usize> {
    let timed = || indices.iter().copied().filter(|i| cells[*i].phases.contains_key(&Phase::Encode));
    let by_likeness = |i: &usize| {
        let cell = &cells[*i].cell;
        let serializer = match cell.serializer.as_deref() {
            Some("serialize") => 0,
            None => 1,
            Some(_) => 2,
        };
        (serializer, cell.setting.options.len())
    };
    let named = |name: &str, level: Option<i32>| {
        timed()
            .filter(|i| cells[*i].cell.setting.codec == name && cells[*i].cell.setting.level == level)
            .min_by_key(by_likeness)
    };
    REFERENCES
        .iter()
        .find_map(|(codec, level)| named(codec, Some(*level)))
        .or_else(|| named(IDENTITY, None))
        .or_else(|| front.first().copied())
}

fn mark_relative(
    plan: &Plan,
    indices: &[usize],
    reference: usize,
    measured: &[Measured],
    cells: &mut [CellResult],
) {
    let encode = |index: usize| Cost::phase(&measured[index], Phase::Encode, plan.seed);
    let Some(base) = encode(reference) else { return };
    for index in indices {
        let ratio = encode(*index).and_then(|cost| cost.ratio_to(&base));
        cells[*index].relative = ratio.map(|r| Relative { ratio: r.value, low: r.low, high: r.high });
    }
}
