//! Groups: rows that compete, their Pareto front, and what each costs beside the marked ones.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::first::grouped;
use weigh_stats::{dominators, pareto_front};

use crate::row::Row;
use crate::subject::{Axes, Shape};
use crate::verdict::ratio_if;

/// Rows that are alike in the factors that their subject groups by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// What they have in common, by factor; a factor without a value is left out.
    pub key: BTreeMap<String, String>,
    /// Ids of its cells, in the plan's order.
    pub cells: Vec<String>,
    /// Ids of the cells on the front, by bytes, descending (least time first).
    pub front: Vec<String>,
    /// Cells that the others are compared with, by name: `reference`, `gzip`.
    pub marks: BTreeMap<String, String>,
}

impl Group {
    /// What its rows have in common in a factor; empty where they have no value.
    pub fn factor(&self, name: &str) -> &str {
        self.key.get(name).map_or("", String::as_str)
    }

    /// The payload's name.
    pub fn payload(&self) -> &str {
        self.factor("payload")
    }

    /// The runtime's name.
    pub fn runtime(&self) -> &str {
        self.factor("runtime")
    }

    /// The id of a marked cell.
    pub fn mark(&self, name: &str) -> Option<&str> {
        self.marks.get(name).map(String::as_str)
    }

    /// The id of the cell that the others are compared with.
    pub fn reference(&self) -> Option<&str> {
        self.mark("reference")
    }

    /// A cell is among its own.
    pub fn has(&self, id: &str) -> bool {
        self.cells.iter().any(|cell| cell == id)
    }
}

/// The groups of a run in the plan's order. Marks each row's place on its group's front, the one that beats it most clearly, and its cost beside the
/// group's marked cells.
pub fn groups(shape: &Shape, rows: &mut [Row]) -> Vec<Group> {
    let mut members = grouped(rows.iter().enumerate().map(|(at, row)| (shape.key(&row.cell), at)));
    if shape.look.part.is_some() {
        // Stable, so that the groups of one content stand in the plan's order.
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
    let Some(cost) = shape.axes.as_ref().and_then(|axes| axes.times.first()) else { return group };
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

/// (time, bytes) of a row on the axes of its group; none without the time.
pub fn point(axes: &Axes, time: &str, row: &Row) -> Option<[f64; 2]> {
    Some([row.value(time)?, row.value(axes.size).unwrap_or(0.0)])
}

/// The time that the rows of a group are drawn by: the first metric that one of them has.
pub fn time_axis<'r>(axes: &Axes, rows: impl Iterator<Item = &'r Row> + Clone) -> Option<&'static str> {
    axes.times.iter().copied().find(|time| rows.clone().any(|row| row.get(time).is_some()))
}

/// Marks front and dominators; returns the front by bytes, descending.
fn mark_front(axes: &Axes, indices: &[usize], rows: &mut [Row]) -> Vec<usize> {
    let Some(time) = time_axis(axes, indices.iter().map(|i| &rows[*i])) else { return Vec::new() };
    let timed: Vec<(usize, [f64; 2])> =
        indices.iter().filter_map(|i| Some((*i, point(axes, time, &rows[*i])?))).collect();
    let points: Vec<[f64; 2]> = timed.iter().map(|(_, point)| *point).collect();
    let (on_front, beaten_by) = (pareto_front(&points), dominators(&points));
    for (at, (index, _)) in timed.iter().enumerate() {
        let by = beaten_by[at].map(|other| rows[timed[other].0].cell.id.clone());
        rows[*index].front = on_front[at];
        rows[*index].dominated_by = by;
    }
    let mut front: Vec<(usize, [f64; 2])> = timed.into_iter().filter(|(i, _)| rows[*i].front).collect();
    front.sort_by(|a, b| b.1[1].total_cmp(&a.1[1]));
    front.into_iter().map(|(index, _)| index).collect()
}
