//! Groups with their fronts, and the cost of each row compared with the marked ones.

use std::collections::BTreeMap;

use weigh_stats::dominator;

use crate::first::grouped;
use crate::group::Group;
use crate::report::shape::{Axes, Shape, point, time_axis};
use crate::row::Row;
use crate::verdict::{is_less_per_table_or_raw, ratio_if};

/// The groups of a run in the plan's order. Marks each row's place on its group's front, the row that dominates it most
/// clearly, and its cost compared with the group's marked cells.
pub fn groups(shape: &Shape, rows: &mut [Row]) -> Vec<Group> {
    let mut members = grouped(rows.iter().enumerate().map(|(at, row)| (shape.key(&row.cell), at)));
    if shape.look.part.is_some() {
        // Stable, so that the groups of one content stay in the plan's order.
        let first = |payload: &str| rows.iter().position(|row| row.cell.payload == payload);
        members.sort_by_key(|(_, indices)| first(&rows[indices[0]].cell.payload));
    }
    members.into_iter().map(|(key, indices)| group(shape, key, &indices, rows)).collect()
}

fn group(shape: &Shape, key: BTreeMap<String, String>, indices: &[usize], rows: &mut [Row]) -> Group {
    let front = shape.axes.as_ref().map_or_else(Vec::new, |axes| mark_front(axes, indices, rows));
    let mut group = Group {
        key,
        cells: indices.iter().map(|i| rows[*i].cell.id.clone()).collect(),
        front: front.iter().map(|i| rows[*i].cell.id.clone()).collect(),
        marks: BTreeMap::new(),
    };
    let Some((cost, _)) = shape.axes.as_ref().and_then(|axes| axes.times.first()) else { return group };
    for mark in shape.marks {
        let members: Vec<&Row> = indices.iter().map(|i| &rows[*i]).collect();
        let on_front: Vec<&Row> = front.iter().map(|i| &rows[*i]).collect();
        let Some(marked) = (mark.pick)(&members, &on_front) else { continue };
        let (id, base) = (marked.cell.id.clone(), marked.get(cost).cloned());
        for index in indices {
            if let Some(ratio) = ratio_if(rows[*index].get(cost), base.as_ref()) {
                rows[*index].beside.insert(mark.name.to_owned(), ratio);
            }
        }
        group.marks.insert(mark.name.to_owned(), id);
    }
    group
}

/// Marks the front, and what dominates other rows; returns the front by bytes, descending. From the smallest row on, a
/// row is on the front if it is faster than all smaller ones, with significance. For other rows, the row of the front
/// with no more bytes that dominates it most clearly is named.
fn mark_front(axes: &Axes, indices: &[usize], rows: &mut [Row]) -> Vec<usize> {
    let Some((time, _)) = time_axis(axes, indices.iter().map(|i| &rows[*i])) else { return Vec::new() };
    let is_finite = |point: &[f64; 2]| point.iter().all(|amount| amount.is_finite());
    let timed = |i: &usize| Some((*i, point(axes, time, &rows[*i]).filter(is_finite)?));
    let mut timed: Vec<(usize, [f64; 2])> = indices.iter().filter_map(timed).collect();
    timed.sort_by(|(_, a), (_, b)| a[1].total_cmp(&b[1]).then(a[0].total_cmp(&b[0])));
    let mut front: Vec<(usize, [f64; 2])> = Vec::new();
    let mut off = Vec::new();
    for (i, own) in timed {
        let is_on = front.last().is_none_or(|(smaller, figures)| {
            own == *figures || is_less_per_table_or_raw(rows[i].get(time), rows[*smaller].get(time))
        });
        if is_on {
            front.push((i, own));
        } else {
            let points: Vec<[f64; 2]> = front.iter().map(|(_, point)| *point).collect();
            let by = dominator(&own, &points).unwrap_or(points.len() - 1);
            off.push((i, rows[front[by].0].cell.id.clone()));
        }
    }
    for (i, by) in off {
        rows[i].dominated_by = Some(by);
    }
    front.iter().for_each(|(i, _)| rows[*i].front = true);
    front.into_iter().rev().map(|(i, _)| i).collect()
}
